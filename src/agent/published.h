// What an agent knows of the whole network, as bytes for the shared memory.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

struct Published {
    NetworkView view;
    Version version;

    bool operator==(const Published&) const = default;
};

std::vector<std::byte> encode(const NetworkView& view, const Version& version);
/// Nothing unless encode() made it of views of so many hosts.
std::optional<Published> decode_published(std::span<const std::byte> bytes, int host_count);
/// More than encode() ever makes.
std::size_t most_published_bytes(int host_count);

}  // namespace mutirao::agent
