#include "agent/key.h"

#include <sodium.h>
#include <sys/random.h>

namespace mutirao::agent {
namespace {

bool fill_randomly(std::span<std::byte> bytes) {
    return getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
}

const unsigned char* raw(std::span<const std::byte> bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

template <std::size_t size>
std::array<std::byte, size> keyed_hash(const Key& key, std::span<const std::byte> bytes) {
    std::array<std::byte, size> hash;
    crypto_generichash(reinterpret_cast<unsigned char*>(hash.data()), hash.size(), raw(bytes),
                       bytes.size(), raw(key.bytes), key.bytes.size());
    return hash;
}

}  // namespace

std::optional<Key> random_key() {
    Key key;
    return fill_randomly(key.bytes) ? std::optional(key) : std::nullopt;
}

std::optional<std::uint64_t> random_number() {
    std::uint64_t number = 0;
    if (!fill_randomly(std::as_writable_bytes(std::span(&number, 1)))) return std::nullopt;
    return number;
}

Key derived_key(const Key& key, std::span<const std::byte> about) {
    return {keyed_hash<key_bytes>(key, about)};
}

Mac mac_of(const Key& key, std::span<const std::byte> bytes) {
    return keyed_hash<mac_bytes>(key, bytes);
}

bool equal(const Mac& a, std::span<const std::byte> b) {
    return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool read_digits(std::string_view digits, std::span<std::byte> into) {
    std::size_t read = 0;
    return sodium_hex2bin(reinterpret_cast<unsigned char*>(into.data()), into.size(), digits.data(), digits.size(), nullptr,
                          &read, nullptr) == 0 &&
           read == into.size() && digits.size() == 2 * read;
}

}  // namespace mutirao::agent
