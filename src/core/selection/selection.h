// Chooses how a call runs: predicts the candidates on the measured network and takes the fastest;
// the MPI library's own wins ties. A pure function of its arguments; one rank decides for all.
//
// What a decision costs: every shape of algorithm is predicted between the hosts, one participant
// each, with an estimate of what goes on inside them. Where hosts have several ranks, only the best
// few and native are then predicted over all ranks. See estimate.h for the limit on each.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/network/topology.h"
#include "core/selection/ruling.h"
#include "core/settings/settings.h"

namespace mutirao {

// What is worth trying: each row of the catalogue with each of its radices, spreads, trees and segment
// sizes. Segments apart from the rest, since predicting with a fine segment is what costs.

/// Each algorithm with each radix, spread and tree, in one piece; native first.
std::vector<Candidate> candidates_in_one_piece(Collective collective);

/// Segment sizes that are worth trying: 0 (one piece), then the coarsest first.
std::vector<std::size_t> segment_choices(const Algorithm& algorithm, std::size_t length_bytes);

struct Evaluated {
    Candidate candidate;
    double predicted_us = 0;
    bool in_full = true;  ///< false: between the hosts only, with an estimate of their insides
    std::size_t longest_bytes = 0;  ///< of its messages
};

struct Decision {
    Arm chosen;
    std::string reason;  ///< one line, for `mutirao explain`
    /// Fastest first, those predicted in full before the others; empty if forced or native without
    /// choice.
    std::vector<Evaluated> considered{};
    /// No algorithm is predicted to be faster, whatever it does; see bounds.h.
    std::optional<double> bound_us{};
    /// What the decision cost: predictions, and messages that they walked through, in all and by one of them.
    int predictions = 0;
    std::size_t messages = 0, most_messages = 0;

    /// Nothing: it was not considered.
    std::optional<double> predicted_us(const Candidate& candidate) const;
};

/// The forced algorithm if there is one; otherwise native on one host or where no link stands out, since
/// predictions do not know costs that well (what is considered is there to be tried); or without a tree, or if
/// no candidate is predicted to be clearly faster than native; otherwise the fastest. `present`: what was decided
/// for the same calls before the network changed; its tree is kept where that is nearly as
/// fast (see renew()).
Decision decide(const CallShape& shape, std::shared_ptr<const RankNetwork> network,
                const Settings& settings, const std::optional<Arm>& present = {});

/// Why predictions on that network are not good enough to leave the MPI library's own algorithms by them alone, in a
/// few words; empty: they are.
std::string distrust(Collective collective, const Network& network);

}  // namespace mutirao
