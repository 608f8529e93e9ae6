#include "mpi/adaptation/synchronous.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mpi/drivers/maintenance_driver.h"
#include "mpi/drivers/probe.h"
#include "mpi/drivers/tree_gather.h"
#include "mpi/interpose/native.h"
#include "mpi/stopwatch.h"
#include "mpi/tags.h"

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

std::vector<std::byte> to_bytes(const std::vector<NetworkChange::Link>& links) {
    std::vector<std::byte> bytes(links.size() * sizeof(NetworkChange::Link));
    if (!links.empty()) {
        std::memcpy(bytes.data(), links.data(), bytes.size());
    }
    return bytes;
}

std::vector<NetworkChange::Link> links_of(const std::vector<std::byte>& bytes) {
    std::vector<NetworkChange::Link> links(bytes.size() / sizeof(NetworkChange::Link));
    if (!links.empty()) {
        std::memcpy(links.data(), bytes.data(), links.size() * sizeof(NetworkChange::Link));
    }
    std::sort(links.begin(), links.end(), [](const auto& a, const auto& b) {
        return std::pair(a.low, a.high) < std::pair(b.low, b.high);
    });
    // What does not fit into a message to the ranks beside waits for the next check.
    links.resize(std::min(links.size(), most_changed_links));
    return links;
}

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

}  // namespace

SynchronousAdaptation::SynchronousAdaptation(MPI_Comm comm, const Hosts& hosts, Record& record,
                                             const Settings& settings)
    : hosts_(hosts), record_(record), settings_(settings) {
    if (hosts.leading()) {
        mailbox_.emplace(comm, hosts, synchronous_tag);
    }
}

bool SynchronousAdaptation::enter(std::uint64_t call) {
    if (call % static_cast<std::uint64_t>(settings_.adaptation.every) != 0) {
        return false;
    }
    const Stopwatch watch;
    NetworkChange change;
    if (mailbox_) {
        change = find_change();
    }
    change = share_on_host(std::move(change));
    record_.adaptation.checked(watch.elapsed_ms());
    if (!change.empty()) {
        take_up(record_, call, change);
    }
    return !change.empty();
}

// Both ends of a link hold the same old and the same new latency, so they agree whether it changed;
// the lower one tells the others, over the tree as it is.
std::vector<NetworkChange::Link> SynchronousAdaptation::measure_changes() {
    const int me = hosts_.my_host();
    const std::vector<double> latency_us =
        probe_links(*mailbox_, hosts_, {looks, settings_.probe_timeout_ms});
    std::vector<NetworkChange::Link> mine;
    for (int other = me + 1; other < hosts_.count(); ++other) {
        const double now_us = latency_us[static_cast<std::size_t>(other)];
        const double before_us = record_.topology.network.link(me, other).latency_us;
        if (changed(before_us, now_us, settings_.change_threshold_percent)) {
            mine.push_back({me, other, now_us});
        }
    }
    return links_of(gather_over_tree(*mailbox_, branches_of(me, record_.topology.spanning_tree),
                                     to_bytes(mine)));
}

NetworkChange SynchronousAdaptation::find_change() {
    NetworkChange change;
    mailbox_->begin_round();
    change.links = measure_changes();
    if (!change.links.empty()) {
        const EdgeList tree =
            adapt_spanning_tree(*mailbox_, hosts_, record_.topology, change.links);
        if (tree != record_.topology.spanning_tree) {
            change.spanning_tree = tree;
        }
    }
    return change;
}

NetworkChange SynchronousAdaptation::share_on_host(NetworkChange change) const {
    if (hosts_.host_comm == MPI_COMM_NULL) {
        return change;
    }
    std::vector<std::byte> bytes = encode(change);
    int length = static_cast<int>(bytes.size());
    const Handle host_comm = as_word(hosts_.host_comm);
    native().bcast(&length, 1, as_word(MPI_INT), 0, host_comm);
    bytes.resize(static_cast<std::size_t>(length));
    native().bcast(bytes.data(), length, as_word(MPI_BYTE), 0, host_comm);
    return decode_change(bytes, hosts_.count()).value_or(NetworkChange{});
}

}  // namespace mutirao::mpi
