#include "simulate/loops.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/network/tree.h"
#include "core/network/uplinks.h"
#include "core/spanning_tree/kruskal.h"

namespace mutirao::simulate {
namespace {

// As src/mpi/watch/topology.cpp has them.
constexpr HostCosts assumed_costs{10.0, 10.0, 1000.0};
constexpr Transport open_mpi_over_tcp{.eager_limit_bytes = 65536 - 128, .initial_window_bytes = 10 * 1448};

constexpr double ms = 1000;
constexpr std::size_t kib = 1024;

CallShape shape(Collective collective, std::size_t length_bytes) {
    return {.collective = collective, .length_bytes = length_bytes, .unit_bytes = row_of(collective).reduces ? 4u : 1u};
}

template <std::size_t sites>
std::vector<std::vector<double>> round_trips_between(const std::array<std::array<double, sites>, sites>& site_ms,
                                                     std::size_t hosts_per_site) {
    const std::size_t hosts = sites * hosts_per_site;
    std::vector<std::vector<double>> trips(hosts, std::vector<double>(hosts));
    for (std::size_t from = 0; from < hosts; ++from)
        for (std::size_t to = 0; to < hosts; ++to)
            trips[from][to] = site_ms[from / hosts_per_site][to / hosts_per_site];
    return trips;
}

template <class Use>
void for_pairs_with_same(int count, Use use) {
    for (int low = 0; low < count; ++low)
        for (int high = low; high < count; ++high) use(low, high);
}

template <class Use>
void for_pairs(int count, Use use) {
    for_pairs_with_same(count, [&](int low, int high) {
        if (low != high) use(low, high);
    });
}

}  // namespace

std::shared_ptr<const RankNetwork> network_of(const std::vector<std::vector<double>>& round_trips_ms) {
    // What a message takes beside its way, in the lab.
    constexpr double least_one_way_us = 50;
    const int hosts = static_cast<int>(round_trips_ms.size());
    Topology topology;
    topology.network = Network(hosts);
    for (int from = 0; from < hosts; ++from) {
        topology.network.set_host(from, assumed_costs);
        for (int to = 0; to < hosts; ++to) {
            const double trip_ms = round_trips_ms[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
            if (from != to)
                topology.network.set_link(from, to, {.latency_us = std::max(trip_ms * ms / 2, least_one_way_us)});
        }
    }
    topology.network.transport = open_mpi_over_tcp;
    topology.spanning_tree = minimum_spanning_tree(topology.network);
    topology.site_of = discover_sites(topology.network);
    topology.network.uplinks = uplinks_of(topology.network, topology.site_of);
    return std::make_shared<const RankNetwork>(one_rank_per_host(std::move(topology)));
}

// Network A, Open MPI 5, sgd, three jobs: known 245 to 270 ms after MPI_Init, the first of eleven changes after
// another 90, the last after 2.9 s; in the end all links between 140 and 297 MB/s. Round trips read 0.09 ms more than
// was asked for, by the median, so that of links that are alike now one is the shortest and now another.
std::vector<Program::News> news_of(const std::shared_ptr<const RankNetwork>& network, double known_us,
                                  std::uint64_t seed) {
    constexpr double first_us = 90 * ms, period_us = 255 * ms, least_bytes_per_us = 140, most_bytes_per_us = 297;
    constexpr double most_excess_us = 0.09 * ms;
    const std::vector<int>& site_of = network->topology().site_of;
    const int sites = 1 + *std::max_element(site_of.begin(), site_of.end());
    Network seen = network->between_hosts();
    std::vector<Program::News> news;
    const auto tell = [&](double now_us) {
        Topology topology{seen, {}, site_of};
        for_pairs(seen.host_count(), [&](int a, int b) {
            const double share = uniform_of(seed, 1 + news.size(), static_cast<std::uint64_t>(a), b);
            Link link = seen.link(a, b);
            link.latency_us += share * most_excess_us;
            topology.network.set_both(a, b, link);
        });
        topology.spanning_tree = minimum_spanning_tree(topology.network);
        topology.network.uplinks = uplinks_of(topology.network, site_of);
        news.push_back({now_us, std::make_shared<const RankNetwork>(std::move(topology), network->placement(),
                                                                    network->memory())});
    };
    tell(known_us);
    double now_us = known_us + first_us;
    for_pairs_with_same(sites, [&](int low, int high) {
        const double share = uniform_of(seed, 0, static_cast<std::uint64_t>(low), high);
        const double bytes_per_us = least_bytes_per_us + share * (most_bytes_per_us - least_bytes_per_us);
        for_pairs(seen.host_count(), [&](int a, int b) {
            const int site = site_of[static_cast<std::size_t>(a)], other = site_of[static_cast<std::size_t>(b)];
            const bool between = std::min(site, other) == low && std::max(site, other) == high;
            if (between) seen.set_both(a, b, {seen.link(a, b).latency_us, bytes_per_us});
        });
        tell(std::exchange(now_us, now_us + period_us));
    });
    return news;
}

std::vector<std::vector<double>> round_trips_of_a() {
    return round_trips_between<4>({{{0, 5, 20, 40}, {5, 0, 18, 36}, {20, 18, 0, 25}, {40, 36, 25, 0}}}, 2);
}

std::vector<std::vector<double>> round_trips_of_b() { return round_trips_between<2>({{{0, 30}, {30, 0}}}, 4); }

std::vector<std::vector<double>> round_trips_of_six_sites(double trunk_ms) {
    return round_trips_between<6>({{{0, 485.4, 698.9, 14.9, 332.8, 61.4},
                                    {485.4, 0, 364.1, 583.8, 13.5, 490.5},
                                    {698.9, 364.1, 0, 701.2, 371.7, 722.9},
                                    {14.9, 583.8, 701.2, 0, trunk_ms, 35.1},
                                    {332.8, 13.5, 371.7, trunk_ms, 0, 355.9},
                                    {61.4, 490.5, 722.9, 35.1, 355.9, 0}}},
                                  4);
}

// Everybody to everybody at once over six-sites takes 1.9 s in a fresh job: half of the longest round trip of
// 723 ms for the messages, and two for TCP's connection and what Open MPI says of itself over it.
WalkedTruth::Options open_mpi_5() {
    return {.native = {{Collective::allreduce, 0, "recursive_doubling"},
                       {Collective::allreduce, 8192, "rabenseifner"},
                       {Collective::alltoall, 0, "linear"}},
            .connect_round_trips = 2};
}

Program sgd(int rounds) {
    return {.ranks = 8,
            .steps = {{40 * ms, shape(Collective::allreduce, 4'000'000)}, {0, shape(Collective::allreduce, 8)}},
            .rounds = rounds};
}

Program fft(int rounds) {
    return {.ranks = 8, .steps = {{20 * ms, shape(Collective::alltoall, 64 * kib)}}, .rounds = rounds};
}

Program k_means(int rounds) {
    return {.ranks = 8,
            .steps = {{20 * ms, shape(Collective::allreduce, 8 * kib)},
                      {0, shape(Collective::allreduce, 512)},
                      {0, shape(Collective::allreduce, 8)},
                      {0, shape(Collective::broadcast, 8 * kib)}},
            .rounds = rounds};
}

}  // namespace mutirao::simulate
