// The messages of the spanning tree as bytes, for drivers that carry them between hosts (of any
// byte order). A head of fixed size and the set of hosts; one encoding per message, so whatever
// else arrives is junk and is seen to be.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/spanning_tree/ghs.h"

namespace mutirao::ghs {

/// Of a message without hosts; each 64 host numbers add eight bytes.
inline constexpr std::size_t head_bytes = 29;

std::vector<std::byte> encode(const Message& message);

/// Nothing unless `bytes` is what encode() makes of a message that a host may send.
std::optional<Message> decode(std::span<const std::byte> bytes);

}  // namespace mutirao::ghs
