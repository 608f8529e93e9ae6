// The distributed minimum spanning tree of Gallager, Humblet and Spira (1983,
// doi:10.1145/357195.357200) as a pure state machine: no sockets, no clock, no MPI. A driver
// carries the messages; messages between two hosts must arrive in the order in which they were
// sent, or the algorithm breaks already on three hosts.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace mutirao {

/// A link's weight, made distinct by the numbers of its ends.
struct Weight {
    double value = 0;
    int low = -1;   ///< smaller end
    int high = -1;  ///< larger end

    auto operator<=>(const Weight&) const = default;
    static Weight infinite();
};

namespace ghs {

enum class Kind : std::uint8_t {
    connect, initiate, test, accept, reject, report, change_root,
    finish  ///< ours: the two core hosts know that the tree is complete and tell the others
};
enum class State : std::uint8_t { sleeping, find, found };
enum class LinkState : std::uint8_t { basic, branch, rejected };

struct Message {
    Kind kind = Kind::connect;
    int level = 0;       ///< connect, initiate, test
    Weight fragment;     ///< initiate, test: the fragment's name; report: the best weight found
    State state = State::sleeping;  ///< initiate
    int hosts = 0;       ///< report: hosts below the sender; finish: hosts in the tree

    bool operator==(const Message&) const = default;
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

/// One host's part. A plain value: copy it to try what would happen.
class Node {
  public:
    /// `neighbours`: the usable links of `self`; both ends of a link hold the same weight.
    Node(int self, std::vector<Neighbour> neighbours);

    /// Spontaneous awakening; harmless when awake already.
    Output wake();
    Output on(int from, const Message& message);

    /// True once this host knows that its tree is complete.
    bool finished() const;
    /// Hosts in the finished tree: fewer than asked for means that some cannot be reached.
    int hosts_in_tree() const;
    /// Neighbours across tree links, ascending.
    std::vector<int> branches() const;
    State state() const;
    LinkState link_state(int neighbour) const;

    bool operator==(const Node&) const = default;
    /// All of the state as bytes: equal strings exactly for equal states (for explorers).
    std::string fingerprint() const;
};

}  // namespace ghs
}  // namespace mutirao
