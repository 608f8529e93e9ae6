// What hosts tell each other, as bytes: each format once, for writing and reading.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "core/spanning_tree/rounds_message.h"
#include "core/text/bytes.h"

namespace mutirao {
namespace {

bool is_link(const Weight& weight) {
    return std::isfinite(weight.value) && weight.low >= 0 && weight.low < weight.high;
}

constexpr auto ends_of = [](const auto& link) { return std::pair(link.low, link.high); };

/// Each comes once, in the order of `key`.
template <class List, class Key = std::identity>
bool ascending(const List& list, Key key = {}) {
    return std::ranges::adjacent_find(list, std::greater_equal{}, key) == list.end();
}

}  // namespace

template <class Codec>
void fields(Codec& codec, Coded<Codec, HostSet>& hosts) {
    const auto words_of = [](const HostSet& set) {
        return std::vector(set.words().begin(), set.words().end());
    };
    codec.as(hosts, words_of, HostSet::from_words, [&](auto& words) {
        codec.list(words, 2, most_numbered_hosts / HostSet::word_bits, [&](auto& word) { codec.number(word, 8); });
    });
}

template <class Codec>
void fields(Codec& codec, Coded<Codec, Weight>& weight) {
    codec.real(weight.value);
    codec.number(weight.low, 4);
    codec.number(weight.high, 4);
    codec.truth(weight.last_resort);
}

}  // namespace mutirao

namespace mutirao::ghs {
namespace {

/// A fragment of level L holds at least 2^L hosts, and hosts are numbered by int.
constexpr int highest_level = 30;

/// What a kind may carry; the rest holds its defaults.
struct Shape {
    int least_level, greatest_level;
    bool has_link, may_be_infinite, has_state, has_members;
};

constexpr std::array<Shape, 8> shapes = {{
    {0, highest_level, false, false, false, true},  // connect
    {1, highest_level, true, false, true, true},    // initiate
    {1, highest_level, true, false, false, false},  // test
    {0, 0, false, false, false, false},             // accept
    {0, 0, false, false, false, true},              // reject
    {0, 0, true, true, false, true},                // report
    {0, 0, false, false, false, true},              // change_root
    {0, 0, false, false, false, false},             // finish
}};

bool fits(const Message& message) {
    const Shape& shape = shapes[static_cast<std::size_t>(message.kind)];
    if (message.level < shape.least_level || message.level > shape.greatest_level) return false;
    const bool link_fits =
        shape.has_link ? is_link(message.fragment) ||
                             (shape.may_be_infinite && message.fragment == Weight::infinite())
                       : message.fragment == Weight{};
    const bool state_fits = shape.has_state != (message.state == State::sleeping);
    const bool members_fit = shape.has_members != message.members.empty();
    return link_fits && state_fits && members_fit;
}

}  // namespace

template <class Codec>
void fields(Codec& codec, Coded<Codec, Message>& message) {
    codec.choice(message.kind, Kind::finish);
    codec.choice(message.state, State::found);
    codec.number(message.level, 4);
    fields(codec, message.fragment);
    fields(codec, message.members);
    codec.require(fits, message);
}

}  // namespace mutirao::ghs

namespace mutirao::maintenance {
namespace {

/// What a kind may carry.
struct Shape {
    std::size_t least_links, most_links;
};

constexpr std::size_t most_links = most_numbered_hosts - 1;

constexpr std::array<Shape, 7> shapes = {{
    {0, 0},           // merge
    {0, 0},           // not_fail
    {1, most_links},  // not_fail_ack
    {1, most_links},  // gosleep_fail
    {0, 0},           // not_rec
    {0, most_links},  // not_rec_ack
    {1, most_links},  // gosleep_rec
}};

bool fits(const Message& message) {
    const Shape& shape = shapes[static_cast<std::size_t>(message.kind)];
    return message.links.size() >= shape.least_links && message.links.size() <= shape.most_links &&
           ascending(message.links, ends_of);
}

}  // namespace

template <class Codec>
void fields(Codec& codec, Coded<Codec, Message>& message) {
    codec.choice(message.kind, Kind::gosleep_rec);
    codec.list(message.links, 2, most_links, [&](auto& link) {
        codec.real(link.value);
        codec.number(link.low, 4);
        codec.number(link.high, 4);
        codec.require(is_link(link) && link.high < most_numbered_hosts);
    });
    if (message.kind == Kind::merge) fields(codec, message.merging);
    codec.require(fits, message);
}

}  // namespace mutirao::maintenance

