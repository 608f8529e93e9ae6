// What hosts tell each other so that every one knows every link, and which round of maintenance is under way; and what
// they know by it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/network/tree.h"
#include "core/spanning_tree/maintenance.h"
#include "core/spanning_tree/values.h"

namespace mutirao::rounds {

// What hosts know of all links, and how what two hosts know is united. Each link has a stamp that
// only grows; the larger one wins, so that all hosts come to know the same whatever the order in
// which news reach them. A stamp counts breaks first: no message about a latency hides that a link
// was down in between, and that what was sent over it may be lost.

inline constexpr int most_hosts = 1024;

inline constexpr double unusable_us = std::numeric_limits<double>::infinity();  ///< latency of such a link

struct LinkState {
    std::uint32_t breaks = 0;    ///< how often it has become unusable
    std::uint32_t sequence = 0;  ///< announcements since then; 0 after a break: still unusable
    double latency_us = unusable_us;

    bool usable() const { return latency_us < unusable_us; }
    bool operator==(const LinkState&) const = default;
    auto parts() const { return std::tie(breaks, sequence, latency_us); }
    /// Newer is larger. Of one stamp there is only one value; what hosts start with is more than nothing.
    std::partial_ordering operator<=>(const LinkState& other) const {
        return std::tie(breaks, sequence, other.latency_us) <=> std::tie(other.breaks, other.sequence, latency_us);
    }
    /// Without what depends on how the value was reached.
    bool same_for_a_tree(const LinkState& other) const {
        return latency_us == other.latency_us && (!usable() || breaks == other.breaks);
    }
};

struct LinkNews {
    int low = -1;
    int high = -1;
    LinkState state;

    bool operator==(const LinkNews&) const = default;
};

/// One state for each pair of hosts. At first all links are unusable.
class LinkTable {
  public:
    explicit LinkTable(int host_count = 0);

    int host_count() const { return host_count_; }
    const LinkState& at(int a, int b) const { return states_[index(a, b)]; }
    void set(int a, int b, const LinkState& state) { states_[index(a, b)] = state; }

    /// Hosts that usable links join to this one, itself included.
    HostSet component(int host) const;
    /// Makes links unusable that do not have both ends among these hosts.
    void keep_only(const HostSet& hosts);
    /// Row by row, the same in both directions, zero from a host to itself.
    std::vector<double> latencies_us() const;

    auto parts() const { return std::tie(states_); }

    /// Calls visit(low, high, state) for each pair, ascending.
    template <class Visit>
    void for_each(Visit visit) const {
        std::size_t i = 0;
        for (int low = 0; low < host_count_; ++low)
            for (int high = low + 1; high < host_count_; ++high) visit(low, high, states_[i++]);
    }

  private:
    std::size_t index(int a, int b) const;

    int host_count_;
    std::vector<LinkState> states_;  ///< (0, 1), (0, 2), ..., (1, 2), ...
};

/// Names a round; later ones are larger. Two hosts that both think that they lead may choose the
/// same number: the lower host's round counts. A host that dies and comes back has another
/// incarnation, so it cannot reuse a name for other contents.
struct RoundId {
    std::uint32_t number = 0;
    int root = -1;
    std::uint64_t incarnation = 0;  ///< of the root

    bool operator==(const RoundId&) const = default;
    auto parts() const { return std::tie(number, root, incarnation); }
    std::strong_ordering operator<=>(const RoundId& other) const {
        return std::tie(number, other.root, incarnation) <=> std::tie(other.number, root, other.incarnation);
    }
};

enum class Kind : std::uint8_t {
    news,         ///< of links; passed on by whoever did not know
    newest,       ///< the newest round that the sender has heard of; passed on likewise
    round,        ///< enter this round; passed on to all who take part
    ask_version,  ///< the version from which a round starts is not at hand here
    version,      ///< the answer
    step,         ///< a message of maintenance.h
};

struct Message {
    Kind kind = Kind::news;
    RoundId id{};   ///< all but news; ask_version, version: who made the version
    RoundId base{};               ///< round: the version from which it starts
    std::uint64_t base_hash = 0;  ///< round
    int part = 0;                 ///< round, version: which of `parts` pieces
    int parts = 1;
    /// news; round: what differs from the version; version: the usable links. Ascending.
    std::vector<LinkNews> links{};
    EdgeList tree{};              ///< round, part 0: of that version
    maintenance::Message step{};

    bool operator==(const Message&) const = default;
};

struct Outgoing {
    int to = -1;
    Message message;
};
using Output = std::vector<Outgoing>;

// As bytes, for drivers that carry them between hosts (of any byte order): one encoding per message, so whatever else
// arrives is junk and is seen to be. decode() gives nothing unless its bytes are what encode() makes of a message that
// a host may send.

/// Of the longest message that a host sends.
inline constexpr std::size_t most_message_bytes = 60'000;

std::vector<std::byte> encode(const Message& message);
/// It may still name hosts that a smaller network does not have; Rounds leaves those out.
std::optional<Message> decode(std::span<const std::byte> bytes);

// Messages about many links, cut into pieces that fit a frame and put together again. With 24 hosts
// there is one piece; with 1000 a version has up to two hundred.

/// 20 bytes each, beside a tree of up to 1023 links: below 60 KB.
inline constexpr std::size_t links_per_message = 2500;

/// A message in pieces; those of kind news stand for themselves.
std::vector<Message> split(const Message& whole);

/// Pieces of one message at a time: a later round's displace what was there.
class Parts {
  public:
    /// The whole message when this was its last missing piece.
    std::optional<Message> add(const Message& part);

  private:
    std::vector<std::optional<Message>> pieces_;
    RoundId id_;
};

}  // namespace mutirao::rounds
