// Where the ranks of one job get to know each other beside MPI, if their launcher passes nothing on: each says once what
// others must know of it, and takes along what all have said. A job's key, made anew for it, proves to both sides who the
// other one is; nothing that is said may be a secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/endpoint.h"
#include "agent/key.h"

namespace mutirao::agent {

/// What is handed to the ranks of a job: a plain value.
struct Invitation {
    Contact place;
    Key key;

    /// In hexadecimal digits. It holds the key: for the environment, never for a command line.
    std::string text() const;
    /// Nothing of what is no such text.
    static std::optional<Invitation> from(std::string_view text);
};

/// Who says something: a rank of a job of so many. Those of one host have one number for it.
struct Speaker {
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
    std::uint64_t host = 0;
};

/// What one rank says.
using Said = std::array<std::byte, 216>;

class Rendezvous {
  public:
    /// Each host takes what all have said: 216 KB.
    static constexpr std::uint32_t most_ranks = 1024;

    /// Nothing: no sockets or random numbers are to be had.
    static std::optional<Rendezvous> open();

    Invitation invitation() const { return {endpoint_.contact(), key_}; }
    /// Until all ranks of one job have been told, or `end` has something to read or is closed at its other end. Who does
    /// not hold the key, or says what another has said for it, is sent away.
    void serve(int end);

  private:
    Rendezvous(Endpoint endpoint, Key key) : endpoint_(std::move(endpoint)), key_(key) {}

    Endpoint endpoint_;
    Key key_;
};

/// What all ranks said, by rank; nothing: some did not come, or not by then (now_ns()). The first rank of a host that comes
/// passes on what its others say: there is one connection a host. At most Rendezvous::most_ranks.
std::optional<std::vector<Said>> meet(const Invitation& invitation, const Speaker& me, const Said& mine,
                                      std::int64_t until_ns);

}  // namespace mutirao::agent
