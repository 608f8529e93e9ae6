// The messages of the spanning tree as bytes, for drivers that carry them between hosts (of any
// byte order). One fixed size, so a receiver can post its buffers in advance; one encoding per
// message, so whatever else arrives is junk and is seen to be.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "core/spanning_tree/ghs.h"

namespace mutirao::ghs {

inline constexpr std::size_t wire_bytes = 26;

std::array<std::byte, wire_bytes> encode(const Message& message);

/// Nothing unless `bytes` is what encode() makes of a message that a host may send.
std::optional<Message> decode(std::span<const std::byte> bytes);

}  // namespace mutirao::ghs
