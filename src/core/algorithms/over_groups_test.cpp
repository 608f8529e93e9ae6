// What collectives over groups claim: what crosses between two sites, over which pairs of ranks, and that the longest
// way is taken once. That data arrive is proved with the whole catalogue.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/algorithms/over_placement.h"
#include "core/algorithms/test_requests.h"
#include "core/schedule/predictor.h"
#include "core/selection/bounds.h"

namespace mutirao {
namespace {

constexpr std::size_t message_bytes = 96'000;

/// Of a job whose sites have so many hosts each, as ranks of one site stand in a row.
class OverSites {
  public:
    OverSites(Collective collective, std::string_view text, const std::vector<int>& hosts_in_site, int ranks_per_host)
        : candidate_(parse_candidate(collective, text).candidate.value()) {
        for (int site = 0; site < static_cast<int>(hosts_in_site.size()); ++site)
            site_of_host_.insert(site_of_host_.end(), static_cast<std::size_t>(hosts_in_site[site_index(site)]), site);
        const auto hosts = static_cast<int>(site_of_host_.size());
        placement_ = Placement::in_blocks(hosts, ranks_per_host);
        shape_ = {.collective = collective,
                  .root = row_of(collective).rooted ? placement_.rank_count() / 2 : 0,
                  .length_bytes = message_bytes};
        const Tree tree = two_level_tree(site_of_host_, placement_.host_of(shape_.root));
        const Composer composer(candidate_, shape_, placement_, &tree);
        for (int rank = 0; rank < placement_.rank_count(); ++rank) schedules_.push_back(composer.part_of(rank, shape_));
    }

    int rank_count() const { return placement_.rank_count(); }
    int site_of(int rank) const { return site_of_host_[site_index(placement_.host_of(rank))]; }
    int host_of(int rank) const { return placement_.host_of(rank); }

    /// Bytes from rank to rank.
    std::map<std::pair<int, int>, std::size_t> traffic() const {
        std::map<std::pair<int, int>, std::size_t> bytes;
        for (int rank = 0; rank < rank_count(); ++rank) {
            for (const Step& step : schedules_[site_index(rank)].steps())
                if (step.kind == StepKind::send) bytes[{rank, step.peer}] += step.source.length_bytes;
        }
        return bytes;
    }
    std::size_t bytes_into_site(int site) const {
        std::size_t bytes = 0;
        for (const auto& [pair, each] : traffic()) {
            if (site_of(pair.second) == site && site_of(pair.first) != site) bytes += each;
        }
        return bytes;
    }
    std::size_t bytes_into_host(int host) const {
        std::size_t bytes = 0;
        for (const auto& [pair, each] : traffic()) {
            if (host_of(pair.second) == host && host_of(pair.first) != host) bytes += each;
        }
        return bytes;
    }
    /// Over what no link's rate limits, with so long ways inside and between sites.
    double trips(double inside_us, double between_us) const {
        const auto hosts = static_cast<int>(site_of_host_.size());
        Network network(hosts);
        for (int a = 0; a < hosts; ++a) {
            for (int b = 0; b < a; ++b) {
                const bool inside = site_of_host_[site_index(a)] == site_of_host_[site_index(b)];
                network.set_both(a, b, {.latency_us = inside ? inside_us : between_us});
            }
        }
        const RankNetwork ranks{Topology{network, {}, site_of_host_}, placement_, free_memory};
        return predict(schedules_, ranks).completion_us;
    }

  private:
    static std::size_t site_index(int number) { return static_cast<std::size_t>(number); }

