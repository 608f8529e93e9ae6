// What hosts tell each other so that every one knows every link, and which round of maintenance is
// under way.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "core/network/tree.h"
#include "core/spanning_tree/maintenance.h"
#include "core/spanning_tree/rounds_links.h"

namespace mutirao::rounds {

/// Names a round; later ones are larger. Two hosts that both think that they lead may choose the
/// same number: the lower host's round counts. A host that dies and comes back has another
/// incarnation, so it cannot reuse a name for other contents.
struct RoundId {
    std::uint32_t number = 0;
    int root = -1;
    std::uint64_t incarnation = 0;  ///< of the root

    bool operator==(const RoundId&) const = default;
    std::strong_ordering operator<=>(const RoundId& other) const {
        if (const auto order = number <=> other.number; order != 0) return order;
        if (const auto order = other.root <=> root; order != 0) return order;
        return incarnation <=> other.incarnation;
    }
};

enum class Kind : std::uint8_t {
    news,         ///< of links; passed on by whoever did not know
    ask_start,    ///< what the hosts started with is not known here
    newest,       ///< the newest round that the sender has heard of; passed on likewise
    round,        ///< enter this round; passed on to all who take part
    ask_version,  ///< the version from which a round starts is not at hand here
    version,      ///< the answer
    step,         ///< a message of maintenance.h
};

struct Message {
    Kind kind = Kind::news;
    RoundId id;     ///< all but the first two; ask_version, version: who made the version
    RoundId base;                 ///< round: the version from which it starts
    std::uint64_t base_hash = 0;  ///< round
    int part = 0;                 ///< round, version: which of `parts` pieces
    int parts = 1;
    /// news; round: what differs from the version; version: the usable links. Ascending.
    std::vector<LinkNews> links;
    EdgeList tree;                ///< round, part 0: of that version
    maintenance::Message step;

    bool operator==(const Message&) const = default;
};

inline Message message_of(Kind kind) {
    Message message;
    message.kind = kind;
    return message;
}

struct Outgoing {
    int to = -1;
    Message message;
};
using Output = std::vector<Outgoing>;

}  // namespace mutirao::rounds
