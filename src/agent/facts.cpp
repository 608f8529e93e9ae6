#include "agent/facts.h"

#include <algorithm>
#include <cmath>

#include "agent/frame.h"
#include "core/text/bytes.h"

namespace mutirao::agent {
namespace {

constexpr std::size_t fact_bytes = 36;
static_assert(facts_per_frame * fact_bytes <= most_payload_bytes);

bool can_be(const Fact& fact, int host_count) {
    return fact.low <= fact.high && fact.high < host_count && fact.first >= 0 &&
           fact.second >= 0 && fact.third >= 0 && std::isfinite(fact.first) &&
           std::isfinite(fact.second) && std::isfinite(fact.third);
}

template <class Codec>
void fields(Codec& codec, Coded<Codec, Fact>& fact, int host_count) {
    codec.number(fact.low, 2);
    codec.number(fact.high, 2);
    codec.number(fact.stamp, 8);
    codec.real(fact.first);
    codec.real(fact.second);
    codec.real(fact.third);
    codec.require(can_be, fact, host_count);
}

}  // namespace

std::vector<std::byte> encode(std::span<const Fact> facts) {
    ByteWriter writer;
    for (const Fact& each : facts) fields(writer, each, 0);
    return std::move(writer).take();
}

std::optional<std::vector<Fact>> decode_facts(std::span<const std::byte> bytes, int host_count) {
    ByteReader reader(bytes);
    std::vector<Fact> facts;
    while (reader.left() > 0) fields(reader, facts.emplace_back(), host_count);
    return reader.ended_well() ? std::optional(std::move(facts)) : std::nullopt;
}

std::uint64_t Facts::next_stamp(std::int64_t wall_ns) const {
    return std::max(static_cast<std::uint64_t>(wall_ns), newest_stamp_ + 1);
}

std::vector<Fact> Facts::learn(std::span<const Fact> facts) {
    std::vector<Fact> fresh;
    for (const Fact& each : facts) {
        const auto [known, is_new] = facts_.try_emplace({each.low, each.high}, each);
        if (!is_new && each.stamp <= known->second.stamp) continue;
        known->second = each;
        newest_stamp_ = std::max(newest_stamp_, each.stamp);
        fresh.push_back(each);
    }
    if (!fresh.empty()) ++changes_;
    return fresh;
}

std::vector<Fact> Facts::all() const {
    std::vector<Fact> list;
    for (const auto& [ends, fact] : facts_) list.push_back(fact);
    return list;
}

void Facts::show(const std::vector<int>& site_of, NetworkView& view) const {
    const auto hosts = static_cast<std::size_t>(host_count_);
    view.bandwidth_bytes_per_us.assign(hosts * hosts, 0);
    view.host_speeds.assign(hosts, {});
    std::map<std::pair<int, int>, Fact> of_sites;
    for (const auto& [ends, fact] : facts_) {
        const auto low = static_cast<std::size_t>(fact.low);
        const auto high = static_cast<std::size_t>(fact.high);
        if (fact.low == fact.high) {
            view.host_speeds[low] = {fact.first, fact.second, fact.third};
            continue;
        }
        Fact& newest = of_sites[std::minmax(site_of[low], site_of[high])];
        if (fact.stamp > newest.stamp) newest = fact;
    }
    for (std::size_t a = 0; a < hosts; ++a) {
        for (std::size_t b = 0; b < hosts; ++b) {
            const auto found = of_sites.find(std::minmax(site_of[a], site_of[b]));
            if (a != b && found != of_sites.end())
                view.bandwidth_bytes_per_us[a * hosts + b] = found->second.first;
        }
    }
}

}  // namespace mutirao::agent
