// What predictions say of a class of calls on one network: the few ways to run it that may be worth a probe,
// each with the times of two regimes. Over connections that lay idle TCP begins slowly, over those that a
// program has just used it does not; which of the two a program's calls meet is told by what the MPI
// library's own were measured to take (decider.h).
#pragma once

#include <optional>
#include <vector>

#include "core/selection/ruling.h"
#include "core/selection/selection.h"

namespace mutirao {

struct Prospect {
    Arm arm;
    double cold_us = 0;  ///< over connections that were idle
    double warm_us = 0;  ///< over such as have just been used
    double slowest_ratio = 1;  ///< of native: by so many times longer if it runs what it is not taken to run
    double connecting_us = 0;  ///< the first call takes so much longer, as its ranks must be connected
};

struct Outlook {
    std::vector<Prospect> arms;  ///< the MPI library's own first, then the fastest first; empty: no choice
    /// An arm may take so much more or less than is predicted: 0.25 for a quarter.
    double error = 0;
    std::optional<double> bound_us{};  ///< no algorithm can take less
    /// By how much a link itself is another than before, at most; 0: more is known of the same ones.
    double news_us = 0;
};

/// `decision`: on that network, with connections taken as idle. `present`: how calls run now, which is judged
/// anew if it goes over a tree that would not be made today. `preferred`: by an earlier job's measurements; among the
/// arms whatever is predicted of it. Costs as much as a decision.
Outlook outlook_for(const CallShape& shape, const Decision& decision,
                    const std::shared_ptr<const RankNetwork>& network, const Settings& settings,
                    const std::optional<Arm>& present, const std::optional<Candidate>& preferred = {});

}  // namespace mutirao
