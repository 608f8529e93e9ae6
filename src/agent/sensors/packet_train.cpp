#include "agent/sensors/packet_train.h"

#include "agent/clock.h"

namespace mutirao::agent {
namespace {

constexpr std::size_t least_packets = 4;

/// Where packets are missing they may have crossed the narrowest place or not.
std::span<const PacketArrival> longest_run(std::span<const PacketArrival> arrivals) {
    std::size_t begin = 0, best_begin = 0, best = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
        if (i > 0 && arrivals[i].number != arrivals[i - 1].number + 1) begin = i;
        if (i + 1 - begin <= best) continue;
        best = i + 1 - begin;
        best_begin = begin;
    }
    return arrivals.subspan(best_begin, best);
}

}  // namespace

/// The slope of the line through all arrivals (least squares): time stamps come in batches, which the
/// first and the last one alone would depend on.
std::optional<double> train_bytes_per_us(std::span<const PacketArrival> arrivals,
                                         double packet_bytes) {
    const auto run = longest_run(arrivals);
    const auto counted = run.subspan(run.size() / 4);
    if (counted.size() < least_packets) return std::nullopt;
    const auto count = static_cast<double>(counted.size());
    double mean_number = 0, mean_us = 0;
    const auto time_us = [&](const PacketArrival& each) {
        return static_cast<double>(each.time_ns - counted.front().time_ns) / ns_per_us;
    };
    for (const PacketArrival& each : counted) {
        mean_number += each.number / count;
        mean_us += time_us(each) / count;
    }
    double squares = 0, products = 0;
    for (const PacketArrival& each : counted) {
        squares += (each.number - mean_number) * (each.number - mean_number);
        products += (each.number - mean_number) * (time_us(each) - mean_us);
    }
    if (products <= 0) return std::nullopt;
    return packet_bytes * squares / products;
}

}  // namespace mutirao::agent
