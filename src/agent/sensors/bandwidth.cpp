#include "agent/sensors/bandwidth.h"

#include <algorithm>
#include <utility>

#include "agent/clock.h"
#include "core/text/bytes.h"

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

/// With its heads a packet stays below 1280 bytes, which every path carries whole.
constexpr std::size_t payload_bytes = 1200;
constexpr double packet_bytes = payload_bytes + frame_overhead_bytes + 28;  ///< with UDP and IP
constexpr int first_train = 8;
constexpr int least_train = 16;
/// Fit a socket's usual buffers, and are some 100 KiB.
constexpr int longest_train = 80;
/// For so long a train may keep a link busy.
constexpr double train_us = 50'000;
/// A partner that is silent for so long is given up.
constexpr std::int64_t patience_ns = 10 * ns_per_s;
/// A train whose last packet is lost has ended after such a gap.
constexpr std::int64_t gap_ns = ns_per_s / 2;

std::vector<std::byte> number(std::uint64_t value, std::size_t width_bytes) {
    ByteWriter writer;
    writer.put(value, width_bytes);
    return std::move(writer).take();
}

BandwidthSensor::Output train(int to, int packets) {
    BandwidthSensor::Output out;
    for (int i = 0; i < packets; ++i) {
        std::vector<std::byte> payload = number(static_cast<std::uint64_t>(i), 2);
        payload.resize(payload_bytes);
        out.push_back({to, Kind::bandwidth_data, std::move(payload)});
    }
    return out;
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

void BandwidthSensor::engage(int partner, Part part, std::int64_t now_ns) {
    partner_ = partner;
    part_ = part;
    until_ns_ = now_ns + patience_ns;
    arrivals_.clear();
}

void BandwidthSensor::end(std::optional<double> bytes_per_us, bool refused) {
    const int peer = std::exchange(partner_, -1);
    if (std::exchange(part_, Part::none) == Part::receiving) return;
    ended_ = Ended{peer, bytes_per_us, refused};
    if (bytes_per_us) banks_[static_cast<std::size_t>(peer)].measured(*bytes_per_us);
}

BandwidthSensor::Output BandwidthSensor::ask(int peer, std::int64_t now_ns) {
    if (part_ != Part::none) return {};
    engage(peer, Part::asking, now_ns);
    packets_ = first_train;
    return {{peer, Kind::bandwidth_ask, number(first_train, 2)}};
}

BandwidthSensor::Output BandwidthSensor::on(int peer, const Frame& frame, std::int64_t now_ns) {
    if (frame.head.kind == Kind::bandwidth_ask) return on_ask(peer, frame, now_ns);
    if (peer != partner_) return {};
    if (frame.head.kind == Kind::bandwidth_answer && part_ == Part::asking) {
        const bool granted = frame.payload.size() == 1 && frame.payload[0] == std::byte{1};
        if (!granted) {
            end(std::nullopt, true);
            return {};
        }
        engage(peer, Part::sending, now_ns);
        return train(peer, packets_);
    }
    if (frame.head.kind == Kind::bandwidth_result && part_ == Part::sending)
        return on_result(frame.payload, now_ns);
    return {};
}

/// The second train's question may overtake nothing, so whoever received the first is free by then.
BandwidthSensor::Output BandwidthSensor::on_ask(int peer, const Frame& frame,
                                                std::int64_t now_ns) {
    ByteReader reader(frame.payload);
    const auto packets = static_cast<int>(reader.take(2));
    const bool good = reader.ended_well() && packets > 0 && packets <= longest_train;
    const bool granted = good && part_ == Part::none;
    if (granted) {
        engage(peer, Part::receiving, now_ns);
        packets_ = packets;
    }
    return {{peer, Kind::bandwidth_answer, number(granted ? 1 : 0, 1)}};
}

BandwidthSensor::Output BandwidthSensor::on_datagram(int peer, std::span<const std::byte> payload,
                                                     std::int64_t arrived_ns) {
    if (peer != partner_ || part_ != Part::receiving || payload.size() != payload_bytes) return {};
    const auto packet = static_cast<int>(ByteReader(payload).take(2));
    if (packet >= packets_) return {};
    arrivals_.push_back({packet, arrived_ns});
    until_ns_ = arrived_ns + gap_ns;
    return packet + 1 == packets_ ? report() : Output{};
}

BandwidthSensor::Output BandwidthSensor::report() {
    const double rate = train_bytes_per_us(arrivals_, packet_bytes).value_or(0);
    ByteWriter writer;
    writer.real(rate);
    Output out{{partner_, Kind::bandwidth_result, std::move(writer).take()}};
    end(std::nullopt);
    return out;
}

BandwidthSensor::Output BandwidthSensor::on_result(std::span<const std::byte> payload,
                                                   std::int64_t now_ns) {
    ByteReader reader(payload);
    double rate = 0;
    reader.real(rate);
    if (!reader.ended_well() || !(rate > 0)) {
        end(std::nullopt);
        return {};
    }
    if (packets_ > first_train) {
        end(rate);
        return {};
    }
    engage(partner_, Part::asking, now_ns);
    packets_ = static_cast<int>(std::clamp<double>(rate * train_us / packet_bytes, least_train,
                                                   longest_train));
    return {{partner_, Kind::bandwidth_ask, number(static_cast<std::uint64_t>(packets_), 2)}};
}

BandwidthSensor::Output BandwidthSensor::advance(std::int64_t now_ns) {
    if (part_ == Part::none || now_ns < until_ns_) return {};
    if (part_ == Part::receiving) return report();
    end(std::nullopt);
    return {};
}

std::int64_t BandwidthSensor::next_ns() const {
    return part_ == Part::none ? never_ns : until_ns_;
}

void BandwidthSensor::lost(int peer) {
    if (partner_ == peer) end(std::nullopt);
}

}  // namespace mutirao::agent
