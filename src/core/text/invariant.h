// What happens when an invariant of the program itself is broken: both values on stderr, then
// abort. Never for bad input or for anything that the environment can cause.
#pragma once

#include <string_view>

namespace mutirao {

/// Prints "mutirao: WHAT: LEFT against RIGHT" and aborts.
[[noreturn]] void broken_invariant(std::string_view what, long long left, long long right);

}  // namespace mutirao
