#include "agent/sensors/bandwidth.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "agent/system.h"
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
/// A host that computes sends slowly itself. So the fastest train counts, and another one is to come near it.
constexpr int most_trains = 5;
bool are_alike(double one, double other) { return 1.25 * std::min(one, other) >= std::max(one, other); }
/// For so long a train may keep a link busy.
constexpr double train_us = 50'000;
/// A partner that is silent for so long is given up.
constexpr std::int64_t patience_ns = 10 * ns_per_s;
/// A train whose last packet is lost has ended after such a gap.
constexpr std::int64_t gap_ns = ns_per_s / 2;

struct Packet {
    int number = 0, packets = 0;  ///< which of how many
};
template <class Codec>
void fields(Codec& codec, Coded<Codec, Packet>& packet) {
    codec.number(packet.number, 2);
    codec.number(packet.packets, 2);
    codec.require(packet.number < packet.packets && packet.packets <= longest_train);
}
constexpr std::size_t packet_fields_bytes = 4;

struct Result {
    int packets = 0;          ///< of the train
    bool refused = false;
    double bytes_per_us = 0;  ///< 0: too little arrived
};
template <class Codec>
void fields(Codec& codec, Coded<Codec, Result>& result) {
    codec.number(result.packets, 2);
    codec.truth(result.refused);
    codec.real(result.bytes_per_us);
}

BandwidthSensor::Output train(int to, int packets) {
    BandwidthSensor::Output out;
    for (int i = 0; i < packets; ++i) {
        std::vector<std::byte> payload = to_bytes(Packet{i, packets});
        payload.resize(payload_bytes);
        out.push_back({to, Kind::bandwidth_data, std::move(payload)});
    }
    return out;
}

/// By the slope of the line through all of them (least squares): time stamps come in batches, which the first and the
/// last one alone would depend on.
std::optional<double> packets_per_us(std::span<const PacketArrival> counted) {
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
    return products > 0 ? std::optional(squares / products) : std::nullopt;
}

/// By the median time that a sixth of them takes, if that is more than come at once. A host without a processor for a
/// while makes a gap or two, and with these the whole train would be as slow as over a link a hundred times slower.
std::optional<double> packets_per_us_but_for_gaps(std::span<const PacketArrival> counted) {
    constexpr std::size_t longest_batch = 8;
    const std::size_t apart = counted.size() / 6;
    if (apart < longest_batch) return std::nullopt;
    std::vector<std::int64_t> times_ns;
    for (std::size_t i = apart; i < counted.size(); ++i)
        times_ns.push_back(counted[i].time_ns - counted[i - apart].time_ns);
    const auto median = times_ns.begin() + static_cast<std::ptrdiff_t>(times_ns.size() / 2);
    std::ranges::nth_element(times_ns, median);
    if (*median <= 0) return std::nullopt;
    return static_cast<double>(apart) * ns_per_us / static_cast<double>(*median);
}

}  // namespace

/// The faster of two estimates: nothing makes a train faster than its link.
std::optional<double> train_bytes_per_us(std::span<const PacketArrival> arrivals,
                                         double packet_bytes) {
    const auto run = longest_run(arrivals);
    const auto counted = run.subspan(run.size() / 4);
    if (counted.size() < least_packets) return std::nullopt;
    const std::optional<double> rate = std::max(packets_per_us(counted), packets_per_us_but_for_gaps(counted));
    return rate ? std::optional(packet_bytes * *rate) : std::nullopt;
}

void BandwidthSensor::engage(int partner, Part part, int packets, std::int64_t now_ns) {
    partner_ = partner;
    part_ = part;
    packets_ = packets;
    until_ns_ = now_ns + patience_ns;
    arrivals_.clear();
}

void BandwidthSensor::end(std::optional<double> bytes_per_us, bool refused) {
    const int peer = std::exchange(partner_, -1);
    if (std::exchange(part_, Part::none) == Part::sending) ended_ = Ended{peer, bytes_per_us, refused};
}

