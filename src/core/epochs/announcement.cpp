// Announcements and reports as bytes. Every rank knows how many ranks and hosts its communicator has; what names
// others is junk.
#include "core/epochs/announcement.h"

#include <algorithm>

#include "core/network/tree.h"
#include "core/text/bytes.h"

namespace mutirao {
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
    std::vector<std::vector<int>> children(order.size());
    Tree tree;
    tree.root = order.front().host;
    tree.parent.resize(order.size());
    const auto is_reached = [&](int host) {
        return host >= 0 && host < hosts && reached[static_cast<std::size_t>(host)];
    };
    for (const auto& [host, parent] : order) {
        const bool is_root = host == tree.root;
        if (host < 0 || host >= hosts || is_reached(host) || !(is_root || is_reached(parent))) return std::nullopt;
        reached[static_cast<std::size_t>(host)] = true;
        tree.parent[static_cast<std::size_t>(host)] = parent;
        if (!is_root) children[static_cast<std::size_t>(parent)].push_back(host);
    }
    tree.children = children;
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

template <class Codec>
void tree_fields(Codec& codec, Coded<Codec, std::optional<Tree>>& tree, int host_count) {
    const auto hosts = static_cast<std::size_t>(host_count);
    const auto order_of = [](const std::optional<Tree>& each) {
        return each ? in_order(*each) : std::vector<Served>();
    };
    codec.as(tree, order_of, tree_of, [&](auto& order) {
        codec.list(order, 4, hosts, [&](auto& each) {
            codec.number(each.host, 4);
            if (&each != &order.front()) codec.number(each.parent, 4);
        });
        codec.require(order.empty() || order.size() == hosts);
    });
    if (!tree) return;
    codec.list(tree->site_of, 2, hosts, [&](auto& site) { codec.number(site, 2); });
    codec.require(tree->site_of.empty() || tree->site_of.size() == hosts);
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
void arm_fields(Codec& codec, Coded<Codec, Candidate>& candidate, Coded<Codec, std::optional<Tree>>& tree,
                Collective collective, int hosts) {
    const auto text_of = [](const Candidate& each) { return to_string(each); };
    const auto parsed = [&](const std::string& text) { return parse_candidate(collective, text).candidate; };
    codec.as(candidate, text_of, parsed, [&](auto& text) { codec.text(text, longest_text_bytes); });
    tree_fields(codec, tree, hosts);
    const TreeKind kind = candidate.parameters.tree;
    const bool by_sites = kind == TreeKind::two_level || kind == TreeKind::regions;
    codec.require(!tree || tree->site_of.empty() != by_sites);
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
    arm_fields(codec, ruling.candidate, ruling.tree, collective, size.hosts);
    codec.number(ruling.id, 4);
    clocking_fields(codec, ruling.clocking);
    if constexpr (Codec::reads) {
        if (ruling.clocking.probe > 0) ruling.probe.emplace();
    }
    if (ruling.probe) arm_fields(codec, ruling.probe->candidate, ruling.probe->tree, collective, size.hosts);
}

}  // namespace

template <class Codec>
void fields(Codec& codec, Coded<Codec, Announcement>& announcement, const Size& size) {
    Coded<Codec, Route>& route = announcement.route;
    codec.choice(route.kind, Route::Kind::hosts);
    codec.choice(announcement.kind, Announcement::Kind::last);
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
void fields(Codec& codec, Coded<Codec, Report>& report, std::uint64_t owner, int ranks) {
    codec.constant(owner, 8);
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

std::vector<std::byte> encode(const Report& report, std::uint64_t owner) { return to_bytes(report, owner, 0); }
std::optional<Report> decode_report(std::span<const std::byte> bytes, int rank_count, std::uint64_t owner) {
    return from_bytes<Report>(bytes, owner, rank_count);
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

}  // namespace mutirao