namespace mutirao::rounds {
namespace {

constexpr int most_parts =
    most_hosts * (most_hosts - 1) / 2 / static_cast<int>(links_per_message) + 1;

bool names_a_round(const RoundId& id) { return id.number > 0 && id.root >= 0 && id.root < most_hosts; }

bool can_be(const LinkState& state) {
    if (!(state.latency_us >= 0)) return false;
    if (state.sequence > 0) return state.usable();
    return state.breaks == 0 || !state.usable();
}

bool usable(const LinkNews& link) { return link.state.usable(); }
bool tells(const LinkNews& link) { return link.state != LinkState{}; }

template <class Codec>
void id_fields(Codec& codec, Coded<Codec, RoundId>& id, bool may_be_none) {
    codec.number(id.number, 4);
    codec.number(id.root, 4);
    codec.number(id.incarnation, 8);
    codec.require(names_a_round(id) || (may_be_none && id == RoundId{}));
}

template <class Codec>
void part_fields(Codec& codec, Coded<Codec, Message>& message) {
    codec.number(message.part, 2);
    codec.number(message.parts, 2);
    codec.require(message.part < message.parts && message.parts <= most_parts);
}

template <class Codec, class Host>
void end_fields(Codec& codec, Host& low, Host& high) {
    codec.number(low, 2);
    codec.number(high, 2);
    codec.require(low < high && high < most_hosts);
}

template <class Codec>
void tree_fields(Codec& codec, Coded<Codec, EdgeList>& tree) {
    codec.list(tree, 2, most_hosts - 1, [&](auto& edge) { end_fields(codec, edge.first, edge.second); });
    codec.require(ascending(tree));
}

template <class Codec>
void link_fields(Codec& codec, Coded<Codec, std::vector<LinkNews>>& links) {
    codec.list(links, 2, links_per_message, [&](auto& link) {
        end_fields(codec, link.low, link.high);
        codec.number(link.state.breaks, 4);
        codec.number(link.state.sequence, 4);
        codec.real(link.state.latency_us);
        codec.require(can_be(link.state));
    });
    codec.require(ascending(links, ends_of));
}

}  // namespace

template <class Codec>
void fields(Codec& codec, Coded<Codec, Message>& message) {
    codec.choice(message.kind, Kind::step);
    const bool may_be_none = message.kind == Kind::ask_version || message.kind == Kind::version;
    if (message.kind != Kind::news) id_fields(codec, message.id, may_be_none);
    switch (message.kind) {
        case Kind::news:
            link_fields(codec, message.links);
            codec.require(!message.links.empty() && std::ranges::all_of(message.links, tells));
            break;
        case Kind::newest: break;
        case Kind::round:
            id_fields(codec, message.base, true);
            codec.number(message.base_hash, 8);
            part_fields(codec, message);
            tree_fields(codec, message.tree);
            link_fields(codec, message.links);
            codec.require(message.part == 0 || message.tree.empty());
            break;
        case Kind::ask_version: codec.number(message.base_hash, 8); break;
        case Kind::version:
            part_fields(codec, message);
            link_fields(codec, message.links);
            codec.require(std::ranges::all_of(message.links, usable));
            break;
        case Kind::step: fields(codec, message.step); break;
    }
}

std::vector<std::byte> encode(const Message& message) { return to_bytes(message); }
std::optional<Message> decode(std::span<const std::byte> bytes) { return from_bytes<Message>(bytes); }

}  // namespace mutirao::rounds
