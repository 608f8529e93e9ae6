// Layout, all little endian: kind (1 byte), state (1), level (4), hosts (4), weight as IEEE 754
// bits (8), its low end (4), its high end (4), whether it is a last resort (1), number of words of
// the set of members (2), its words (8 each). Fields that a kind does not use hold their defaults.
#include "core/spanning_tree/wire.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/text/bytes.h"

namespace mutirao::ghs {
namespace {

/// A fragment of level L holds at least 2^L hosts, and hosts are numbered by int.
constexpr int highest_level = 30;

bool is_link(const Weight& weight) {
    return std::isfinite(weight.value) && weight.low >= 0 && weight.low < weight.high;
}

/// What a kind may carry beside its defaults.
struct Shape {
    int least_level, greatest_level;
    bool has_link, may_be_infinite, has_state;
    int least_hosts;  ///< 0: carries none
    bool has_members;
};

constexpr std::array<Shape, 8> shapes = {{
    {0, highest_level, false, false, false, 0, true},  // connect
    {1, highest_level, true, false, true, 0, true},    // initiate
    {1, highest_level, true, false, false, 0, false},  // test
    {0, 0, false, false, false, 0, false},             // accept
    {0, 0, false, false, false, 0, true},              // reject
    {0, 0, true, true, false, 0, true},                // report
    {0, 0, false, false, false, 0, true},              // change_root
    {0, 0, false, false, false, 2, false},             // finish
}};

bool fits(const Shape& shape, const Message& message) {
    if (message.level < shape.least_level || message.level > shape.greatest_level) return false;
    const bool link_fits =
        shape.has_link ? is_link(message.fragment) ||
                             (shape.may_be_infinite && message.fragment == Weight::infinite())
                       : message.fragment == Weight{};
    const bool state_fits =
        shape.has_state ? message.state == State::find || message.state == State::found
                        : message.state == State::sleeping;
    const bool hosts_fit =
        shape.least_hosts > 0 ? message.hosts >= shape.least_hosts : message.hosts == 0;
    const bool members_fit = shape.has_members != message.members.empty();
    return link_fits && state_fits && hosts_fit && members_fit;
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
    const auto words = message.members.words();
    ByteWriter writer(head_bytes + 8 * words.size());
    writer.put(static_cast<std::uint64_t>(message.kind), 1);
    writer.put(static_cast<std::uint64_t>(message.state), 1);
    writer.put_int(message.level);
    writer.put_int(message.hosts);
    writer.put_double(message.fragment.value);
    writer.put_int(message.fragment.low);
    writer.put_int(message.fragment.high);
    writer.put(message.fragment.last_resort ? 1 : 0, 1);
    writer.put(words.size(), 2);
    for (const std::uint64_t word : words) writer.put(word, 8);
    return std::move(writer).take();
}

namespace {

/// The rest of the bytes as a set of hosts; nothing if they are more, or fewer, than that.
std::optional<HostSet> take_hosts(ByteReader& reader) {
    const auto count = static_cast<std::size_t>(reader.take(2));
    if (reader.left() != 8 * count) return std::nullopt;
    std::vector<std::uint64_t> words;
    words.reserve(count);
    while (reader.left() > 0) words.push_back(reader.take(8));
    return HostSet::from_words(std::move(words));
}

}  // namespace

std::optional<Message> decode(std::span<const std::byte> bytes) {
    if (bytes.size() < head_bytes) return std::nullopt;
    ByteReader reader(bytes);
    const std::uint64_t kind = reader.take(1);
    const std::uint64_t state = reader.take(1);
    if (kind >= shapes.size() || state > static_cast<std::uint64_t>(State::found))
        return std::nullopt;
    Message message;
    message.kind = static_cast<Kind>(kind);
    message.state = static_cast<State>(state);
    message.level = reader.take_int();
    message.hosts = reader.take_int();
    message.fragment.value = reader.take_double();
    message.fragment.low = reader.take_int();
    message.fragment.high = reader.take_int();
    const std::uint64_t last_resort = reader.take(1);
    message.fragment.last_resort = last_resort == 1;
    std::optional<HostSet> members = take_hosts(reader);
    if (!members || last_resort > 1) return std::nullopt;
    message.members = std::move(*members);
    if (!fits(shapes[kind], message)) return std::nullopt;
    return message;
}

}  // namespace mutirao::ghs
