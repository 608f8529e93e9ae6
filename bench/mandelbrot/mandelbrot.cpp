#include "mandelbrot.h"

#include <algorithm>
#include <cstddef>

namespace mandelbrot {
namespace {

/// The square of the plane that the image shows.
constexpr double region_left = -2.25, region_top = -1.5, region_side = 3.0;

std::uint8_t colour_of(double real, double imaginary, int iterations) {
    double x = 0, y = 0;
    for (int done = 0; done < iterations; ++done) {
        const double x2 = x * x, y2 = y * y;
        if (x2 + y2 > 4) return static_cast<std::uint8_t>(1 + done % 255);
        y = 2 * x * y + imaginary;
        x = x2 - y2 + real;
    }
    return 0;
}

std::size_t index(int row, int column, int side) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(side) +
           static_cast<std::size_t>(column);
}

}  // namespace

void compute(const Task& task, const Parameters& parameters, std::span<std::uint8_t> colours) {
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

std::deque<Task> tasks_of(const Parameters& parameters, int side) {
    std::deque<Task> tasks;
    for (int top = 0; top < parameters.points; top += side) {
        for (int left = 0; left < parameters.points; left += side) {
            tasks.push_back({left, top, side});
        }
    }
    return tasks;
}

Image::Image(int points)
    : points_(points), colours_(static_cast<std::size_t>(points) * static_cast<std::size_t>(points)) {}

void Image::place(const Task& task, std::span<const std::uint8_t> colours) {
    for (int row = 0; row < task.side; ++row) {
        std::copy_n(colours.begin() + static_cast<std::ptrdiff_t>(index(row, 0, task.side)),
                    task.side,
                    colours_.begin() +
                        static_cast<std::ptrdiff_t>(index(task.top + row, task.left, points_)));
    }
}

}  // namespace mandelbrot
