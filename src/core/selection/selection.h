// Chooses how a broadcast runs: predicts every candidate on the measured network and takes the
// fastest; the MPI library's own wins ties. A pure function of values that all ranks hold alike.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/network/network.h"
#include "core/network/tree.h"
#include "core/schedule/schedule.h"
#include "core/settings/settings.h"

namespace mutirao {

/// What the ranks of a communicator agreed on about their hosts.
struct Topology {
    Network network;
    EdgeList spanning_tree;    ///< as the distributed algorithm left it; empty: there is none
    std::vector<int> site_of;  ///< label per host

    bool complete() const { return !spanning_tree.empty() || network.host_count() <= 1; }
};

struct Evaluated {
    Candidate candidate;
    double predicted_us = 0;
};

struct Decision {
    Candidate chosen;
    std::string reason;                 ///< one line, for `mutirao explain`
    std::vector<Evaluated> considered;  ///< fastest first; empty if forced or native without choice
    std::optional<Tree> tree;           ///< that it runs over, if its algorithm takes one
};

/// Both lead to the same schedules.
inline bool runs_alike(const Decision& a, const Decision& b) {
    return a.chosen == b.chosen && a.tree == b.tree;
}

/// Hangs the tree of that kind from `root`; nothing where the topology has none.
std::optional<Tree> make_tree(const Topology& topology, TreeKind kind, int root,
                              std::size_t length_bytes);

/// The candidates for a message of that length: each algorithm with each of its parameters worth
/// trying. Native is always the first.
std::vector<Candidate> broadcast_candidates(std::size_t length_bytes);

/// All hosts' schedules of one candidate; nothing where its tree cannot be had, and for native.
std::optional<std::vector<Schedule>> build_all(const Candidate& candidate, const Topology& topology,
                                               int root, std::size_t length_bytes);

/// One host's schedule of what was decided for `root`; nothing for native.
std::optional<Schedule> build_one(const Decision& decided, int host_count, int root, int host,
                                  std::size_t length_bytes);

/// Completion time on the topology's network; nothing where the candidate's tree cannot be had or
/// it would never end. Native is timed as the algorithm that MPI libraries run for small messages.
std::optional<double> predict_broadcast(const Candidate& candidate, const Topology& topology,
                                        int root, std::size_t length_bytes);

/// The forced algorithm if there is one; otherwise native on one host, or without a tree, or if no
/// candidate is predicted to be clearly faster; otherwise the fastest. `present`: what was decided
/// before the network changed; its tree is kept or repaired where that is nearly as fast (see
/// renewal.h).
Decision decide_broadcast(const Topology& topology, const Settings& settings, int root,
                          std::size_t length_bytes, const Decision* present = nullptr);

}  // namespace mutirao
