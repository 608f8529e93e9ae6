// The one place from which the core ends the process. See invariant.h.
#include "core/text/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace mutirao {

void broken_invariant(std::string_view what, long long left, long long right) {
    std::fprintf(stderr, "mutirao: %.*s: %lld against %lld\n", static_cast<int>(what.size()),
                 what.data(), left, right);
    std::abort();
}

}  // namespace mutirao
