// Values as little endian bytes, for messages between hosts of any byte order. A format is written once, as a
// template fields(codec, value) that a writer and a reader go through alike: codec.number(echo.probe, 4) puts
// four bytes, or takes them. to_bytes(echo) writes it; from_bytes<Echo>(bytes) reads it, or gives nothing: what
// ends early, goes on after its end or does not fulfil what fields() requires is junk.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mutirao {

/// What fields() goes through: what is written stays as it is.
template <class Codec, class Value>
using Coded = std::conditional_t<Codec::reads, Value, const Value>;

class ByteWriter {
  public:
    static constexpr bool reads = false;

    void put(std::uint64_t number, std::size_t width_bytes) {
        for (std::size_t i = 0; i < width_bytes; ++i)
            bytes_.push_back(static_cast<std::byte>((number >> (8 * i)) & 0xff));
    }
    void put_bytes(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    std::vector<std::byte> take() && { return std::move(bytes_); }

    void number(std::integral auto value, std::size_t width_bytes) {
        put(static_cast<std::uint64_t>(value), width_bytes);
    }
    /// + 0.0: a negative zero is the same value and must be the same bytes.
    void real(double value) { put(std::bit_cast<std::uint64_t>(value + 0.0), sizeof value); }
    void truth(bool value) { put(value ? 1 : 0, 1); }
    /// An enumerator in one byte, up to the last of them.
    template <class Enum>
    void choice(Enum value, Enum) {
        put(static_cast<std::uint64_t>(value), 1);
    }
    /// What is always there: another value is junk.
    void constant(std::uint64_t value, std::size_t width_bytes) { put(value, width_bytes); }
    /// Its length (2 bytes) and what fits.
    void text(std::string_view value, std::size_t most_bytes) {
        const std::string_view kept = value.substr(0, most_bytes);
        put(kept.size(), 2);
        put_bytes(std::as_bytes(std::span(kept)));
    }
    /// So many that both ends know it.
    void items(const auto& values, std::size_t, auto&& each) {
        for (const auto& value : values) each(value);
    }
    /// Their number, and the items, of which each takes a byte at least.
    void list(const auto& values, std::size_t count_bytes, std::size_t, auto&& each) {
        put(values.size(), count_bytes);
        items(values, values.size(), each);
    }
    /// What travels as something else: `to` makes that, `from` the value, or nothing where it is none.
    void as(const auto& value, auto&& to, auto&&, auto&& other_fields) {
        const auto other = to(value);
        other_fields(other);
    }
    /// A condition, or a predicate and its arguments, for what is read.
    void require(const auto&...) {}

  private:
    std::vector<std::byte> bytes_;
};

/// After the first thing that is missing or wrong it gives zeros: ask ended_well() before believing anything.
class ByteReader {
  public:
    static constexpr bool reads = true;

    explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::uint64_t take(std::size_t width_bytes) {
        if (!require(width_bytes <= left())) return 0;
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < width_bytes; ++i)
            number |= std::to_integer<std::uint64_t>(bytes_[i]) << (8 * i);
        bytes_ = bytes_.subspan(width_bytes);
        return number;
    }
    std::span<const std::byte> rest() const { return bytes_; }
    std::size_t left() const { return bytes_.size(); }
    /// Everything was there and right, and nothing is left.
    bool ended_well() const { return good_ && bytes_.empty(); }

    template <std::integral Number>
    void number(Number& value, std::size_t width_bytes) {
        value = static_cast<Number>(take(width_bytes));
    }
    /// A negative zero, which is never written, comes back as not a number.
    void real(double& value) {
        const std::uint64_t bits = take(sizeof value);
        value = std::bit_cast<double>(bits == std::uint64_t{1} << 63 ? ~std::uint64_t{0} : bits);
    }
    void truth(bool& value) {
        const std::uint64_t number = take(1);
        value = require(number <= 1) && number == 1;
    }
    template <class Enum>
    void choice(Enum& value, Enum last) {
        const std::uint64_t number = take(1);
        value = static_cast<Enum>(require(number <= static_cast<std::uint64_t>(last)) ? number : 0);
    }
    void constant(std::uint64_t value, std::size_t width_bytes) { require(take(width_bytes) == value); }
    void text(std::string& value, std::size_t most_bytes) {
        const std::uint64_t length = take(2);
        if (!require(length <= most_bytes && length <= left())) return;
        value.assign(reinterpret_cast<const char*>(bytes_.data()), length);
        bytes_ = bytes_.subspan(length);
    }
    void items(auto& values, std::size_t count, auto&& each) {
        while (good_ && values.size() < count) each(values.emplace_back());
    }
    /// Claims no more than what is left.
    void list(auto& values, std::size_t count_bytes, std::size_t most, auto&& each) {
        const std::uint64_t count = take(count_bytes);
        if (require(count <= most && count <= left())) items(values, count, each);
    }
    void as(auto& value, auto&& to, auto&& from, auto&& other_fields) {
        std::remove_cvref_t<decltype(to(value))> other{};
        other_fields(other);
        if (!good_) return;
        auto made = from(std::move(other));
        if (require(made.has_value())) value = *std::move(made);
    }
    bool require(bool holds) {
        good_ = good_ && holds;
        if (!good_) bytes_ = {};
        return good_;
    }
    template <class... Values>
    void require(std::predicate<const Values&...> auto&& holds, const Values&... values) {
        if (good_) require(holds(values...));
    }

  private:
    std::span<const std::byte> bytes_;
    bool good_ = true;
};

/// `known`: what fields() must know besides, to write and to read.
template <class Value, class... Known>
std::vector<std::byte> to_bytes(const Value& value, const Known&... known) {
    ByteWriter writer;
    fields(writer, value, known...);
    return std::move(writer).take();
}

template <class Value, class... Known>
std::optional<Value> from_bytes(std::span<const std::byte> bytes, const Known&... known) {
    ByteReader reader(bytes);
    Value value{};
    fields(reader, value, known...);
    return reader.ended_well() ? std::optional(std::move(value)) : std::nullopt;
}

/// FNV-1a (Fowler, Noll, Vo; RFC 9923): a stable hash, equal on every host, for telling things apart.
inline std::uint64_t fnv1a(std::span<const std::byte> bytes) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const std::byte byte : bytes) {
        hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211ULL;
    }
    return hash;
}

}  // namespace mutirao
