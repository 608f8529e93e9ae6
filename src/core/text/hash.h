// FNV-1a (Fowler, Noll, Vo; RFC 9923): a stable hash, equal on every host, for telling things apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mutirao {

inline std::uint64_t fnv1a(std::span<const std::byte> bytes) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const std::byte byte : bytes) {
        hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211ULL;
    }
    return hash;
}

}  // namespace mutirao
