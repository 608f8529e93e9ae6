// The computation that all transports share: the Mandelbrot set in a square of points, cut into
// square tasks, as in paper 002 (Kreutz, Cera, Pasin, Righi: Comparativo entre Diferentes Interfaces
// de Comunicação para Programação Paralela). The paper names neither region nor iterations; those
// here are ours.
#pragma once

#include <cstdint>
#include <deque>
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

/// `colours` has a byte for each point of the task, row by row: 0 for those that do not escape.
void compute(const Task& task, const Parameters& parameters, std::span<std::uint8_t> colours);

/// Row by row. `side` divides the points of the image's side.
std::deque<Task> tasks_of(const Parameters& parameters, int side);

class Image {
  public:
    explicit Image(int points);

    void place(const Task& task, std::span<const std::uint8_t> colours);
    int points() const { return points_; }
    std::span<const std::uint8_t> colours() const { return colours_; }

  private:
    int points_;
    std::vector<std::uint8_t> colours_;
};

}  // namespace mandelbrot
