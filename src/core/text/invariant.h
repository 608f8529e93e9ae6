// What happens when an invariant of the program itself is broken: both values on stderr, then
// abort. Never for bad input or for anything that the environment can cause. The one place from which the core ends
// the process.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace mutirao {

/// Prints "mutirao: WHAT: LEFT against RIGHT" and aborts.
[[noreturn, gnu::cold]] inline void broken_invariant(std::string_view what, long long left, long long right) {
    std::fprintf(stderr, "mutirao: %.*s: %lld against %lld\n", static_cast<int>(what.size()), what.data(), left,
                 right);
    std::abort();
}

}  // namespace mutirao
