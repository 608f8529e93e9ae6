// Keeps every host informed of every link, and starts the rounds in which the hosts adapt the tree
// to what has changed (maintenance.h): a pure state machine. Hosts that reach each other hold the
// same version of the tree in the end, however links and hosts come and go.
//
// News flood over all channels, and the newest of a link counts (rounds_message.h). On each channel
// everything that the sender knew goes ahead of what it sends next, so whoever hears of a round
// knows at least what its root knew.
//
// Of the hosts that usable links join, the lowest leads. It starts a round when links differ from
// those of its last version or have broken since, and when anyone has heard of a newer round than
// its own: hosts that were apart may both have used a number. It starts another round at once when
// a link of the running one breaks: messages may be lost, so that the running one need not end.
// A host misses the end of a round only by a link that breaks: the round that follows names the
// version from which it starts, and who does not have that asks for it.
//
// A round starts from the leader's last version. Its call tells the tree and the links that differ;
// hosts that were out of reach join the tree like links that recover.
//
// The first tree is built by ghs.h: a round that starts from no tree has fragments of single hosts,
// no failures and no recoveries, so that nothing but the search of Gallager, Humblet and Spira
// remains of maintenance.h, and how its end is found. A host that has no tree waits with it until
// every link is known or given up; otherwise it would build a tree of the first two hosts and then
// take in all others one by one, in dozens of rounds. Whatever breaks meanwhile leads to another round, as always.
//
// What the driver does:
//   - carries messages over ordered channels, and says when one works (joined) and when it broke
//     (lost: what was sent, or will come, over it may be missing). Both ends of a broken channel
//     come to know it. One that never came to work is lost, too, when the driver gives it up.
//     Nothing arrives over a channel before joined.
//   - measures the links of which this is the lower host, and announces the latency whenever it
//     differs from view(): after a change, and also when the other end, or an agent that was here
//     before, said something else. The higher host can only announce that nothing comes.
//   - announces as infinite, at either end, a link that is unknown() or that view() calls usable
//     though its channel has not worked for so long that the driver gave it up: agents that died may
//     leave such news.
//   - calls restart() when a round has been running, or waited for links, for much longer than it
//     should.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "core/network/tree.h"
#include "core/spanning_tree/maintenance.h"
#include "core/spanning_tree/rounds_message.h"
#include "core/spanning_tree/values.h"

namespace mutirao {

/// What the threads of a host can do; 0: not measured.
struct HostSpeed {
    double copy_bytes_per_us = 0;
    double reduce_bytes_per_us = 0;  ///< sums of doubles, counted as what is added
    double message_us = 0;  ///< until a word that one thread wrote is seen by another

    bool operator==(const HostSpeed&) const = default;
};

/// What a host knows now. Matrices are row by row, equal in both directions, infinite: unusable.
struct NetworkView {
    std::uint64_t changes = 0;  ///< grows whenever anything else here changes
    int host_count = 0;
    std::vector<double> latency_us;     ///< the newest
    std::vector<double> last_known_us;  ///< the same, but the last finite one if there ever was
    /// Of the links of all hosts within reach: those that nobody has measured or given up yet. Until
    /// it is 0, infinite may mean unknown.
    int unknown_links = 0;
    std::uint32_t version = 0;          ///< of the tree
    std::uint64_t version_hash = 0;
    EdgeList tree;  ///< of the last complete version, (low, high) ascending
    /// Measured by agents, not by Rounds, which leaves both empty; 0: not known.
    std::vector<double> bandwidth_bytes_per_us;
    std::vector<HostSpeed> host_speeds;  ///< by host

    /// Of the link between two hosts, in each matrix.
    std::size_t index(int a, int b) const {
        return static_cast<std::size_t>(a) * static_cast<std::size_t>(host_count) + static_cast<std::size_t>(b);
    }
    bool operator==(const NetworkView&) const = default;
};

/// A tree and the links for which it is minimal; equal on all hosts that have the same hash.
struct Version {
    rounds::RoundId id;       ///< the round that made it; number 0: what the hosts started with
    rounds::LinkTable links;  ///< unusable also to hosts that were out of reach
    EdgeList tree;            ///< (low, high) ascending; of the hosts within reach
    std::uint64_t hash = 0;   ///< of everything in it
};

class Rounds {
  public:
    using Message = rounds::Message;
    using Output = rounds::Output;

    /// Version 0, equal on all hosts: links and their minimum spanning tree, (low, high) ascending.
    /// `incarnation`: different each time that this host starts, a random number for example.
    Rounds(int self, rounds::LinkTable links, EdgeList tree, std::uint64_t incarnation);

