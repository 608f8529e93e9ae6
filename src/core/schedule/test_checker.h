// Proves a collective's schedules right without running them: every send has its receive of the
// same length, nothing deadlocks even if all sends are synchronous, no two steps of a rank race on
// the same bytes, and every rank ends with the right contributions, combined as the collective
// promises. Only tests include this.
//
// One fixpoint suffices for every order of events: starting and completing steps only ever enables
// others (no step is ever disabled), so all orders reach the same final set of completed steps.
// Because racing steps are refused, the data they move does not depend on the order either.
#pragma once

#include <string>
#include <vector>

#include "core/schedule/schedule.h"

namespace mutirao {

/// Symbolic contents of memory: which bytes hold which contributions.
/// A contribution is one rank's initial byte; a reduced byte holds several, each exactly once.
struct Piece {
    Region region;
    /// Byte i of the region holds byte source_offset_bytes + i of each of these ranks' initial
    /// data.
    std::vector<int> ranks;
    std::size_t source_offset_bytes = 0;
};

/// What a collective promises: before[r] lies in rank r's memory at the start, after[r] must at
/// the end. Output bytes of neither are not the collective's, and writing them is a fault.
struct Promise {
    std::vector<std::vector<Piece>> before;
    std::vector<std::vector<Piece>> after;

    std::size_t unit_bytes = 1;  ///< what no reduction may cut: the element, from byte 0 on
    bool commutes = true;        ///< false: reductions must combine the ranks in their order
    /// All ranks end with the same bits, rounding or not: the same bytes of the same contributions
    /// were combined in one way everywhere (but for the order of operands that commute).
    bool one_result = false;
    /// Operands are combined one after the other from the first rank on: the same bits whatever the network.
    bool from_first = false;
    /// No rank is done before all have begun.
    bool synchronizes = false;
};

struct CheckResult {
    bool ok = true;
    std::string reason;  ///< first fault found, with rank and step

    explicit operator bool() const { return ok; }
};

CheckResult check(const std::vector<Schedule>& schedules, const Promise& promise);

}  // namespace mutirao