BandwidthSensor::Output BandwidthSensor::measure(int peer, std::int64_t now_ns) {
    if (busy()) return {};
    fastest_bytes_per_us_ = 0;
    trains_left_ = most_trains;
    return next_train(peer, first_train, now_ns);
}

/// Only a train's first packet begins to be received: what comes after a train was reported is late.
BandwidthSensor::Output BandwidthSensor::on_datagram(int peer, std::span<const std::byte> payload,
                                                     std::int64_t arrived_ns) {
    if (payload.size() != payload_bytes) return {};
    const auto packet = from_bytes<Packet>(payload.first(packet_fields_bytes));
    if (!packet) return {};
    if (packet->number == 0) {
        if (busy()) return {{peer, Kind::bandwidth_result, to_bytes(Result{packet->packets, true, 0})}};
        engage(peer, Part::receiving, packet->packets, arrived_ns);
    }
    if (peer != partner_ || part_ != Part::receiving || packet->packets != packets_) return {};
    arrivals_.push_back({packet->number, arrived_ns});
    until_ns_ = arrived_ns + gap_ns;
    return packet->number + 1 == packets_ ? report() : Output{};
}

BandwidthSensor::Output BandwidthSensor::report() {
    const Result result{packets_, false, train_bytes_per_us(arrivals_, packet_bytes).value_or(0)};
    Output out{{partner_, Kind::bandwidth_result, to_bytes(result)}};
    end(std::nullopt);
    return out;
}

BandwidthSensor::Output BandwidthSensor::on_result(int peer, std::span<const std::byte> payload,
                                                   std::int64_t now_ns) {
    const auto result = from_bytes<Result>(payload);
    if (!result || peer != partner_ || part_ != Part::sending || result->packets != packets_) return {};
    const double rate = result->bytes_per_us;
    const bool is_first = packets_ == first_train;
    const bool is_confirmed = !is_first && (are_alike(rate, fastest_bytes_per_us_) ||
                                            (packets_ < longest_train && are_alike(rate, first_bytes_per_us_)));
    (is_first ? first_bytes_per_us_ : fastest_bytes_per_us_) = std::max(fastest_bytes_per_us_, rate);
    if (result->refused || !(rate > 0) || is_confirmed || trains_left_ == 0) {
        const bool is_known = fastest_bytes_per_us_ > 0;
        end(is_known ? std::optional(fastest_bytes_per_us_) : std::nullopt, result->refused && !is_known);
        return {};
    }
    const double known = is_first ? first_bytes_per_us_ : fastest_bytes_per_us_;
    const double affordable = std::clamp<double>(known * train_us / packet_bytes, least_train, longest_train);
    return next_train(peer, static_cast<int>(affordable), now_ns);
}

