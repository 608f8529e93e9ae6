// What hosts know of all links, and how what two hosts know is united. Each link has a stamp that
// only grows; the larger one wins, so that all hosts come to know the same whatever the order in
// which news reach them. A stamp counts breaks first: no message about a latency hides that a link
// was down in between, and that what was sent over it may be lost.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/network/tree.h"
#include "core/spanning_tree/host_set.h"

namespace mutirao::rounds {

inline constexpr int most_hosts = 1024;

struct LinkState {
    std::uint32_t breaks = 0;    ///< how often it has become unusable
    std::uint32_t sequence = 0;  ///< announcements since then; 0 after a break: still unusable
    double latency_us = std::numeric_limits<double>::infinity();  ///< infinite: unusable

    bool usable() const { return latency_us < std::numeric_limits<double>::infinity(); }
    bool operator==(const LinkState&) const = default;
    /// Newer is larger. Of one stamp there is only one value, but for hosts that start with nothing
    /// among others that started with a network: any value is more than none.
    std::partial_ordering operator<=>(const LinkState& other) const {
        if (const auto order = breaks <=> other.breaks; order != 0) return order;
        if (const auto order = sequence <=> other.sequence; order != 0) return order;
        return other.latency_us <=> latency_us;
    }
    /// Without what depends on how the value was reached.
    bool same_for_a_tree(const LinkState& other) const {
        return latency_us == other.latency_us && (!usable() || breaks == other.breaks);
    }
};

struct LinkNews {
    int low = -1;
    int high = -1;
    LinkState state;

    bool operator==(const LinkNews&) const = default;
};

/// One state for each pair of hosts. At first all links are unusable.
class LinkTable {
  public:
    explicit LinkTable(int host_count = 0);

    int host_count() const { return host_count_; }
    const LinkState& at(int a, int b) const { return states_[index(a, b)]; }
    void set(int a, int b, const LinkState& state) { states_[index(a, b)] = state; }

    /// Hosts that usable links join to this one, itself included.
    HostSet component(int host) const;
    /// Makes links unusable that do not have both ends among these hosts.
    void keep_only(const HostSet& hosts);
    /// Row by row, the same in both directions, zero from a host to itself.
    std::vector<double> latencies_us() const;

    bool operator==(const LinkTable&) const = default;

    /// Calls visit(low, high, state) for each pair, ascending.
    template <class Visit>
    void for_each(Visit visit) const {
        std::size_t i = 0;
        for (int low = 0; low < host_count_; ++low)
            for (int high = low + 1; high < host_count_; ++high) visit(low, high, states_[i++]);
    }

  private:
    std::size_t index(int a, int b) const;

    int host_count_;
    std::vector<LinkState> states_;  ///< (0, 1), (0, 2), ..., (1, 2), ...
};

}  // namespace mutirao::rounds
