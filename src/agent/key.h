// The secret that the agents of one job share, and the keyed hash (BLAKE2b, by libsodium) with which
// frames prove that their sender holds it. A job's key travels over MPI at start; a daemon reads its
// own from a file that nobody else may read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mutirao::agent {

inline constexpr std::size_t key_bytes = 32;
inline constexpr std::size_t mac_bytes = 16;

/// A plain value, so that MPI can carry it.
struct Key {
    std::array<std::byte, key_bytes> bytes{};

    bool operator==(const Key&) const = default;
};

using Mac = std::array<std::byte, mac_bytes>;

/// From the kernel's random numbers. Nothing if there are none to be had.
std::optional<Key> random_key();
std::optional<std::uint64_t> random_number();

/// Another key made from this one, the same on all who know `key` and `about`.
Key derived_key(const Key& key, std::span<const std::byte> about);

Mac mac_of(const Key& key, std::span<const std::byte> bytes);
/// Takes the same time wherever the difference is.
bool equal(const Mac& a, std::span<const std::byte> b);

/// From hexadecimal digits, two a byte; false, and nothing is known of `into`: there are more or fewer, or it is something else.
bool read_digits(std::string_view digits, std::span<std::byte> into);

}  // namespace mutirao::agent
