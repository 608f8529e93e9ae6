#include "agent/key.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "agent/system.h"

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

std::optional<Key> key_from(std::string_view digits) {
    Key key;
    std::size_t read = 0;
    const int failed = sodium_hex2bin(reinterpret_cast<unsigned char*>(key.bytes.data()), key_bytes, digits.data(),
                                      digits.size(), nullptr, &read, nullptr);
    return failed == 0 && read == key_bytes && digits.size() == 2 * key_bytes ? std::optional(key) : std::nullopt;
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

KeyOrReason read_key_file(const std::string& path) {
    const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) return {{}, "cannot be read"};
    struct stat about{};
    if (fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode)) return {{}, "is no file"};
    if (about.st_uid != geteuid()) return {{}, "belongs to another user"};
    if ((about.st_mode & 0777) != 0600) return {{}, "must have mode 600: others might read it"};
    std::array<char, 2 * key_bytes + 2> text{};
    const ssize_t count = read(file.number(), text.data(), text.size());
    std::string_view digits(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (digits.ends_with('\n')) digits.remove_suffix(1);
    if (const auto key = key_from(digits)) return {key, ""};
    return {{}, "holds no key of 64 hexadecimal digits"};
}

}  // namespace mutirao::agent
