// Plain values as little endian bytes, for messages between hosts of any byte order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mutirao {

class ByteWriter {
  public:
    explicit ByteWriter(std::size_t expected_bytes = 0) { bytes_.reserve(expected_bytes); }

    void put(std::uint64_t number, std::size_t width_bytes) {
        for (std::size_t i = 0; i < width_bytes; ++i)
            bytes_.push_back(static_cast<std::byte>((number >> (8 * i)) & 0xff));
    }
    void put_int(int number) { put(static_cast<std::uint32_t>(number), 4); }
    /// + 0.0: a negative zero is the same value and must be the same bytes.
    void put_double(double value) { put(std::bit_cast<std::uint64_t>(value + 0.0), sizeof value); }
    void put_bytes(std::span<const std::byte> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    std::vector<std::byte> take() && { return std::move(bytes_); }

  private:
    std::vector<std::byte> bytes_;
};

/// Past the end it gives zeros and remembers: ask ended_well() before believing anything.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::uint64_t take(std::size_t width_bytes) {
        if (bytes_.size() < width_bytes) {
            overrun_ = true;
            bytes_ = {};
            return 0;
        }
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < width_bytes; ++i)
            number |= std::to_integer<std::uint64_t>(bytes_[i]) << (8 * i);
        bytes_ = bytes_.subspan(width_bytes);
        return number;
    }
    int take_int() {
        return static_cast<int>(static_cast<std::int32_t>(static_cast<std::uint32_t>(take(4))));
    }
    /// A negative zero, which is never written, comes back as not a number.
    double take_double() {
        const auto value = std::bit_cast<double>(take(sizeof(double)));
        return std::bit_cast<std::uint64_t>(value) == std::uint64_t{1} << 63
                   ? std::bit_cast<double>(~std::uint64_t{0})
                   : value;
    }

    std::span<const std::byte> rest() const { return bytes_; }
    std::size_t left() const { return bytes_.size(); }
    bool overrun() const { return overrun_; }
    /// Everything was there and nothing is left.
    bool ended_well() const { return !overrun_ && bytes_.empty(); }

  private:
    std::span<const std::byte> bytes_;
    bool overrun_ = false;
};

}  // namespace mutirao
