// Layout, all little endian: kind (1 byte), then by kind, in this order,
//   id of the round: number (4), root (4), incarnation (8)     all but the first two
//   id of the version to start from (16), its hash (8)         round
//   hash (8)                                                   ask_version
//   part (2), of how many (2)                                  round, version
//   links of the tree: how many (2), low (2), high (2) each    round
//   links: how many (2), for each low (2), high (2), breaks (4), sequence (4), latency as IEEE 754
//   bits (8)                                                   news, round, version
//   a message of maintenance_wire.h                            step
#include "core/spanning_tree/rounds_wire.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "core/text/bytes.h"
#include "core/spanning_tree/maintenance_wire.h"
#include "core/spanning_tree/rounds_parts.h"

namespace mutirao::rounds {
namespace {

constexpr std::size_t id_bytes = 16;
constexpr std::size_t link_bytes = 20;
constexpr std::size_t edge_bytes = 4;
constexpr int most_parts =
    most_hosts * (most_hosts - 1) / 2 / static_cast<int>(links_per_message) + 1;

void put_id(ByteWriter& writer, const RoundId& id) {
    writer.put(id.number, 4);
    writer.put_int(id.root);
    writer.put(id.incarnation, 8);
}

void put_ends(ByteWriter& writer, int low, int high) {
    writer.put(static_cast<std::uint16_t>(low), 2);
    writer.put(static_cast<std::uint16_t>(high), 2);
}

void put_links(ByteWriter& writer, const std::vector<LinkNews>& links) {
    writer.put(links.size(), 2);
    for (const LinkNews& link : links) {
        put_ends(writer, link.low, link.high);
        writer.put(link.state.breaks, 4);
        writer.put(link.state.sequence, 4);
        writer.put_double(link.state.latency_us);
    }
}

void put_tree(ByteWriter& writer, const EdgeList& tree) {
    writer.put(tree.size(), 2);
    for (const auto& [low, high] : tree) put_ends(writer, low, high);
}

/// Takes what is there; the first thing that is missing or cannot be makes all of it junk.
class Decoder {
  public:
    explicit Decoder(std::span<const std::byte> bytes) : reader_(bytes) {}

    std::uint64_t number(std::size_t width) { return has(width) ? reader_.take(width) : 0; }
    int small() { return static_cast<int>(number(2)); }

    RoundId id(bool may_be_none) {
        if (!has(id_bytes)) return {};
        RoundId id;
        id.number = static_cast<std::uint32_t>(reader_.take(4));
        id.root = reader_.take_int();
        id.incarnation = reader_.take(8);
        const bool names_a_round = id.number > 0 && id.root >= 0 && id.root < most_hosts;
        require(names_a_round || (may_be_none && id == RoundId{}));
        return id;
    }

    std::vector<LinkNews> links() {
        const auto count = static_cast<std::size_t>(number(2));
        std::vector<LinkNews> list;
        if (!require(count <= links_per_message) || !has(count * link_bytes)) return list;
        list.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto [low, high] = ends();
            LinkState state;
            state.breaks = static_cast<std::uint32_t>(reader_.take(4));
            state.sequence = static_cast<std::uint32_t>(reader_.take(4));
            state.latency_us = reader_.take_double();
            require(can_be(state));
            require(list.empty() ||
                    std::pair(list.back().low, list.back().high) < std::pair(low, high));
            list.push_back({low, high, state});
        }
        return list;
    }

    EdgeList tree() {
        const auto count = static_cast<std::size_t>(number(2));
        EdgeList list;
        if (!require(count < most_hosts) || !has(count * edge_bytes)) return list;
        for (std::size_t i = 0; i < count; ++i) list.push_back(ends());
        require(std::ranges::adjacent_find(list, std::greater_equal{}) == list.end());
        return list;
    }

    maintenance::Message step() {
        auto message = maintenance::decode(reader_.rest());
        reader_ = ByteReader({});
        if (!require(message.has_value())) return {};
        return std::move(*message);
    }

    bool require(bool holds) { return good_ = good_ && holds; }
    bool all_good() const { return good_ && reader_.left() == 0; }

  private:
    bool has(std::size_t bytes) { return require(reader_.left() >= bytes); }

    std::pair<int, int> ends() {
        const auto low = static_cast<int>(reader_.take(2));
        const auto high = static_cast<int>(reader_.take(2));
        require(low < high && high < most_hosts);
        return {low, high};
    }

    static bool can_be(const LinkState& state) {
        if (!(state.latency_us >= 0)) return false;
        if (state.sequence > 0) return state.usable();
        return state.breaks == 0 || !state.usable();
    }

    ByteReader reader_;
    bool good_ = true;
};

/// What a kind carries, in the order of the layout.
struct Shape {
    bool id, id_may_be_none, base, hash, parts, tree, links, step;
};

constexpr std::array<Shape, 7> shapes = {{
    {false, false, false, false, false, false, true, false},  // news
    {false, false, false, false, false, false, false, false},  // ask_start
    {true, false, false, false, false, false, false, false},  // newest
    {true, false, true, true, true, true, true, false},       // round
    {true, true, false, true, false, false, false, false},    // ask_version
    {true, true, false, false, true, false, true, false},     // version
    {true, false, false, false, false, false, false, true},   // step
}};

bool usable(const LinkNews& link) { return link.state.usable(); }
bool tells(const LinkNews& link) { return link.state != LinkState{}; }

/// What fields must have to do with each other.
bool makes_sense(const Message& message) {
    if (message.kind == Kind::version && !std::ranges::all_of(message.links, usable)) return false;
    if (message.kind == Kind::news)
        return !message.links.empty() && std::ranges::all_of(message.links, tells);
    return message.part == 0 || message.tree.empty();
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
    ByteWriter writer(64 + link_bytes * message.links.size() + edge_bytes * message.tree.size());
    const Shape& shape = shapes[static_cast<std::size_t>(message.kind)];
    writer.put(static_cast<std::uint64_t>(message.kind), 1);
    if (shape.id) put_id(writer, message.id);
    if (shape.base) put_id(writer, message.base);
    if (shape.hash) writer.put(message.base_hash, 8);
    if (shape.parts) {
        writer.put(static_cast<std::uint64_t>(message.part), 2);
        writer.put(static_cast<std::uint64_t>(message.parts), 2);
    }
    if (shape.tree) put_tree(writer, message.tree);
    if (shape.links) put_links(writer, message.links);
    if (shape.step) writer.put_bytes(maintenance::encode(message.step));
    return std::move(writer).take();
}

std::optional<Message> decode(std::span<const std::byte> bytes) {
    Decoder in(bytes);
    const std::uint64_t kind = in.number(1);
    if (!in.require(kind < shapes.size())) return std::nullopt;
    const Shape& shape = shapes[kind];
    Message message;
    message.kind = static_cast<Kind>(kind);
    if (shape.id) message.id = in.id(shape.id_may_be_none);
    if (shape.base) message.base = in.id(true);
    if (shape.hash) message.base_hash = in.number(8);
    if (shape.parts) {
        message.part = in.small();
        message.parts = in.small();
        in.require(message.part < message.parts && message.parts <= most_parts);
    }
    if (shape.tree) message.tree = in.tree();
    if (shape.links) message.links = in.links();
    if (shape.step) message.step = in.step();
    if (!in.all_good() || !makes_sense(message)) return std::nullopt;
    return message;
}

}  // namespace mutirao::rounds
