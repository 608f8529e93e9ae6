// Keeps a minimum spanning tree minimal while links get worse and better, as a pure state machine:
// the protocol of Cheng, Cimet and Kumar (1988, doi:10.1145/52324.52356) for several failures and
// recoveries at once, failures first, with the two termination procedures of Thome and Drummond
// (section 3). One Node lives for one round; what changes meanwhile waits for the next.
//
// Failures. Tree links that got worse are removed, and what is left of the tree are fragments that
// merge by ghs.h. All hosts were told the tree and the changes, so nobody asks who belongs to his
// fragment; in state reiden a fragment finds its lightest outgoing link and thereby its new core.
// Recovered links are taken only where no other link joins fragments (Weight::last_resort), since
// a link between members of one fragment is never looked at again.
//
// Their termination. The root suspects it at once: not_fail runs from it over the links that
// are sure to be in the tree, along with the merging. A host acknowledges when it knows that the
// tree joins all hosts and all below it have acknowledged; so the first suspicion is right, and the
// tags that number suspicions there are left out. The acknowledgements bring the tree's links and
// weights to the root.
//
// Recoveries. If none improves the tree, the root ends the round (gosleep_rec). Otherwise
// gosleep_fail tells all hosts the links, and each treats the recovered ones by itself, all alike: a
// link that is lighter than the worst one of the cycle which it closes takes its place. not_rec
// follows from the root at once; not_rec_ack brings up what tree the hosts hold, and gosleep_rec tells
// it to all.
//
// A driver keeps the order of messages between two hosts.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "core/network/tree.h"
#include "core/spanning_tree/ghs.h"
#include "core/spanning_tree/values.h"

namespace mutirao::maintenance {

/// A link whose weight is not what it was when the tree was minimal. Infinite: carries nothing.
struct Change {
    int low = -1;
    int high = -1;
    double before = 0;
    double after = 0;
};

/// What a round is about. Every host of a round is told the same.
struct Round {
    int root = -1;                ///< leads the termination, and learns first of the end
    EdgeList tree;                ///< a minimum spanning forest for the weights before the changes
                                  ///< (of whatever hosts there were); empty: the tree is built anew
                                  ///< from the links alone, and changes are of no interest
    std::vector<Change> changes;  ///< since then; a tree link that got worse is a failure, a link
                                  ///< outside the tree that got better a recovery
    HostSet hosts;                ///< who takes part: all that usable links join to the root
};

enum class Kind : std::uint8_t {
    merge,  ///< a message of ghs.h
    not_fail, not_fail_ack, gosleep_fail, not_rec, not_rec_ack, gosleep_rec
};

struct Message {
    Kind kind = Kind::merge;
    ghs::Message merging{};     ///< merge
    /// not_fail_ack: links of the subtree and the one above it; gosleep_fail, gosleep_rec: of the
    /// whole tree; not_rec_ack: those whose lower end is in the subtree. Sorted by ends
    std::vector<Weight> links{};

    bool operator==(const Message&) const = default;
    auto parts() const { return std::tie(kind, merging, links); }
};

struct Outgoing {
    int to = -1;
    Message message;
};
using Output = std::vector<Outgoing>;

/// One host's part in one round. A plain value: copy it to try what would happen.
class Node {
  public:
    /// `links`: the usable links of `self` to hosts of the round, with this round's weights.
    Node(int self, const std::vector<ghs::Neighbour>& links, const Round& round);

    /// The host enters the round: once. What arrives before waits.
    Output start();
    Output on(int from, const Message& message);

    bool started() const { return started_; }
    /// True once gosleep_rec is known (at the root: sent).
    bool finished() const { return finished_; }
    /// Once finished: the whole tree, (low, high) ascending.
    const EdgeList& tree() const { return tree_; }
    /// Messages kept back until the host has entered the round or knows more.
    int waiting() const;

    bool operator==(const Node&) const = default;
    /// All of the state, for explorers.
    auto parts() const {
        return std::tie(self_, root_, recoveries_, merging_, started_, finished_, early_, parent_, failures_over_,
                        recoveries_over_, links_, tree_);
    }

  private:
    /// One termination procedure, on one host.
    struct Suspicion {
        bool heard_of = false;
        HostSet told;                ///< neighbours below that it was passed on to
        HostSet acknowledged;        ///< of those
        std::vector<Weight> links;   ///< gathered from below, sorted by ends
        bool answered = false;       ///< this host has acknowledged; the root: drawn its conclusion

        bool operator==(const Suspicion&) const = default;
        auto parts() const { return std::tie(heard_of, told, acknowledged, links, answered); }
    };

    bool is_root() const { return self_ == root_; }
    void handle(int from, const Message& message, Output& out);
    void on_merge(int from, const Message& message, Output& out);
    void on_not_fail(int from, const Message& message, Output& out);
    void on_not_fail_ack(int from, const Message& message, Output& out);
    void on_gosleep_fail(int from, const Message& message, Output& out);
    void on_not_rec(int from, const Message& message, Output& out);
    void on_not_rec_ack(int from, const Message& message, Output& out);
    void on_gosleep_rec(int from, const Message& message, Output& out);

    void proceed(Output& out);
    void suspect(Suspicion& suspicion, Kind kind, Output& out);
    void gather(Suspicion& suspicion, int from, const Message& message);
    bool all_acknowledged(const Suspicion& suspicion) const;
    void acknowledge_failures(Output& out);
    void acknowledge_recoveries(Output& out);
    void end_round(const std::vector<Weight>& links, Output& out);
    void tell_below(const Message& message, Output& out) const;
    static void pass_on(const ghs::Output& merging, Output& out);
    std::vector<int> below() const;

    int self_;
    int root_;
    std::vector<Weight> recoveries_;  ///< ascending
    ghs::Node merging_;
    bool started_ = false;
    bool finished_ = false;
    std::vector<Waiting<Message>> early_;   ///< in order of arrival
    int parent_ = -1;            ///< towards the root; known from not_fail
    Suspicion failures_over_;
    Suspicion recoveries_over_;
    std::vector<Weight> links_;  ///< the tree's, known from gosleep_fail, recoveries treated
    EdgeList tree_;
};

// What recovered links do to a tree that was minimal without them.

/// Each recovered link closes a cycle with the tree, and the worst link of the cycle goes: what is left is the minimum
/// spanning tree of all these links. One with an end outside the tree counts for nothing. Both are sorted by ends.
std::vector<Weight> with_recoveries(std::vector<Weight> tree, const std::vector<Weight>& recovered);

}  // namespace mutirao::maintenance
