#include "core/epochs/epochs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/network/tree.h"
#include "core/text/bytes.h"
#include "core/text/invariant.h"

namespace mutirao {

// Announcements and reports as bytes. Every rank knows how many ranks and hosts its communicator has; what names
// others is junk.

namespace {

constexpr std::size_t longest_text_bytes = 1024;
constexpr std::size_t most_rulings = 4096;

/// Of the communicator, for what is read.
struct Size {
    int ranks = 0, hosts = 0;
};

struct Served {
    int host = -1;
    int parent = -1;
};

std::vector<Served> in_order(const Tree& tree) {
    std::vector<Served> order;
    for (const int host : from_root_down(tree)) order.push_back({host, tree.parent[static_cast<std::size_t>(host)]});
    return order;
}

/// The tree of all these hosts, if they are all and each is told after its parent; none of no hosts.
std::optional<std::optional<Tree>> tree_of(const std::vector<Served>& order) {
    if (order.empty()) return std::make_optional<std::optional<Tree>>(std::nullopt);
    const auto hosts = static_cast<int>(order.size());
    std::vector<bool> reached(order.size(), false);
    Tree tree = bare_tree(order.size(), order.front().host);
    const auto is_reached = [&](int host) {
        return host >= 0 && host < hosts && reached[static_cast<std::size_t>(host)];
    };
    for (const auto& [host, parent] : order) {
        const bool is_root = host == tree.root;
        if (host < 0 || host >= hosts || is_reached(host) || !(is_root || is_reached(parent))) return std::nullopt;
        reached[static_cast<std::size_t>(host)] = true;
        if (!is_root) tree.hang(host, parent);
    }
    return tree;
}

/// A tree of the same hosts and root as the whole one, if these parents make one; -1: of the root.
std::optional<Tree> share_of(const std::vector<std::int16_t>& parents, int root) {
    const auto hosts = static_cast<int>(parents.size());
    for (int host = 0; host < hosts; ++host) {
        const int parent = parents[static_cast<std::size_t>(host)];
        if ((host == root) != (parent == -1) || parent < -1 || parent >= hosts) return std::nullopt;
    }
    Tree share = tree_from_parents({parents.begin(), parents.end()}, root);
    const bool reaches_all = from_root_down(share).size() == parents.size();
    return reaches_all ? std::optional(std::move(share)) : std::nullopt;
}

/// Whether all parts are owned, and the owners' labels are those of the tree.
bool is_owned(const Tree& tree) {
    if (tree.site_of.empty() || std::accumulate(tree.owned.begin(), tree.owned.end(), 0) != owned_parts) return false;
    std::vector<bool> has_hosts(tree.owned.size(), false);
    for (const int site : tree.site_of) {
        if (site < 0 || site >= static_cast<int>(tree.owned.size())) return false;
        has_hosts[static_cast<std::size_t>(site)] = true;
    }
    return std::ranges::find(has_hosts, false) == has_hosts.end();
}

template <class Codec>
void tree_fields(Codec& codec, Coded<Codec, std::optional<Tree>>& tree, TreeKind kind, const Size& size) {
    const auto hosts = static_cast<std::size_t>(size.hosts), ranks = static_cast<std::size_t>(size.ranks);
    const auto order_of = [](const std::optional<Tree>& each) {
        return each ? in_order(*each) : std::vector<Served>();
    };
    codec.as(tree, order_of, tree_of, [&](auto& order) {
        codec.list(order, 4, is_packed(kind) ? ranks : hosts, [&](auto& each) {
            codec.number(each.host, 4);
            if (&each != &order.front()) codec.number(each.parent, 4);
        });
        codec.require(order.empty() || order.size() == hosts || (is_packed(kind) && order.size() == ranks));
    });
    if (!tree) return;
    codec.list(tree->site_of, 2, hosts, [&](auto& site) { codec.number(site, 2); });
    codec.require(tree->site_of.empty() || tree->site_of.size() == hosts);
    codec.list(tree->owned, 1, most_packed_hosts, [&](auto& parts) { codec.number(parts, 1); });
    codec.require(tree->owned.empty() || (is_uneven(kind) && is_owned(*tree)));
    const auto parents_of = [](const Tree& share) {
        return std::vector<std::int16_t>(share.parent.begin(), share.parent.end());
    };
    const auto share_from = [&](const auto& parents) { return share_of(parents, tree->root); };
    codec.list(tree->shares, 2, most_packed_places / tree->parent.size(), [&](auto& share) {
        codec.as(share, parents_of, share_from, [&](auto& parents) {
            codec.items(parents, tree->parent.size(), [&](auto& parent) { codec.number(parent, 2); });
        });
    });
}

/// The candidate as users write it.
template <class Codec>
void arm_fields(Codec& codec, Coded<Codec, Arm>& arm, Collective collective, const Size& size) {
    const auto text_of = [](const Candidate& each) { return to_string(each); };
    const auto parsed = [&](const std::string& text) { return parse_candidate(collective, text).candidate; };
    codec.as(arm.candidate, text_of, parsed, [&](auto& text) { codec.text(text, longest_text_bytes); });
    const TreeKind kind = arm.candidate.parameters.tree;
    tree_fields(codec, arm.tree, kind, size);
    const bool by_sites = kind == TreeKind::two_level || is_over_regions(kind) || is_uneven(kind);
    codec.require(!arm.tree || arm.tree->site_of.empty() != by_sites);
}

template <class Codec>
void class_fields(Codec& codec, Coded<Codec, ShapeClass>& shapes, int ranks) {
    codec.choice(shapes.collective, Collective::reduce_scatter);
    codec.number(shapes.root, 4);
    codec.number(shapes.length_class, 4);
    codec.truth(shapes.commutes);
    codec.require(shapes.root >= any_root && shapes.root < ranks);
}

template <class Codec>
void clocking_fields(Codec& codec, Coded<Codec, Clocking>& clocking) {
    for (auto* const each : {&clocking.calls_per_sample, &clocking.lead, &clocking.probe, &clocking.trail}) {
        codec.number(*each, 4);
        codec.require(*each <= Clocking::most_calls_per_sample);
    }
    codec.require(clocking.calls_per_sample >= 1 && clocking.samples() <= Clocking::most_samples);
}

template <class Codec>
void ruling_fields(Codec& codec, Coded<Codec, Ruling>& ruling, const Size& size) {
    const Collective& collective = ruling.shapes.collective;
    class_fields(codec, ruling.shapes, size.ranks);
    arm_fields(codec, ruling.arm, collective, size);
    codec.number(ruling.id, 4);
    clocking_fields(codec, ruling.clocking);
    if constexpr (Codec::reads) {
        if (ruling.clocking.probe > 0) ruling.probe.emplace();
    }
    if (ruling.probe) arm_fields(codec, *ruling.probe, collective, size);
}

}  // namespace

template <class Codec>
void fields(Codec& codec, Coded<Codec, Announcement>& announcement, const Size& size) {
    Coded<Codec, Route>& route = announcement.route;
    codec.choice(route.kind, Route::Kind::hosts);
    codec.choice(announcement.kind, Announcement::Kind::at_once);
    codec.number(announcement.number, 4);
    codec.number(announcement.first_call, 8);
    codec.number(announcement.next_first_call, 8);
    codec.number(announcement.sent_in_call, 8);
    codec.number(announcement.horizon_calls, 8);
    codec.truth(announcement.asks_for_lead);
    codec.list(announcement.rulings, 4, most_rulings, [&](auto& ruling) { ruling_fields(codec, ruling, size); });
    const auto hosts = static_cast<std::size_t>(route.kind == Route::Kind::hosts ? size.hosts : 0);
    codec.list(route.parent_of_host, 4, hosts, [&](auto& parent) {
        codec.number(parent, 4);
        codec.require(parent >= -1 && parent < size.hosts);
    });
    codec.require(route.parent_of_host.size() == hosts);
    codec.require(announcement.kind != Announcement::Kind::epoch ||
                  announcement.next_first_call > announcement.first_call);
}

template <class Codec>
void fields(Codec& codec, Coded<Codec, Report>& report, int ranks) {
    std::size_t kind = report.index();
    codec.number(kind, 1);
    codec.require(kind < std::variant_size_v<Report>);
    if constexpr (Codec::reads) {
        if (kind == 1) report = TimeReport{};
    }
    if (auto* const lead = std::get_if<LeadReport>(&report)) {
        codec.number(lead->number, 4);
        codec.number(lead->lead_calls, 8);
        codec.truth(lead->waited);
        return;
    }
    auto& measured = std::get<TimeReport>(report);
    class_fields(codec, measured.shapes, ranks);
    codec.number(measured.ruling, 4);
    codec.number(measured.first, 4);
    codec.list(measured.samples, 1, 255, [&](auto& sample) {
        codec.real(sample.time_us);
        codec.real(sample.lap_us);
    });
}

std::vector<std::byte> encode(const Announcement& announcement) { return to_bytes(announcement, Size{}); }
std::optional<Announcement> decode_announcement(std::span<const std::byte> bytes, int rank_count, int host_count) {
    return from_bytes<Announcement>(bytes, Size{rank_count, host_count});
}

std::vector<std::byte> encode(const Report& report) { return to_bytes(report, 0); }
std::optional<Report> decode_report(std::span<const std::byte> bytes, int rank_count) {
    return from_bytes<Report>(bytes, rank_count);
}

namespace {

// The decider tells so many ranks itself while it does not know the hosts.
constexpr int most_told_straight = 128;
// Who hands an announcement on does so inside its next call only, which may begin as much later.
constexpr double handing_on_us = 100'000;

}  // namespace

Route route_without_network(int rank_count) {
    return {rank_count <= most_told_straight ? Route::Kind::straight : Route::Kind::binomial, {}};
}

Route quickest_route(const Network& network, int here) {
    const int hosts = network.host_count();
    Route route{Route::Kind::hosts, {}};
    const std::optional<Tree> tree = shortest_path_tree(network, here, 0);
    if (!tree) {
        route.parent_of_host.assign(static_cast<std::size_t>(hosts), here);
        route.parent_of_host[static_cast<std::size_t>(here)] = -1;
        return route;
    }
    route.parent_of_host = tree->parent;
    const std::vector<double> shortest_us = arrivals_us(*tree, network, 0);
    for (int host = 0; host < hosts && hosts <= most_told_straight; ++host) {
        const auto index = static_cast<std::size_t>(host);
        const double straight_us = network.link(here, host).latency_us;
        if (host != here && straight_us <= shortest_us[index] + handing_on_us) {
            route.parent_of_host[index] = here;
        }
    }
    return route;
}

namespace {

// A few quick calls say little about the pace of those to come, and an epoch cannot be cut short.
constexpr std::uint64_t most_growth = 4;
// So much faster than at the last look calls are taken to be: those that were held up may only be catching up.
constexpr double most_speedup = 2;
constexpr std::uint64_t most_horizon_calls = 100'000;
/// So many epochs go by until the ranks are asked again how far they are ahead.
constexpr std::uint32_t epochs_per_question = 4;
constexpr std::uint32_t most_keep_epochs = 1024;

/// So often in a row nobody must have been ahead before announcements hold at once.
constexpr int least_without_lead = 2;

/// With a quarter to spare.
std::uint64_t horizon_for(std::uint64_t lead_calls) {
    return std::min(lead_calls + lead_calls / 4, most_horizon_calls);
}

}  // namespace

std::uint64_t EpochDecider::epoch_calls(std::uint64_t call, double now_us) {
    if (!paced_us_ || call == paced_call_) {
        if (!paced_us_) {
            paced_us_ = now_us;
            paced_call_ = call;
        }
        return epoch_calls_;
    }
    const double measured_us = (now_us - *paced_us_) / static_cast<double>(call - paced_call_);
    us_per_call_ = std::max(measured_us, us_per_call_ / most_speedup);
    paced_us_ = now_us;
    paced_call_ = call;
    const double wanted = std::ceil(pace_.least_epoch_us / std::max(us_per_call_, 1e-3));
    const std::uint64_t most = std::min(most_growth * epoch_calls_, pace_.most_calls);
    // A call or two of rounding must not make an epoch of two calls where one would do.
    return wanted <= 1 ? 1 : static_cast<std::uint64_t>(std::min(wanted, static_cast<double>(most)));
}

void EpochDecider::adapt_horizon() {
    if (!heard_ || number_ < keep_horizon_until_) return;
    without_lead_ = largest_lead_ == 0 ? without_lead_ + 1 : 0;
    // A long horizon falls slowly: leads that long come and go.
    constexpr std::uint64_t long_horizon = 8;
    const bool at_once = epoch_calls_ == 1 && without_lead_ >= least_without_lead;
    const std::uint64_t least =
        horizon_calls_ > long_horizon ? horizon_calls_ * 3 / 4 : at_once ? 0 : 1;
    horizon_calls_ = std::max(horizon_for(largest_lead_), least);
}

Announcement EpochDecider::enter(std::uint64_t call, double now_us) {
    epoch_calls_ = epoch_calls(call, now_us);
    if (epoch_calls_ > 1) horizon_calls_ = std::max<std::uint64_t>(horizon_calls_, 1);
    Announcement made;
    made.number = ++number_;
    made.first_call = announced_until_;
    made.next_first_call = announced_until_ + epoch_calls_;
    made.sent_in_call = call;
    if (number_ >= asked_in_ + epochs_per_question || number_ == 1) {
        adapt_horizon();
        asked_in_ = number_;
        largest_lead_ = 0;
        heard_ = false;
        made.asks_for_lead = true;
    }
    made.horizon_calls = ahead_calls();
    announced_until_ = made.next_first_call;
    return made;
}

void EpochDecider::hear(const LeadReport& report) {
    heard_ = true;
    largest_lead_ = std::max(largest_lead_, report.lead_calls);
    // What was announced with a shorter horizon says nothing of this one.
    const bool waited = report.waited && report.number > raised_in_;
    const std::uint64_t wanted =
        std::max<std::uint64_t>(horizon_for(report.lead_calls),
                                waited ? std::max<std::uint64_t>(2 * horizon_calls_, 1) : 0);
    if (report.lead_calls > 0 || waited) without_lead_ = 0;
    if (wanted <= horizon_calls_) return;
    horizon_calls_ = std::min(wanted, most_horizon_calls);
    raised_in_ = number_;
    if (waited) {
        keep_horizon_until_ = number_ + keep_epochs_;
        keep_epochs_ = std::min(2 * keep_epochs_, most_keep_epochs);
    }
}

void EpochFollower::hear(Announcement announcement) {
    if (announcement.number > number_)
        announced_.emplace(announcement.number, std::move(announcement));
}

std::optional<Announcement> EpochFollower::advance() {
    auto announced = announced_.extract(number_ + 1);
    if (announced.empty()) return std::nullopt;
    const Announcement& epoch = announced.mapped();
    if (epoch.first_call != end_) {
        broken_invariant("an epoch begins where the one before ends",
                         static_cast<long long>(epoch.first_call), static_cast<long long>(end_));
    }
    number_ = epoch.number;
    calls_ = epoch.next_first_call - epoch.first_call;
    end_ = epoch.next_first_call;
    return std::move(announced.mapped());
}

bool EpochFollower::worth_reporting(const Announcement& heard, std::uint64_t lead_calls) {
    constexpr std::uint64_t least_with_a_margin = 4;
    const std::uint64_t margin = heard.horizon_calls / 8;
    const bool close = heard.horizon_calls >= least_with_a_margin &&
                       lead_calls + margin > heard.horizon_calls;
    return heard.asks_for_lead || close || lead_calls > heard.horizon_calls;
}

}  // namespace mutirao
