// The one structure that travels, in either direction and on every transport: a header of 28 bytes
// and a byte for each point of a task, so 128, 653, 2528 and 10028 bytes for sides of 10, 25, 50 and
// 100, as in paper 002. All processes run the same program on like machines: no byte order is set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace mandelbrot {

/// A square of `side` times `side` points within the image.
struct Task {
    std::int32_t left = 0;
    std::int32_t top = 0;
    std::int32_t side = 0;
};

struct Parameters {
    std::int32_t points = 800;  ///< of each side of the image
    std::int32_t iterations = 1000;
};

enum class Kind : std::int32_t {
    ask,   ///< worker: I am there; points mean nothing
    task,  ///< master: compute this
    done,  ///< worker: the points of my task; another, please
    stop,  ///< master: end
    fall,  ///< master: take this task, and kill yourself instead of computing it (a test)
};

struct Header {
    Kind kind = Kind::ask;
    Task task;
    Parameters parameters;
    std::uint32_t computed_us = 0;  ///< by this worker, so far
};
static_assert(sizeof(Header) == 28);

class Message {
  public:
    /// For tasks of this side.
    explicit Message(int side)
        : bytes_(sizeof(Header) + static_cast<std::size_t>(side) * static_cast<std::size_t>(side)) {}

    Header header() const {
        Header header;
        std::memcpy(&header, bytes_.data(), sizeof header);
        return header;
    }
    void set_header(const Header& header) { std::memcpy(bytes_.data(), &header, sizeof header); }

    std::span<std::uint8_t> points() { return std::span(bytes_).subspan(sizeof(Header)); }
    std::span<std::uint8_t> bytes() { return bytes_; }
    std::span<const std::uint8_t> bytes() const { return bytes_; }

  private:
    std::vector<std::uint8_t> bytes_;
};

}  // namespace mandelbrot
