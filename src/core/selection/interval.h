// What samples of a time say: a median, and between which values it lies.
#pragma once

#include <cstddef>
#include <vector>

namespace mutirao {

struct Interval {
    double low = 0;
    double median = 0;
    double high = 0;

    bool operator==(const Interval&) const = default;
};

/// The interval between two order statistics that holds the median with at least 98%; all of the samples
/// where they are too few for that (Hunold and Carpen-Amarie 2016, doi:10.1109/TPDS.2016.2539167, on how far
/// from normal the times of collectives are). Empty: all 0.
Interval median_interval(std::vector<double> samples);

/// 0 of none.
double median_of(std::vector<double> samples);

/// How far samples scatter about their median, as a standard deviation of what is normal, from the median of
/// the distances: a few outliers do not move it. 0 of fewer than two.
double scatter_of(const std::vector<double>& samples);

}  // namespace mutirao
