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
    void put(std::uint64_t number, std::size_t width_bytes) {
        for (std::size_t i = 0; i < width_bytes; ++i)
            bytes_.push_back(static_cast<std::byte>((number >> (8 * i)) & 0xff));
    }
    void put_double(double value) { put(std::bit_cast<std::uint64_t>(value), sizeof value); }
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
    double take_double() { return std::bit_cast<double>(take(sizeof(double))); }

    std::size_t left() const { return bytes_.size(); }
    bool overrun() const { return overrun_; }
    /// Everything was there and nothing is left.
    bool ended_well() const { return !overrun_ && bytes_.empty(); }

  private:
    std::span<const std::byte> bytes_;
    bool overrun_ = false;
};

}  // namespace mutirao