BandwidthSensor::Output BandwidthSensor::next_train(int peer, int packets, std::int64_t now_ns) {
    --trains_left_;
    engage(peer, Part::sending, packets, now_ns);
    return train(peer, packets);
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

namespace {

constexpr std::int64_t turn_ns = ns_per_s / 4;
constexpr std::int64_t first_retry_ns = 2 * ns_per_s;
constexpr std::int64_t refused_ns = ns_per_s / 4;
constexpr int most_doublings = 8;
constexpr std::int64_t least_pause_ns = 60 * ns_per_s;
/// A latency that has changed so much makes the bandwidth doubtful.
constexpr double large_factor = 1.5;
constexpr double large_change_us = 2000;

bool changed_a_lot(double before_us, double after_us) {
    const auto [less, more] = std::minmax(before_us, after_us);
    return more > large_factor * less && more - less > large_change_us;
}

struct Turn {
    int low, high;
    std::size_t number;
};

/// In an order on which all hosts agree. No site is in two pairs of one turn, but measurements may last longer.
std::vector<Turn> pairs_to_measure(const std::vector<int>& site_of, const std::vector<double>& latency_us) {
    std::map<int, std::vector<int>> by_site;
    for (int host = 0; host < static_cast<int>(site_of.size()); ++host)
        by_site[site_of[static_cast<std::size_t>(host)]].push_back(host);
    std::vector<std::vector<int>> hosts;
    for (auto& [site, its] : by_site) hosts.push_back(std::move(its));
    std::vector<Turn> turns;
    for (std::size_t a = 0; a < hosts.size(); ++a) {
        for (std::size_t b = a + 1; b < hosts.size(); ++b) {
            const auto [low, high] = std::minmax(hosts[a].front(), hosts[b].front());
            turns.push_back({low, high, (a + b - 1) % hosts.size()});
        }
        if (hosts[a].size() > 1) turns.push_back({hosts[a][0], hosts[a][1], hosts.size()});
    }
    std::erase_if(turns, [&](const Turn& turn) {
        const auto at = static_cast<std::size_t>(turn.low) * site_of.size() + static_cast<std::size_t>(turn.high);
        return !std::isfinite(latency_us[at]);
    });
    return turns;
}

}  // namespace

void BandwidthPlan::follow(const Version& version, const std::vector<int>& site_of, std::int64_t now_ns) {
    if (period_ns_ == 0 || version.tree.empty()) return;
    std::vector<Pair> pairs;
    for (const auto [low, high, turn] : pairs_to_measure(site_of, version.links.latencies_us())) {
        if (low != self_) continue;
        Pair pair{high, version.links.at(low, high).latency_us, now_ns + static_cast<std::int64_t>(turn + 1) * turn_ns};
        const auto known = std::ranges::find(pairs_, high, &Pair::peer);
        if (known != pairs_.end()) {
            const bool doubtful = changed_a_lot(known->latency_us, pair.latency_us);
            const std::int64_t soon_ns = std::max(pair.next_ns, known->rests_until_ns);
            pair = {high, doubtful ? pair.latency_us : known->latency_us,
                    doubtful ? std::min(soon_ns, known->next_ns) : known->next_ns,
                    known->failures, known->rests_until_ns};
        }
        pairs.push_back(pair);
    }
    pairs_ = std::move(pairs);
}

std::optional<int> BandwidthPlan::due(std::int64_t now_ns) const {
    const auto next = std::ranges::min_element(pairs_, {}, &Pair::next_ns);
    if (next == pairs_.end() || now_ns < next->next_ns) return std::nullopt;
    return next->peer;
}

BandwidthPlan::Pair* BandwidthPlan::pair_with(int peer) {
    const auto pair = std::ranges::find(pairs_, peer, &Pair::peer);
    return pair == pairs_.end() ? nullptr : &*pair;
}

void BandwidthPlan::asked(int peer, std::int64_t now_ns) {
    if (Pair* const pair = pair_with(peer)) {
        pair->next_ns = now_ns + period_ns_;
        pair->rests_until_ns = now_ns + least_pause_ns;
    }
}

void BandwidthPlan::ended(const BandwidthSensor::Ended& how, std::int64_t now_ns) {
    Pair* const pair = pair_with(how.peer);
    if (pair == nullptr) return;
    if (how.bytes_per_us) {
        pair->next_ns = now_ns + period_ns_;
        pair->failures = 0;
    } else if (how.refused) {
        pair->next_ns = now_ns + refused_ns;
    } else {
        const std::int64_t retry_ns = first_retry_ns << std::min(pair->failures++, most_doublings);
        pair->next_ns = now_ns + std::min(retry_ns, period_ns_);
    }
}

std::int64_t BandwidthPlan::next_ns() const {
    const auto next = std::ranges::min_element(pairs_, {}, &Pair::next_ns);
    return next == pairs_.end() ? never_ns : next->next_ns;
}

}  // namespace mutirao::agent