    Candidate candidate_;
    CallShape shape_;
    std::vector<int> site_of_host_;
    Placement placement_;
    std::vector<Schedule> schedules_;
};

// Seen to fail with a block that goes whole to one rank of a site.
TEST(OverGroups, AllPairsOfRanksOfTwoSitesCarryAPart) {
    for (const auto& [collective, text, bytes] :
         {std::tuple{Collective::allgather, "groups:spread=4", message_bytes / 4},
          {Collective::allreduce, "groups:spread=4", message_bytes / 16},
          {Collective::allreduce, "groups_twice:spread=4", 2 * message_bytes / 12 / 4},
          {Collective::reduce_scatter_block, "groups:spread=4", message_bytes / 4}}) {
        const OverSites run(collective, text, {4, 4, 4}, 1);
        auto traffic = run.traffic();
        for (int from = 0; from < run.rank_count(); ++from) {
            for (int to = 0; to < run.rank_count(); ++to) {
                if (run.site_of(from) == run.site_of(to)) continue;
                EXPECT_EQ((traffic[{from, to}]), bytes) << to_string(collective) << ' ' << from << ' ' << to;
            }
        }
    }
}

TEST(OverGroups, ARankTalksToNoMoreRanksOfASiteThanItIsTold) {
    for (const auto& [collective, name] : {std::pair{Collective::allgather, "groups"}, {Collective::allreduce, "groups"},
                                           {Collective::reduce_scatter_block, "groups"}, {Collective::gather, "groups"},
                                           {Collective::scatter, "groups"}, {Collective::broadcast, "groups"},
                                           {Collective::reduce, "groups"}}) {
        for (const int spread : {1, 4}) {
            const OverSites run(collective, std::string(name) + ":spread=" + std::to_string(spread),
                                {8, 8, 8}, 1);
            std::map<std::pair<int, int>, int> peers;
            for (const auto& [pair, bytes] : run.traffic()) {
                const auto& [from, to] = pair;
                if (run.site_of(from) == run.site_of(to)) continue;
                const bool cuts = collective != Collective::reduce_scatter_block && collective != Collective::scatter;
                ++peers[cuts ? std::pair{from, run.site_of(to)} : std::pair{to, run.site_of(from)}];
            }
            for (const auto& [pair, count] : peers) EXPECT_LE(count, spread) << to_string(collective);
        }
    }
}

// Sites of unequal size, and hosts of several ranks.
TEST(OverGroups, WhatASiteOrAHostNeedsEntersItOnce) {
    const std::vector<int> hosts_in_site = {3, 5, 1, 2};
    for (const int ranks : {1, 3}) {
        const OverSites gathered(Collective::allgather, "groups:spread=4", hosts_in_site, ranks);
        const auto all = static_cast<std::size_t>(gathered.rank_count());
        for (int site = 0; site < 4; ++site) {
            const auto here = static_cast<std::size_t>(hosts_in_site[static_cast<std::size_t>(site)] * ranks);
            EXPECT_EQ(gathered.bytes_into_site(site), (all - here) * message_bytes);
        }
        for (int host = 0; host < 11; ++host)
            EXPECT_EQ(gathered.bytes_into_host(host), (all - static_cast<std::size_t>(ranks)) * message_bytes);
        const OverSites reduced(Collective::allreduce, "groups:spread=4", hosts_in_site, ranks);
        for (int site = 0; site < 4; ++site) EXPECT_EQ(reduced.bytes_into_site(site), 3 * message_bytes);
    }
}

// Where sites are an hour apart, what is inside them is not to be seen.
TEST(OverGroups, TheLongWayIsTakenOnce) {
    constexpr double inside_us = 1, between_us = 1e6;
    for (const auto& [collective, text, crossings] :
         {std::tuple{Collective::allgather, "groups", 1}, {Collective::allreduce, "groups", 1},
          {Collective::allreduce, "groups_twice", 2}, {Collective::reduce_scatter_block, "groups", 1},
          {Collective::gather, "groups", 1}, {Collective::scatter, "groups", 1}, {Collective::reduce, "groups", 1},
          {Collective::broadcast, "groups", 1}}) {
        for (const int ranks : {1, 2}) {
            const OverSites run(collective, std::string(text) + ":spread=4", {3, 5, 2}, ranks);
            const double trips = run.trips(inside_us, between_us) / between_us;
            EXPECT_GE(trips, crossings) << to_string(collective) << '/' << text;
            EXPECT_LT(trips, crossings + 1e-4) << to_string(collective) << '/' << text;
        }
    }
}

}  // namespace
}  // namespace mutirao
