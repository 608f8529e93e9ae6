// The messages of one round of tree maintenance as bytes, for drivers that carry them between
// hosts (of any byte order): one encoding per message, so whatever else arrives is junk and is seen
// to be.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/spanning_tree/maintenance.h"

namespace mutirao::maintenance {

/// Of a message without links and merging.
inline constexpr std::size_t head_bytes = 7;
/// For each link that a message tells.
inline constexpr std::size_t link_bytes = 16;

std::vector<std::byte> encode(const Message& message);

/// Nothing unless `bytes` is what encode() makes of a message that a host may send.
std::optional<Message> decode(std::span<const std::byte> bytes);

}  // namespace mutirao::maintenance
