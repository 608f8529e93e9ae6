// What a profile's Fabric says of one host, what it calls this program, and where it is kept: what the environment and
// the system know.
#pragma once

#include <string>

namespace mutirao::profile {

/// "2 x MODEL": the processors that are on, and of what kind.
std::string processor();

/// What the environment tells MPI libraries to send by, "NAME=VALUE NAME=VALUE"; empty: their own choice.
std::string transport();

/// By which a profile knows another run of this program: a hash of its command line; empty: not known.
std::string program();

/// The file that the setting `profile` means: of "auto" in the user's state folder; empty: none.
std::string profile_path(const std::string& setting);

}  // namespace mutirao::profile
