// Foretells the next measurement of one quantity: every forecaster runs, and the one that was
// nearest so far speaks (Wolski 1998, doi:10.1023/A:1019025230054).
//
// The mean absolute error decides who speaks; the mean squared error is kept beside it and shown.
// A link's measurements have rare, wild outliers, and squared they would choose alone. Errors
// forget with a memory of some 32 measurements, so that another can take over when the link's
// manner changes. Cost: about 1.5 us per measurement, 0.8 KB.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "core/forecast/forecasters.h"
#include "core/forecast/series.h"

namespace mutirao {

struct Forecast {
    double value = 0;
    double error = 0;  ///< mean absolute, as of late; 0 while there is one measurement only
    std::string_view forecaster;
    double root_mean_square_error = 0;  ///< at least `error`, and more the wilder the outliers

    bool operator==(const Forecast&) const = default;
};

/// How one forecaster has done.
struct Standing {
    std::string_view forecaster;
    double forecast = 0;
    double mean_absolute_error = 0;
    double mean_squared_error = 0;
};

class Bank {
  public:
    /// Must be finite.
    void measured(double value);

    /// Nothing before the first measurement.
    std::optional<Forecast> forecast() const;
    /// In the order of the table; empty before the first measurement.
    std::vector<Standing> standings() const;
    const Series& series() const { return series_; }

    bool operator==(const Bank&) const = default;

  private:
    struct Runner {
        ForecasterMemory memory = 0;
        double forecast = 0;
        double mean_absolute_error = 0;
        double mean_squared_error = 0;

        bool operator==(const Runner&) const = default;
    };

    Series series_;
    std::array<Runner, forecaster_count> runners_{};
};

}  // namespace mutirao
