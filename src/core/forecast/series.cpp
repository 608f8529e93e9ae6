#include "core/forecast/series.h"

#include <numeric>
#include <span>

#include "core/text/invariant.h"

namespace mutirao {
namespace {

using Buffer = std::array<double, Series::most_kept>;

std::span<double> copied(const Series& series, int first_age, int window, Buffer& buffer) {
    const int count = std::min(window, series.kept() - first_age);
    if (count < 1) broken_invariant("measurements in a window", count, 1);
    for (int i = 0; i < count; ++i) {
        buffer[static_cast<std::size_t>(i)] = series.at(first_age + i);
    }
    return std::span(buffer).first(static_cast<std::size_t>(count));
}

double mean_of(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double Series::mean(int first_age, int window) const {
    Buffer buffer;
    return mean_of(copied(*this, first_age, window, buffer));
}

double Series::median(int first_age, int window) const {
    Buffer buffer;
    const std::span<double> values = copied(*this, first_age, window, buffer);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double Series::trimmed_mean(int first_age, int window, double share) const {
    Buffer buffer;
    const std::span<double> values = copied(*this, first_age, window, buffer);
    std::sort(values.begin(), values.end());
    const auto cut = static_cast<std::size_t>(share * static_cast<double>(values.size()));
    return mean_of(values.subspan(cut, values.size() - 2 * cut));
}

}  // namespace mutirao
