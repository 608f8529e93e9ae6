#include "mpi/rulings/synchronous.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/spanning_tree/kruskal.h"
#include "mpi/drivers/ghs_driver.h"
#include "mpi/drivers/probe.h"
#include "mpi/drivers/tree_gather.h"
#include "mpi/stopwatch.h"

namespace mutirao::mpi {
namespace {

// What a single look at a link can tell from its noise. Only a threshold of 0, which asks for every
// difference, gets more.
constexpr double noticeable_percent = 10;
constexpr double noticeable_us = 500;
// The first round trip also waits for the other host to enter the call.
constexpr int looks = 2;

bool changed(double before_us, double after_us, const std::optional<double>& threshold_percent) {
    if (!std::isfinite(before_us) || !std::isfinite(after_us)) {
        return before_us != after_us;
    }
    const double by_us = std::abs(after_us - before_us);
    const double percent = threshold_percent.value_or(noticeable_percent);
    return by_us > before_us * percent / 100 && (percent == 0 || by_us > noticeable_us);
}

template <typename Plain>
std::vector<std::byte> to_bytes(const std::vector<Plain>& values) {
    static_assert(std::is_trivially_copyable_v<Plain>);
    std::vector<std::byte> bytes(values.size() * sizeof(Plain));
    if (!values.empty()) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
    }
    return bytes;
}

template <typename Plain>
std::vector<Plain> values_of(const std::vector<std::byte>& bytes) {
    std::vector<Plain> values(bytes.size() / sizeof(Plain));
    if (!values.empty()) {
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Plain));
    }
    return values;
}

/// A link as its lower end tells it to all when the tree is built.
struct KnownLink {
    std::int32_t low;
    std::int32_t high;
    double latency_us;
    std::int64_t in_tree;
    std::int64_t messages;  ///< of building the tree, by the lower end; in its first link
};

std::vector<int> branches_of(int host, const EdgeList& tree) {
    std::vector<int> branches;
    for (const auto& [low, high] : tree) {
        if (low == host || high == host) {
            branches.push_back(low == host ? high : low);
        }
    }
    std::sort(branches.begin(), branches.end());
    return branches;
}

Leaders leaders_of(const Members& members) {
    Leaders leaders;
    leaders.my_host = members.placement->host_of(members.my_rank);
    for (int host = 0; host < members.host_count(); ++host) {
        const int leader = members.placement->ranks_of(host).front();
        leaders.twin_rank_of_host.push_back(
            members.twin_rank_of[static_cast<std::size_t>(leader)]);
    }
    return leaders;
}

}  // namespace

SynchronousAdaptation::SynchronousAdaptation(MPI_Comm twin, int tag, const Members& members,
                                             const Settings& settings)
    : settings_(settings) {
    if (members.placement->position_of(members.my_rank) == 0) {
        mailbox_.emplace(twin, leaders_of(members), tag);
    }
}

std::optional<Topology> SynchronousAdaptation::check(AdaptationRecord& record) {
    const Stopwatch watch;
    if (mailbox_) {
        mailbox_->begin_round();
        if (topology_) {
            adapt();
        } else {
            build(record);
        }
    }
    record.checked(watch.elapsed_ms());
    return topology_ && topology_->complete() ? topology_ : std::nullopt;
}

void SynchronousAdaptation::build(AdaptationRecord& record) {
    const int me = mailbox_->leaders().my_host;
    const int hosts = mailbox_->leaders().count();
    const std::vector<double> latency_us =
        probe_links(*mailbox_, {.timeout_ms = settings_.probe_timeout_ms});
    const TreePart part = build_spanning_tree(*mailbox_, latency_us);
    topology_.emplace();
    topology_->network = Network(hosts);
    if (part.hosts_in_tree < hosts) {
        return;
    }
    std::vector<KnownLink> mine;
    for (int other = 0; other < hosts; ++other) {
        if (other == me) {
            continue;
        }
        const bool in_tree = std::binary_search(part.branches.begin(), part.branches.end(), other);
        mine.push_back({me, other, latency_us[static_cast<std::size_t>(other)], in_tree ? 1 : 0,
                        mine.empty() ? part.messages_sent : 0});
    }
    for (const KnownLink& each :
         values_of<KnownLink>(gather_over_tree(*mailbox_, part.branches, to_bytes(mine)))) {
        topology_->network.set_link(each.low, each.high, {.latency_us = each.latency_us});
        if (each.in_tree != 0 && each.low < each.high) {
            topology_->spanning_tree.emplace_back(each.low, each.high);
        }
        record.ghs_messages += each.messages;
    }
    std::sort(topology_->spanning_tree.begin(), topology_->spanning_tree.end());
}

// Both ends of a link hold the same old and the same new latency, so they agree whether it changed;
// the lower one tells the others, over the tree as it is.
std::vector<ChangedLink> SynchronousAdaptation::measure_changes() {
    const int me = mailbox_->leaders().my_host;
    const std::vector<double> latency_us =
        probe_links(*mailbox_, {looks, settings_.probe_timeout_ms});
    std::vector<ChangedLink> mine;
    for (int other = me + 1; other < mailbox_->leaders().count(); ++other) {
        const double now_us = latency_us[static_cast<std::size_t>(other)];
        const double before_us = topology_->network.link(me, other).latency_us;
        if (changed(before_us, now_us, settings_.change_threshold_percent)) {
            mine.push_back({me, other, now_us});
        }
    }
    auto links = values_of<ChangedLink>(gather_over_tree(
        *mailbox_, branches_of(me, topology_->spanning_tree), to_bytes(mine)));
    std::sort(links.begin(), links.end(), [](const auto& a, const auto& b) {
        return std::pair(a.low, a.high) < std::pair(b.low, b.high);
    });
    return links;
}

void SynchronousAdaptation::adapt() {
    if (!topology_->complete()) {
        return;
    }
    const std::vector<ChangedLink> changes = measure_changes();
    if (changes.empty()) {
        return;
    }
    // All hosts have come to this call, so one that no probe reached was late; the next check will tell.
    Topology now = with_changes(*topology_, changes);
    if (minimum_spanning_tree(now.network).size() + 1 < static_cast<std::size_t>(now.network.host_count())) {
        return;
    }
    EdgeList tree = adapt_spanning_tree(*mailbox_, *topology_, changes);
    topology_ = std::move(now);
    topology_->spanning_tree = std::move(tree);
}

}  // namespace mutirao::mpi
