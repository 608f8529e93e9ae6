#include "agent/sensors/bandwidth.h"

#include "agent/clock.h"
#include "core/text/bytes.h"

namespace mutirao::agent {
namespace {

constexpr int piece_count = 4;
constexpr std::size_t piece_bytes = 16 * 1024 - frame_overhead_bytes;
static_assert(piece_count * (piece_bytes + frame_overhead_bytes) <= 64 * 1024);
/// A partner that is silent for so long is given up.
constexpr std::int64_t patience_ns = 20 * ns_per_s;

std::vector<std::byte> number(std::uint64_t value, std::size_t width_bytes) {
    ByteWriter writer;
    writer.put(value, width_bytes);
    return std::move(writer).take();
}

}  // namespace

void BandwidthSensor::engage(int partner, bool sending, std::int64_t now_ns) {
    partner_ = partner;
    sending_ = sending;
    until_ns_ = now_ns + patience_ns;
    pieces_ = 0;
}

BandwidthSensor::Output BandwidthSensor::ask(int peer, std::int64_t now_ns) {
    if (busy(now_ns)) return {};
    engage(peer, true, now_ns);
    return {{peer, Kind::bandwidth_ask, {}}};
}

BandwidthSensor::Output BandwidthSensor::on(int peer, const Frame& frame, std::int64_t now_ns) {
    if (frame.head.kind == Kind::bandwidth_ask) {
        const bool refused = busy(now_ns);
        if (!refused) engage(peer, false, now_ns);
        return {{peer, Kind::bandwidth_answer, number(refused ? 0 : 1, 1)}};
    }
    if (!busy(now_ns) || peer != partner_) return {};
    if (frame.head.kind == Kind::bandwidth_answer && sending_) {
        const bool granted = frame.payload.size() == 1 && frame.payload[0] == std::byte{1};
        if (!granted) {
            partner_ = -1;
            return {};
        }
        const std::vector<std::byte> piece(piece_bytes);
        return Output(piece_count, {peer, Kind::bandwidth_data, piece});
    }
    if (frame.head.kind == Kind::bandwidth_data && !sending_)
        return on_data(frame.payload, now_ns);
    if (frame.head.kind == Kind::bandwidth_result && sending_) on_result(frame.payload);
    return {};
}

BandwidthSensor::Output BandwidthSensor::on_data(std::span<const std::byte> payload,
                                                 std::int64_t now_ns) {
    if (payload.size() != piece_bytes) return {};
    if (pieces_++ == 0) first_piece_ns_ = now_ns;
    if (pieces_ < piece_count) return {};
    const int sender = std::exchange(partner_, -1);
    const auto elapsed_ns = static_cast<std::uint64_t>(now_ns - first_piece_ns_);
    return {{sender, Kind::bandwidth_result, number(elapsed_ns, 8)}};
}

void BandwidthSensor::on_result(std::span<const std::byte> payload) {
    ByteReader reader(payload);
    const std::uint64_t elapsed_ns = reader.take(8);
    const int peer = std::exchange(partner_, -1);
    // All pieces in one gulp: faster than can be told.
    if (!reader.ended_well() || elapsed_ns == 0) return;
    const double elapsed_us = static_cast<double>(elapsed_ns) / ns_per_us;
    constexpr double timed_bytes = (piece_count - 1) * (piece_bytes + frame_overhead_bytes);
    result_ = timed_bytes / elapsed_us;
    result_of_ = peer;
    banks_[static_cast<std::size_t>(peer)].measured(*result_);
}

void BandwidthSensor::lost(int peer) {
    if (partner_ == peer) partner_ = -1;
}

std::optional<double> BandwidthSensor::take_result(int peer) {
    if (result_of_ != peer) return std::nullopt;
    result_of_ = -1;
    return std::exchange(result_, std::nullopt);
}

}  // namespace mutirao::agent
