// The newest measurements of one quantity: all that the forecasters look back at. Bounded, since an
// agent keeps one per link.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace mutirao {

class Series {
  public:
    static constexpr int most_kept = 32;

    void add(double value) {
        values_[static_cast<std::size_t>(count_ % most_kept)] = value;
        ++count_;
    }

    /// Measurements ever added.
    std::uint64_t count() const { return count_; }
    /// Measurements that can be looked at.
    int kept() const { return static_cast<int>(std::min<std::uint64_t>(count_, most_kept)); }
    /// age 0: the newest; must be below kept().
    double at(int age) const {
        const std::uint64_t number = count_ - 1 - static_cast<std::uint64_t>(age);
        return values_[static_cast<std::size_t>(number % most_kept)];
    }

    /// Of the measurements of age first_age on, `window` of them or as many as are kept; there
    /// must be one at least.
    double mean(int first_age, int window) const;
    double median(int first_age, int window) const;
    /// Mean without the `share` of the values that are smallest and the same share of the largest.
    double trimmed_mean(int first_age, int window, double share) const;

    bool operator==(const Series&) const = default;

  private:
    std::array<double, most_kept> values_{};
    std::uint64_t count_ = 0;
};

}  // namespace mutirao
