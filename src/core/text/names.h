// Lists of names in lines of error, and what whoever wrote another one probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mutirao {

/// "A, B, C", or with another word before the last.
std::string listed(const std::vector<std::string>& names, std::string_view before_last = ", ");

/// "; did you mean A or B?" for error lines; empty if nothing is near. `prefix`: what all names and the one
/// that was wanted begin with, left away from them here.
std::string did_you_mean(std::string_view wanted, std::vector<std::string> names,
                         std::string_view prefix = {});

/// The same, or "; valid are A, B, C" if nothing is near; empty if there are no names.
std::string which_are_valid(std::string_view wanted, std::vector<std::string> names, std::string_view prefix = {});

}  // namespace mutirao
