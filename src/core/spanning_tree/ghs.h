// The distributed minimum spanning tree of Gallager, Humblet and Spira (1983,
// doi:10.1145/357195.357200) as a pure state machine: no sockets, no clock, no MPI. A driver
// carries the messages; messages between two hosts must arrive in the order in which they were
// sent, or the algorithm breaks already on three hosts.
//
// The paper's: the first seven kinds of message, levels, searches, and who waits for what. Ours:
//
// Known members. In the paper a host learns that a link leads into its own fragment by a test and
// its rejection, a round trip each, one link after the other. Here connect, initiate, reject,
// report and change_root name hosts of the sender's fragment, each host keeps the union of what it
// is told, and rejects a link to a known member without a message. What is known is a lower bound,
// often out of date: it saves messages and changes no decision. It costs up to one bit per host of
// the network in each of those messages. On the complete graph of 24 hosts in six sites, all
// waking at once, it saves 450 of 816 messages, and 8.1 of 10.6 seconds.
//
// A head start. Hosts know a part of the tree, if only themselves, and each begins with its fragment of it, all of
// whose members and links hold. Such a fragment has no core yet: its leaves report at once, whoever
// has heard all branches but one reports to that one, and the two that report to each other are the
// core.
//
// The end. Hosts know who will be in the tree: usable links join them all. So whoever knows all of them for members
// ends the search and tells the others (finish): the tree is complete when fragments have joined to include everybody.
// Messages of searches that this cuts short are dropped.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "core/network/tree.h"
#include "core/spanning_tree/values.h"

namespace mutirao {

namespace ghs {

enum class Kind : std::uint8_t {
    connect, initiate, test, accept, reject, report, change_root,
    finish  ///< ours
};
enum class State : std::uint8_t { sleeping, find, found };
enum class LinkState : std::uint8_t { basic, branch, rejected };

struct Message {
    Kind kind = Kind::connect;
    int level = 0;       ///< connect, initiate, test
    Weight fragment{};   ///< initiate, test: the fragment's name; report: the best weight found
    State state = State::sleeping;  ///< initiate
    /// connect, initiate, reject, report, change_root: hosts of the sender's fragment
    HostSet members{};

    bool operator==(const Message&) const = default;
    auto parts() const { return std::tie(kind, level, fragment, state, members); }
};

struct Outgoing {
    int to = -1;
    Message message;
};
using Output = std::vector<Outgoing>;

struct Neighbour {
    int host = -1;
    Weight weight;
};

/// What a host knows of the tree before it wakes; all hosts know alike.
struct HeadStart {
    std::vector<int> branches;  ///< neighbours across links that are in the tree
    HostSet members;            ///< whom such links join to this host
    HostSet everyone;           ///< who will be in the tree
};

/// One host's part. A plain value: copy it to try what would happen.
class Node {
  public:
    /// `neighbours`: the usable links of `self`; both ends of a link hold the same weight.
    Node(int self, const std::vector<Neighbour>& neighbours, const HeadStart& known);

    /// Once, before anything arrives.
    Output wake();
    Output on(int from, const Message& message);

    /// True once this host knows that its tree is complete.
    bool finished() const { return finished_; }
    /// Neighbours across tree links, ascending.
    std::vector<int> branches() const;
    const Weight& weight(int neighbour) const { return edge_to(neighbour).weight; }
    /// Hosts known to be in this host's fragment, itself included.
    const HostSet& members() const { return members_; }
    /// Messages kept back because this host must first know more; they are tried again by itself.
    int waiting() const { return static_cast<int>(waiting_.size()); }

    bool operator==(const Node&) const = default;
    /// All of the state, for explorers.
    auto parts() const {
        return std::tie(self_, edges_, waiting_, state_, level_, fragment_, inbound_, testing_, unreported_, best_,
                        best_weight_, members_, everyone_, finished_);
    }

  private:
    struct Edge {
        int host = -1;
        Weight weight;
        LinkState state = LinkState::basic;
        bool reported = false;  ///< level 0: a branch that has

        bool operator==(const Edge&) const = default;
        auto parts() const { return std::tie(host, weight, state, reported); }
    };

    const Edge& edge_to(int host) const;
    Edge& edge_to(int host) { return const_cast<Edge&>(std::as_const(*this).edge_to(host)); }

    bool must_wait(const Edge& edge, const Message& message) const;
    void retry_waiting(Output& out);
    void handle(Edge& edge, const Message& message, Output& out);

    void on_connect(Edge& edge, const Message& message, Output& out);
    void on_initiate(Edge& edge, const Message& message, Output& out);
    void on_test(Edge& edge, const Message& message, Output& out);
    void on_accept(Edge& edge, const Message& message, Output& out);
    void on_reject(Edge& edge, const Message& message, Output& out);
    void on_report(Edge& edge, const Message& message, Output& out);
    void on_change_root(Edge& edge, const Message& message, Output& out);

    Message initiate(int level, const Weight& fragment, State state) const;
    void report_to_last_branch(Output& out);
    void test_next(Output& out);
    void report_if_complete(Output& out);
    void change_root(Output& out);
    bool knows_everyone() const { return members_ == everyone_; }
    void finish(int informed, Output& out);
    void take_if_better(int host, const Weight& weight);

    int self_;
    std::vector<Edge> edges_;       ///< ascending weight
    std::vector<Waiting<Message>> waiting_;  ///< in order of arrival
    State state_ = State::sleeping;
    int level_ = 0;
    Weight fragment_;      ///< name of the fragment: the weight of its core link
    int inbound_ = -1;     ///< neighbour towards the core
    int testing_ = -1;     ///< neighbour whose answer to a test is awaited
    int unreported_ = 0;   ///< branches below that have not reported yet (find-count)
    int best_ = -1;        ///< neighbour towards the best outgoing link known
    Weight best_weight_ = Weight::infinite();
    HostSet members_;        ///< only grows
    HostSet everyone_;
    bool finished_ = false;
};

}  // namespace ghs
}  // namespace mutirao
