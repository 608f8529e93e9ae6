// Foretelling the next measurement of one quantity from those so far, after the Network Weather Service (Wolski 1998,
// doi:10.1023/A:1019025230054): a series, the ways to foretell, and a bank of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mutirao {

/// The newest measurements of one quantity: all that the forecasters look back at. Bounded, since an
/// agent keeps one per link.
class Series {
  public:
    static constexpr int most_kept = 32;

    void add(double value) {
        std::shift_right(values_.begin(), values_.end(), 1);
        values_.front() = value;
        ++count_;
    }

    /// Measurements ever added.
    std::uint64_t count() const { return count_; }
    /// Measurements that can be looked at.
    int kept() const { return static_cast<int>(std::min<std::uint64_t>(count_, most_kept)); }
    /// age 0: the newest; must be below kept().
    double at(int age) const { return values_[static_cast<std::size_t>(age)]; }

    /// Of the measurements of age first_age on, `window` of them or as many as are kept; there
    /// must be one at least.
    double mean(int first_age, int window) const;
    double median(int first_age, int window) const;
    /// Mean without the quarter of the values that are smallest and the quarter that are largest.
    double trimmed_mean(int first_age, int window) const;

  private:
    std::span<const double> recent(int first_age, int window) const;

    std::array<double, most_kept> values_{};  ///< the newest first
    std::uint64_t count_ = 0;
};

// Ways to foretell the next measurement from those so far. None is best for all links, so all run and a Bank
// lets the one with the lowest error speak.

/// What a forecaster carries from one measurement to the next beside the series.
using ForecasterMemory = double;

/// Called once after each measurement, which is then the newest of the series; returns what the
/// next one should be. The memory is 0 at first.
using Foretell = double (*)(const Series& series, double parameter, ForecasterMemory& memory);

struct Forecaster {
    std::string_view name;
    Foretell foretell;
    double parameter;
};

inline constexpr std::size_t forecaster_count = 16;

/// The table. Of two with equal errors the earlier one speaks.
std::span<const Forecaster, forecaster_count> forecasters();

struct Forecast {
    double value = 0;
    double error = 0;  ///< mean absolute, as of late; 0 while there is one measurement only
    std::string_view forecaster;
    double root_mean_square_error = 0;  ///< at least `error`, and more the wilder the outliers
};

/// Foretells the next measurement of one quantity: every forecaster runs, and the one that was
/// nearest so far speaks.
///
/// The mean absolute error decides who speaks; the mean squared error is kept beside it and shown.
/// A link's measurements have rare, wild outliers, and squared they would choose alone. Errors
/// forget with a memory of some 32 measurements, so that another can take over when the link's
/// manner changes. Cost: about 1.5 us per measurement, 0.8 KB.
class Bank {
  public:
    /// Must be finite.
    void measured(double value);

    /// Nothing before the first measurement.
    std::optional<Forecast> forecast() const;
    const Series& series() const { return series_; }

  private:
    struct Runner {
        ForecasterMemory memory = 0;
        double forecast = 0;
        double mean_absolute_error = 0;
        double mean_squared_error = 0;
    };

    Series series_;
    std::array<Runner, forecaster_count> runners_{};
};

}  // namespace mutirao
