// The messages of the spanning tree as bytes, for drivers that carry them between hosts (of any byte
// order): one encoding per message, so whatever else arrives is junk and is seen to be. decode() gives
// nothing unless its bytes are what encode() makes of a message that a host may send.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/spanning_tree/rounds_message.h"

namespace mutirao::ghs {

std::vector<std::byte> encode(const Message& message);
std::optional<Message> decode(std::span<const std::byte> bytes);

}  // namespace mutirao::ghs

namespace mutirao::maintenance {

std::vector<std::byte> encode(const Message& message);
std::optional<Message> decode(std::span<const std::byte> bytes);

}  // namespace mutirao::maintenance

namespace mutirao::rounds {

/// Of the longest message that a host sends.
inline constexpr std::size_t most_message_bytes = 60'000;

std::vector<std::byte> encode(const Message& message);
/// It may still name hosts that a smaller network does not have; Rounds leaves those out.
std::optional<Message> decode(std::span<const std::byte> bytes);

}  // namespace mutirao::rounds
