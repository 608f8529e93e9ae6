// Layout, all little endian: kind (1 byte), tag (4), number of links (2), then for merge a message
// of wire.h, for the others the links: weight as IEEE 754 bits (8), low end (4), high end (4).
#include "core/spanning_tree/maintenance_wire.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/text/bytes.h"
#include "core/spanning_tree/wire.h"

namespace mutirao::maintenance {
namespace {

/// What a kind may carry.
struct Shape {
    bool has_tag;
    std::size_t least_links, most_links;
};

constexpr std::size_t most_links = HostSet::most_hosts - 1;

constexpr std::array<Shape, 7> shapes = {{
    {false, 0, 0},           // merge
    {true, 0, 0},            // not_fail
    {true, 1, most_links},   // not_fail_ack
    {false, 1, most_links},  // gosleep_fail
    {true, 0, 0},            // not_rec
    {true, 0, most_links},   // not_rec_ack
    {false, 1, most_links},  // gosleep_rec
}};

bool is_link(const Weight& link) {
    return std::isfinite(link.value) && link.low >= 0 && link.low < link.high &&
           link.high < HostSet::most_hosts;
}

bool fits(const Shape& shape, const Message& message) {
    const auto not_ascending = [](const Weight& a, const Weight& b) {
        return std::pair(a.low, a.high) >= std::pair(b.low, b.high);
    };
    return shape.has_tag == (message.tag > 0) && message.links.size() >= shape.least_links &&
           message.links.size() <= shape.most_links &&
           std::ranges::all_of(message.links, is_link) &&
           std::ranges::adjacent_find(message.links, not_ascending) == message.links.end();
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
    ByteWriter writer(head_bytes + link_bytes * message.links.size());
    writer.put(static_cast<std::uint64_t>(message.kind), 1);
    writer.put(message.tag, 4);
    writer.put(message.links.size(), 2);
    if (message.kind == Kind::merge) writer.put_bytes(ghs::encode(message.merging));
    for (const Weight& link : message.links) {
        writer.put_double(link.value);
        writer.put_int(link.low);
        writer.put_int(link.high);
    }
    return std::move(writer).take();
}

std::optional<Message> decode(std::span<const std::byte> bytes) {
    if (bytes.size() < head_bytes) return std::nullopt;
    ByteReader reader(bytes);
    const std::uint64_t kind = reader.take(1);
    if (kind >= shapes.size()) return std::nullopt;
    Message message;
    message.kind = static_cast<Kind>(kind);
    message.tag = static_cast<std::uint32_t>(reader.take(4));
    const auto links = static_cast<std::size_t>(reader.take(2));
    if (message.kind == Kind::merge) {
        const auto merging = ghs::decode(reader.rest());
        if (!merging || links > 0 || message.tag > 0) return std::nullopt;
        message.merging = *merging;
        return message;
    }
    if (reader.left() != link_bytes * links) return std::nullopt;
    message.links.resize(links);
    for (Weight& link : message.links) {
        link.value = reader.take_double();
        link.low = reader.take_int();
        link.high = reader.take_int();
    }
    if (!fits(shapes[kind], message)) return std::nullopt;
    return message;
}

}  // namespace mutirao::maintenance