    /// Nothing is known yet.
    Rounds(int self, int host_count, std::uint64_t incarnation)
        : Rounds(self, rounds::LinkTable(host_count), {}, incarnation) {}

    /// What this host finds about its link to `other`; infinite: nothing gets through. Ignored: a
    /// latency from the higher host, and one for an unusable link whose channel does not work.
    Output announce(int other, double latency_us);
    Output joined(int other);
    Output lost(int other);
    Output on(int from, const Message& message);
    /// While held, this host starts no round, so that one is enough for news that come together.
    void hold() { held_ = true; }
    Output release();
    /// If this host leads: another round takes the place of the one that is running, or starts in
    /// spite of links that it waits for.
    Output restart();

    const NetworkView& view() const { return view_; }
    const Version& version() const { return version_; }
    /// This host has entered, or waits to enter, a round that has not ended here.
    bool running() const { return round_.has_value(); }
    /// This host is the lowest of those that usable links join to it.
    bool leads() const;
    /// What is known of the links of all hosts within reach is what the last complete version was made for.
    bool version_fits() const;
    /// It leads others, there is no tree yet, and links are still unknown.
    bool waits_for_links() const;
    /// Nobody has said yet what this host's link to `other` is like.
    bool unknown(int other) const { return links_.at(self_, other) == rounds::LinkState{}; }
    /// The newest round heard of.
    const rounds::RoundId& newest() const { return newest_; }

    /// What tells its states apart, for explorers: the rest follows from these, or is how often the view has changed.
    auto parts() const {
        return std::tie(links_, channels_, version_.id, version_.hash, newest_, accepted_, round_);
    }

  private:
    using RoundId = rounds::RoundId;
    using LinkNews = rounds::LinkNews;
    using LinkTable = rounds::LinkTable;

    struct Channel {
        bool works = false;
        bool cut = false;  ///< steps of this round may be missing, so none pass in either direction
        std::vector<Message> outbox;  ///< of the running round: waits for the channel to work

        auto parts() const { return std::tie(works, cut, outbox); }
    };
    struct Running {
        Message call;       ///< what the root sent, in one piece
        int told_by = -1;   ///< who has the version from which it starts
        std::vector<Waiting<maintenance::Message>> early;  ///< while that is not here
        rounds::Parts version_parts;
        std::optional<LinkTable> before;  ///< of that version, if others had to tell it
        LinkTable links;    ///< of this round, once entered
        std::optional<maintenance::Node> node;  ///< once entered

        auto parts() const { return std::tie(call, told_by, early, node); }
    };

    Channel& channel(int other) { return channels_[static_cast<std::size_t>(other)]; }
    const Channel& channel(int other) const { return channels_[static_cast<std::size_t>(other)]; }

    void break_channel(int other, Output& out);
    void claim(int other, double latency_us, Output& out);
    void learn(const std::vector<LinkNews>& news, int from, Output& out);
    void show(const LinkNews& news);
    void count_unknown();
    void tell(int other, const std::vector<LinkNews>& news, Output& out) const;
    void tell_newest(int other, Output& out) const;
    void send(int other, Message message, Output& out);

    void on_news(int from, const Message& message, Output& out);
    void on_newest(int from, const Message& message, Output& out);
    void on_round(int from, const Message& message, Output& out);
    void on_ask_version(int from, const Message& message, Output& out);
    void on_version(int from, const Message& message, Output& out);
    void on_step(int from, const Message& message, Output& out);

    void settle(Output& out);
    bool should_start() const;
    bool broken_since_start() const;
    void start_round(Output& out);
    void accept(Message call, int from, Output& out);
    void take_end_from(const Message& call);
    void enter(const LinkTable& before, Output& out);
    void pass_on(int from, Output& out);
    void take_step(int from, const maintenance::Message& step, Output& out);
    void forward(const maintenance::Output& steps, Output& out);
    void complete_if_finished();
    void take_version(const RoundId& id, LinkTable links, EdgeList tree);

    int self_;
    std::uint64_t incarnation_;
    LinkTable links_;                ///< the newest known
    int silent_links_ = 0;           ///< of these, in reach or not: nothing was said of them yet
    std::vector<Channel> channels_;  ///< by host
    Version version_;  ///< the last one
    RoundId newest_;
    RoundId accepted_;               ///< the last one that this host entered or waits to enter
    rounds::Parts call_parts_;
    std::optional<Running> round_;
    bool held_ = false;
    bool unsettled_ = false;         ///< something on which should_start() depends has changed
    NetworkView view_;
};

}  // namespace mutirao
