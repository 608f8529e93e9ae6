// The messages of rounds.h as bytes, for drivers that carry them between hosts (of any byte order):
// one encoding per message, so whatever else arrives is junk and is seen to be.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/spanning_tree/rounds_message.h"

namespace mutirao::rounds {

/// Of the longest message that a host sends.
inline constexpr std::size_t most_message_bytes = 60'000;

std::vector<std::byte> encode(const Message& message);

/// Nothing unless `bytes` is what encode() makes of a message that a host may send. It may still
/// name hosts that a smaller network does not have; Rounds leaves those out.
std::optional<Message> decode(std::span<const std::byte> bytes);

}  // namespace mutirao::rounds
