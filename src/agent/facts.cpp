// Layout of each: low (2 bytes), high (2), stamp (8), the three values as IEEE 754 bits (8 each).
#include "agent/facts.h"

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

}  // namespace

std::vector<std::byte> encode(std::span<const Fact> facts) {
    ByteWriter writer(fact_bytes * facts.size());
    for (const Fact& each : facts) {
        writer.put(static_cast<std::uint64_t>(each.low), 2);
        writer.put(static_cast<std::uint64_t>(each.high), 2);
        writer.put(each.stamp, 8);
        writer.put_double(each.first);
        writer.put_double(each.second);
        writer.put_double(each.third);
    }
    return std::move(writer).take();
}

std::optional<std::vector<Fact>> decode_facts(std::span<const std::byte> bytes, int host_count) {
    if (bytes.size() % fact_bytes != 0) return std::nullopt;
    ByteReader reader(bytes);
    std::vector<Fact> facts(bytes.size() / fact_bytes);
    for (Fact& each : facts) {
        each.low = static_cast<int>(reader.take(2));
        each.high = static_cast<int>(reader.take(2));
        each.stamp = reader.take(8);
        each.first = reader.take_double();
        each.second = reader.take_double();
        each.third = reader.take_double();
        if (!can_be(each, host_count)) return std::nullopt;
    }
    return facts;
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
