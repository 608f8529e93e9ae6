// The computation that all transports share: the Mandelbrot set in a square of points, cut into
// square tasks, as in paper 002 (Kreutz, Cera, Pasin, Righi: Comparativo entre Diferentes Interfaces
// de Comunicação para Programação Paralela). The paper names neither region nor iterations; those
// here are ours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "message.h"

namespace mandelbrot {

/// The square of the plane that the image shows.
inline constexpr double region_left = -2.25, region_top = -1.5, region_side = 3.0;

inline std::uint8_t colour_of(double real, double imaginary, int iterations) {
    double x = 0, y = 0;
    for (int done = 0; done < iterations; ++done) {
        const double x2 = x * x, y2 = y * y;
        if (x2 + y2 > 4) return static_cast<std::uint8_t>(1 + done % 255);
        y = 2 * x * y + imaginary;
        x = x2 - y2 + real;
    }
    return 0;
}

inline std::size_t index(int row, int column, int side) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(side) +
           static_cast<std::size_t>(column);
}

/// `colours` has a byte for each point of the task, row by row: 0 for those that do not escape.
inline void compute(const Task& task, const Parameters& parameters, std::span<std::uint8_t> colours) {
    const double step = region_side / parameters.points;
    for (int row = 0; row < task.side; ++row) {
        const double imaginary = region_top + (task.top + row) * step;
        for (int column = 0; column < task.side; ++column) {
            const double real = region_left + (task.left + column) * step;
            colours[index(row, column, task.side)] =
                colour_of(real, imaginary, parameters.iterations);
        }
    }
}

/// Row by row. `side` divides the points of the image's side.
inline std::deque<Task> tasks_of(const Parameters& parameters, int side) {
    std::deque<Task> tasks;
    for (int top = 0; top < parameters.points; top += side) {
        for (int left = 0; left < parameters.points; left += side) {
            tasks.push_back({left, top, side});
        }
    }
    return tasks;
}

class Image {
  public:
    explicit Image(int points)
        : points_(points), colours_(static_cast<std::size_t>(points) * static_cast<std::size_t>(points)) {}

    void place(const Task& task, std::span<const std::uint8_t> colours) {
        for (int row = 0; row < task.side; ++row) {
            std::copy_n(colours.begin() + static_cast<std::ptrdiff_t>(index(row, 0, task.side)), task.side,
                        colours_.begin() + static_cast<std::ptrdiff_t>(index(task.top + row, task.left, points_)));
        }
    }
    int points() const { return points_; }
    std::span<const std::uint8_t> colours() const { return colours_; }

  private:
    int points_;
    std::vector<std::uint8_t> colours_;
};

}  // namespace mandelbrot
