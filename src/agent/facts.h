// What agents tell each other beside latencies: the bandwidth of links that were measured, and how fast
// hosts copy and add. Each fact comes from one host, which stamps it beyond all that it knows; the newest of a
// link or host counts, and whoever did not know it passes it on. A pure machine: nothing that a round
// of the tree depends on travels here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

struct Fact {
    int low = -1;
    int high = -1;  ///< the same as low: of a host
    std::uint64_t stamp = 0;
    double first = 0;   ///< of a link: bytes/us; of a host: HostSpeed::copy_bytes_per_us
    double second = 0;  ///< of a host: HostSpeed::reduce_bytes_per_us
    double third = 0;   ///< of a host: HostSpeed::message_us

    bool operator==(const Fact&) const = default;
};

/// More are sent in several frames.
inline constexpr std::size_t facts_per_frame = 1500;

std::vector<std::byte> encode(std::span<const Fact> facts);
/// Nothing if it is not what encode() makes of facts about so many hosts.
std::optional<std::vector<Fact>> decode_facts(std::span<const std::byte> bytes, int host_count);

class Facts {
  public:
    explicit Facts(int host_count) : host_count_(host_count) {}

    /// For what is measured now: beyond all that is known, whatever the clocks of others say.
    std::uint64_t next_stamp(std::int64_t wall_ns) const;
    /// Returns those that were not known: what is to be passed on.
    std::vector<Fact> learn(std::span<const Fact> facts);
    std::vector<Fact> all() const;
    /// Grows when something is learned.
    std::uint64_t changes() const { return changes_; }
    /// A measured link stands for all links between the two sites of its ends.
    void show(const std::vector<int>& site_of, NetworkView& view) const;

  private:
    int host_count_;
    std::map<std::pair<int, int>, Fact> facts_;
    std::uint64_t changes_ = 0;
    std::uint64_t newest_stamp_ = 0;
};

}  // namespace mutirao::agent
