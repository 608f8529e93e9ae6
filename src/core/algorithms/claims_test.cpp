// What the algorithms' files claim of depth, load and traffic, which the proofs of the catalogue do not see.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

#include "core/algorithms/over_placement.h"
#include "core/algorithms/shape.h"
#include "core/algorithms/test_requests.h"
#include "core/collectives/collective.h"
#include "core/network/test_networks.h"
#include "core/schedule/predictor.h"
#include "core/schedule/step_graph.h"

namespace mutirao {
namespace {

std::vector<Schedule> schedules_of(Collective collective, std::string_view text, int size, std::size_t length_bytes,
                                   bool commutes = true) {
    const Candidate candidate = parse_candidate(collective, text).candidate.value();
    const int root = row_of(collective).rooted ? size / 2 : 0;
    return test::build_all(candidate,
                           {.collective = collective, .root = root, .length_bytes = length_bytes,
                            .op = {.commutes = commutes}},
                           size, {});
}

/// Messages in a row before the last step, whatever each of them takes.
int depth_of(const std::vector<Schedule>& schedules) {
    const StepGraph graph(schedules);
    std::vector<int> depth(graph.node_count(), 0);
    // Repeated until nothing changes: slow, but it needs no order of the steps.
    for (bool changed = true; changed;) {
        changed = false;
        const auto raise = [&](StepIndex step, int least) {
            changed = changed || depth[step] < least;
            depth[step] = std::max(depth[step], least);
        };
        for (StepIndex step = 0; step < graph.node_count(); ++step) {
            const auto& node = graph.nodes[step];
            if (node.step->kind == StepKind::send) raise(node.partner, depth[step] + 1);
            // What waits for a send only needs its memory.
            if (node.step->kind == StepKind::send) continue;
            for (const StepIndex later : graph.dependents(step)) raise(later, depth[step]);
        }
    }
    return depth.empty() ? 0 : *std::max_element(depth.begin(), depth.end());
}

/// The most bytes that any rank sends or receives.
std::size_t port_load(const std::vector<Schedule>& schedules) {
    std::size_t most = 0;
    for (const Schedule& schedule : schedules) {
        std::size_t sent = 0;
        std::size_t received = 0;
        for (const Step& step : schedule.steps()) {
            if (step.kind == StepKind::send) sent += step.source.length_bytes;
            if (step.kind == StepKind::receive) received += step.target.length_bytes;
        }
        most = std::max({most, sent, received});
    }
    return most;
}

/// The most messages that any rank sends.
std::ptrdiff_t most_sends(const std::vector<Schedule>& schedules) {
    std::ptrdiff_t most = 0;
    for (const Schedule& schedule : schedules)
        most = std::max(most, std::ranges::count(schedule.steps(), StepKind::send, &Step::kind));
    return most;
}

/// Messages in a row, of a call of 1000 bytes or blocks of as many.
struct Depth {
    Collective collective;
    std::string_view text;
    std::function<int(int size)> most;
    bool exactly = false;  ///< where no operand takes a shorter way than the others
    bool commutes = true;
};

int ceiling_log2(int size) { return test::ceiling_log(size, 2); }
int floor_log2(int size) { return ceiling_log2(size) - (is_power_of_two(size) ? 0 : 1); }
/// Ranks too many for a power of two tell others what they have, and may be told the result.
int folding(int size) { return is_power_of_two(size) ? 0 : 1; }
int one(int) { return 1; }
int to_the_last(int size) { return size - 1; }
int pipelined_log2(int size) { return ceiling_log2(size) + 4 - 1; }
int twice_ceiling_log2(int size) { return 2 * ceiling_log2(size); }

std::vector<Depth> depths() {
    using enum Collective;
    std::vector<Depth> all = {
        {broadcast, "flat", one, true},
        {broadcast, "binomial", ceiling_log2},
        {broadcast, "k_nomial:radix=4", [](int size) { return test::ceiling_log(size, 4); }},
        {broadcast, "circulant", ceiling_log2},
        {broadcast, "circulant:segment_bytes=256", pipelined_log2},
        {broadcast, "chain", to_the_last, true},
        {broadcast, "split_binary", [](int size) { return ceiling_log2(size + 1); }},
        {broadcast, "scatter_ring_allgather", [](int size) { return ceiling_log2(size) + size - 1; }},
        {broadcast, "scatter_recursive_doubling_allgather",
         [](int size) { return (is_power_of_two(size) ? 2 : 3) * ceiling_log2(size); }},
        {reduce, "flat", one, true},
        {reduce, "k_nomial:radix=2", ceiling_log2},
        {reduce, "k_nomial:radix=2", [](int size) { return ceiling_log2(size) + 1; }, false, false},
        {reduce, "k_nomial:radix=8", [](int size) { return test::ceiling_log(size, 8); }},
        {reduce, "chain", to_the_last, true},
        {reduce, "in_order_binary", [](int size) { return 1 + ceiling_log2(size); }},
        {reduce, "circulant", ceiling_log2},
        {reduce, "circulant:segment_bytes=256", pipelined_log2},
        {reduce, "rabenseifner", [](int size) { return 2 * floor_log2(size) + folding(size); }},
        {allreduce, "recursive_doubling", [](int size) { return floor_log2(size) + 2 * folding(size); }},
        {allreduce, "rabenseifner", [](int size) { return 2 * floor_log2(size) + 2 * folding(size); }},
        {allreduce, "ring", [](int size) { return 2 * (size - 1); }, true},
        {allreduce, "circulant", twice_ceiling_log2},
        {allreduce, "direct", one, true},
        {allreduce, "direct_shares", [](int) { return 2; }, true},
        {allreduce, "reduce_broadcast:radix=2", twice_ceiling_log2},
        {allreduce, "multi_lane",
         [](int size) { return 2 * ceiling_log2(test::some_placement(size).host_count()) + 2; }},
        {reduce_scatter_block, "direct", one, true},
        {reduce_scatter_block, "recursive_halving", [](int size) { return floor_log2(size) + 2 * folding(size); }},
        {reduce_scatter_block, "ring", to_the_last, true},
        {reduce_scatter_block, "circulant", ceiling_log2},
        {reduce_scatter_block, "reduce_scatter:radix=2", twice_ceiling_log2},
        {reduce_scatter_block, "pat:radix=2", ceiling_log2},
        {reduce_scatter_block, "pat:radix=64", ceiling_log2},
    };
    for (const Collective each : {scan, exscan}) {
        all.push_back({each, "linear", to_the_last, true});
        all.push_back({each, "recursive_doubling", ceiling_log2});
        all.push_back({each, "direct", one, true});
        all.push_back({each, "direct_shares", [each](int size) { return each == exscan && size == 2 ? 1 : 2; }, true});
        all.push_back({each, "two_level", [](int size) {
                           const Placement runs = runs_on_hosts(test::some_placement(size));
                           return 2 * ceiling_log2(runs.most_ranks_on_a_host()) + ceiling_log2(runs.host_count());
                       }});
    }
    return all;
}

// Catches a chain hidden in a tree, and a false dependency.
TEST(Claims, Depths) {
    for (const auto& [collective, text, most, exactly, commutes] : depths()) {
        SCOPED_TRACE(std::string(to_string(collective)) + '/' + std::string(text));
        for (int size = 2; size <= 40; ++size) {
            const int depth = depth_of(schedules_of(collective, text, size, 1000, commutes));
            EXPECT_LE(depth, most(size)) << size;
            EXPECT_TRUE(depth == most(size) || !exactly) << size;
        }
    }
    for (const auto& [radix, size, most] : {std::tuple{4, 16, 2}, {4, 12, 2}, {8, 7, 1}, {3, 11, 4}}) {
        const std::string text = "recursive_multiplying:radix=" + std::to_string(radix);
        EXPECT_LE(depth_of(schedules_of(Collective::allreduce, text, size, 1000)), most) << text << ", " << size;
    }
}

// Each rank sends a segment once, and gets no more than one in a round.
TEST(Claims, CirculantReducesWithASegmentARound) {
    constexpr std::size_t segment = 256;
    for (int size = 2; size <= 40; ++size) {
        const auto schedules = schedules_of(Collective::reduce, "circulant:segment_bytes=256", size, 4 * segment);
        EXPECT_EQ(most_sends(schedules), 4) << size;
        EXPECT_LE(port_load(schedules), static_cast<std::size_t>(pipelined_log2(size)) * segment) << size;
    }
}

// Seen to fail without a bound on how far a rank may be ahead.
TEST(Claims, CirculantReducesAsFastAsItBroadcasts) {
    constexpr int size = 24;
    const Network network = test::uniform_network(size, {50, 1000}, {0, 0, 1000});
    const auto predicted_us = [&](Collective collective) {
        const auto schedules = schedules_of(collective, "circulant:segment_bytes=32768", size, 8 << 20);
        return test::predict(schedules, network).completion_us;
    };
    EXPECT_LE(predicted_us(Collective::reduce), 1.2 * predicted_us(Collective::broadcast));
}

// Of trees: one message for each step, unless more blocks are due than may share one.
TEST(Claims, BlocksShareMessages) {
    using enum Collective;
    for (const auto& [collective, text, size, sends] :
         {std::tuple{reduce_scatter_block, "pat:radix=64", 33, 6},
          {reduce_scatter_block, "pat:radix=4", 32, 1 + 1 + 1 + 2 + 4},
          {reduce_scatter_block, "pat:radix=16", 32, 5}, {allgather, "sparbit", 32, 31}})
        EXPECT_EQ(most_sends(schedules_of(collective, text, size, 8)), sends) << text;
    // One a round, or two where the blocks go round the end of the operand.
    for (int size = 2; size <= 40; ++size)
        EXPECT_LE(most_sends(schedules_of(reduce_scatter_block, "circulant", size, 8)), twice_ceiling_log2(size));
}

TEST(Claims, LongMessagesLoadPortsAsLittleAsPossible) {
    using enum Collective;
    for (const std::string_view name : {"scatter_ring_allgather", "scatter_recursive_doubling_allgather"}) {
        for (const int size : {2, 4, 8, 16, 64})
            EXPECT_LE(port_load(schedules_of(broadcast, name, size, 6400)), 2u * 6400u) << name << ", ranks " << size;
    }
    constexpr std::size_t block = 64;
    const struct {
        Collective collective;
        std::vector<std::string_view> names;
        std::size_t times = 1;  ///< that all blocks but a rank's own go through its port
        bool of_powers_of_two = false;
    } cases[] = {
        {allreduce, {"ring", "circulant", "direct_shares"}, 2},
        {allreduce, {"rabenseifner"}, 2, true},
        {reduce_scatter_block, {"direct", "pairwise", "ring", "circulant", "pat:radix=4"}},
        {reduce_scatter_block, {"recursive_halving"}, 1, true},
        {scan, {"direct_shares"}, 2},
        {exscan, {"direct_shares"}, 2},
    };
    for (const auto& [collective, names, times, of_powers_of_two] : cases) {
        for (int size = 2; size <= 33; ++size) {
            if (of_powers_of_two && !is_power_of_two(size)) continue;
            const auto ranks = static_cast<std::size_t>(size);
            const std::size_t length = collective == reduce_scatter_block ? block : ranks * block;
            for (const std::string_view name : names)
                EXPECT_EQ(port_load(schedules_of(collective, name, size, length)), times * (ranks - 1) * block)
                    << to_string(collective) << '/' << name << ", ranks " << size;
        }
    }
}

// Traffic between hosts, and between sites, of which each has so many hosts in a row.

struct Traffic {
    int messages = 0;
    std::size_t bytes = 0;

    /// From group to group of ranks.
    using Table = std::map<std::pair<int, int>, Traffic>;
};

class OnHosts {
  public:
    OnHosts(Collective collective, std::string_view text, std::size_t length_bytes, Placement placement,
            const std::vector<int>& hosts_in_site = {}, const std::vector<int>& owned = {})
        : placement_(std::move(placement)) {
        for (int site = 0; const int hosts : hosts_in_site)
            site_of_host_.insert(site_of_host_.end(), static_cast<std::size_t>(hosts), site++);
        const CallShape shape{.collective = collective,
                              .root = row_of(collective).rooted ? placement_.rank_count() / 2 : 0,
                              .length_bytes = length_bytes};
        const Candidate candidate = parse_candidate(collective, text).candidate.value();
        Tree tree;
        if (!site_of_host_.empty()) tree = two_level_tree(site_of_host_, placement_.host_of(shape.root));
        tree.owned = owned;
        const Composer composer(candidate, shape, placement_, site_of_host_.empty() ? nullptr : &tree);
        for (int rank = 0; rank < placement_.rank_count(); ++rank) schedules_.push_back(composer.part_of(rank, shape));
    }

    int rank_count() const { return placement_.rank_count(); }
    int rank(int of) const { return of; }
    int host(int rank) const { return placement_.host_of(rank); }
    int site(int rank) const { return site_of_host_[static_cast<std::size_t>(host(rank))]; }

    using Group = int (OnHosts::*)(int rank) const;
    Traffic::Table between(Group group = &OnHosts::host) const {
        Traffic::Table result;
        for (int rank = 0; rank < rank_count(); ++rank) {
            for (const Step& step : schedules_[static_cast<std::size_t>(rank)].steps()) {
                if (step.kind != StepKind::send) continue;
                const std::pair pair((this->*group)(rank), (this->*group)(step.peer));
                if (pair.first == pair.second) continue;
                ++result[pair].messages;
                result[pair].bytes += step.source.length_bytes;
            }
        }
        return result;
    }
    std::size_t bytes_into(int number, Group group = &OnHosts::host) const {
        std::size_t bytes = 0;
        for (const auto& [pair, traffic] : between(group)) bytes += pair.second == number ? traffic.bytes : 0;
        return bytes;
    }
    std::size_t bytes_from(int host) const {
        std::size_t bytes = 0;
        for (const auto& [pair, traffic] : between()) bytes += pair.first == host ? traffic.bytes : 0;
        return bytes;
    }
    /// That any rank sends to other hosts.
    Traffic most_by_a_rank() const {
        std::map<int, Traffic> of_rank;
        Traffic most;
        for (const auto& [pair, traffic] : between(&OnHosts::rank)) {
            if (host(pair.first) == host(pair.second)) continue;
            Traffic& sum = of_rank[pair.first];
            most.messages = std::max(most.messages, sum.messages += traffic.messages);
            most.bytes = std::max(most.bytes, sum.bytes += traffic.bytes);
        }
        return most;
    }
    /// Over what no link's rate limits, with so long ways inside and between sites.
    double time_us(double inside_us, double between_us) const {
        const Network network = test::network_of(placement_.host_count(), [&](int a, int b) {
            const auto site = [&](int host) { return site_of_host_[static_cast<std::size_t>(host)]; };
            return Link{.latency_us = site(a) == site(b) ? inside_us : between_us};
        });
        return predict(schedules_, {Topology{network, {}, site_of_host_}, placement_, test::free_memory}).completion_us;
    }

  private:
    Placement placement_;
    std::vector<int> site_of_host_;
    std::vector<Schedule> schedules_;
};

std::vector<Placement> placements() {
    return {Placement::in_blocks(4, 4), Placement::in_blocks(5, 1), Placement::in_blocks(1, 6),
            Placement({0, 1, 2, 0, 1, 2, 0, 1, 2}), Placement({0, 0, 0, 1, 1, 2, 2, 2, 2, 2}),
            Placement({2, 0, 3, 3, 1, 0, 2, 3, 0, 2, 3})};
}

TEST(Claims, TwoLevelAlltoallSendsOneMessageBetweenTwoHosts) {
    constexpr std::size_t block = 8;
    for (const Placement& placement : placements()) {
        const OnHosts run(Collective::alltoall, "two_level", block, placement);
        const int hosts = placement.host_count();
        const Traffic::Table traffic = run.between();
        EXPECT_EQ(traffic.size(), static_cast<std::size_t>(hosts * (hosts - 1)));
        for (const auto& [pair, between] : traffic) {
            EXPECT_EQ(between.messages, 1);
            EXPECT_EQ(between.bytes, placement.ranks_of(pair.first).size() *
                                         placement.ranks_of(pair.second).size() * block);
        }
        if (hosts < 2) continue;
        const auto fewest = static_cast<int>(placement.most_ranks_on_a_host());
        if (hosts * fewest != placement.rank_count()) continue;  // hosts are not alike
        EXPECT_EQ(run.most_by_a_rank().messages, (hosts - 2 + fewest) / fewest);
    }
}

TEST(Claims, LocalityBruckBringsEachBlockToAHostOnce) {
    constexpr std::size_t block = 8;
    for (const Placement& placement : placements()) {
        const OnHosts run(Collective::allgather, "locality_bruck", block, placement);
        for (int host = 0; host < placement.host_count(); ++host) {
            const auto elsewhere = static_cast<std::size_t>(placement.rank_count()) -
                                   placement.ranks_of(host).size();
            EXPECT_EQ(run.bytes_into(host), elsewhere * block);
        }
    }
}

// Four ranks a host reach four others in a round by one message each, and twenty-four in two; eight by two messages.
TEST(Claims, RanksOfAHostShareItsMessages) {
    using enum Collective;
    const struct {
        Collective collective;
        std::string_view text;
        std::vector<std::pair<int, int>> messages_of_hosts;  ///< the most by any rank
        bool exactly = true;
    } cases[] = {
        {allgather, "locality_bruck", {{5, 2}, {6, 4}, {25, 4}, {26, 6}}, false},
        {barrier, "locality_dissemination", {{5, 1}, {6, 2}, {25, 2}, {26, 3}}},
        {barrier, "locality_dissemination:radix=3", {{9, 2}, {10, 3}, {81, 4}}},
        {broadcast, "locality_tree:radix=2", {{9, 2}, {10, 3}, {81, 4}, {82, 5}}},
    };
    for (const auto& [collective, text, messages_of_hosts, exactly] : cases) {
        for (const auto& [hosts, most] : messages_of_hosts) {
            const OnHosts run(collective, text, 8, Placement::in_blocks(hosts, 4));
            const int messages = run.most_by_a_rank().messages;
            EXPECT_TRUE(exactly ? messages == most : messages <= most) << text << ", hosts " << hosts;
        }
    }
}

TEST(Claims, ATreeTellsAndAsksNoHostTwice) {
    for (const int hosts : {9, 10, 81, 82}) {
        const OnHosts told(Collective::broadcast, "locality_tree:radix=2", 8, Placement::in_blocks(hosts, 4));
        const OnHosts asked(Collective::reduce, "locality_tree:radix=2", 8, Placement::in_blocks(hosts, 4));
        for (int host = 0; host < hosts; ++host) {
            EXPECT_LE(told.bytes_into(host), 8u);
            EXPECT_LE(asked.bytes_from(host), 8u);
        }
    }
}

TEST(Claims, TwoLevelGathersAndScattersSendEachHostOneMessage) {
    constexpr std::size_t block = 8;
    for (const Placement& placement : placements()) {
        const auto hosts = static_cast<std::size_t>(placement.host_count());
        for (const Collective collective : {Collective::gather, Collective::scatter}) {
            const OnHosts run(collective, "two_level", block, placement);
            const Traffic::Table traffic = run.between();
            EXPECT_EQ(traffic.size(), hosts - 1);
            for (const auto& [pair, between] : traffic) EXPECT_EQ(between.messages, 1);
        }
        const OnHosts scatter(Collective::scatter, "two_level", block, placement);
        const int root_host = placement.host_of(placement.rank_count() / 2);
        const std::size_t ranks = placement.ranks_of(root_host).size();
        EXPECT_EQ(static_cast<std::size_t>(scatter.most_by_a_rank().messages), (hosts - 2 + ranks) / ranks);
    }
}

TEST(Claims, LanesCarryAShareEach) {
    constexpr std::size_t length = 4800;
    for (const Placement& placement : placements()) {
        const OnHosts run(Collective::broadcast, "multi_lane", length, placement);
        const int root_host = placement.host_of(placement.rank_count() / 2);
        for (int host = 0; host < placement.host_count(); ++host) {
            EXPECT_EQ(run.bytes_into(host), host == root_host ? 0 : length);
        }
        EXPECT_EQ(run.bytes_from(root_host), placement.host_count() == 1 ? 0 : length);
    }
    const OnHosts run(Collective::broadcast, "multi_lane", length, Placement::in_blocks(5, 4));
    for (int host = 0; host < 5; ++host) EXPECT_LE(run.bytes_from(host), length) << host;
    const OnHosts reduced(Collective::allreduce, "multi_lane", length, Placement::in_blocks(4, 4));
    EXPECT_EQ(reduced.most_by_a_rank().bytes, 2 * length * 3 / 4 / 4);
    for (int host = 0; host < 4; ++host) EXPECT_EQ(reduced.bytes_into(host), 2 * length * 3 / 4);
}

// Seen to fail with a scan between all ranks of the hosts.
TEST(Claims, TwoLevelScansSendByOneRankOfEachHost) {
    constexpr std::size_t length = 4800;
    for (const Collective each : {Collective::scan, Collective::exscan}) {
        for (const Placement& placement : placements()) {
            const OnHosts run(each, "two_level", length, placement);
            const int runs = runs_on_hosts(placement).host_count();
            const int rounds = test::ceiling_log(runs, 2);
            EXPECT_LE(run.most_by_a_rank().messages, rounds);
            if (runs != placement.host_count()) continue;
            const auto most = static_cast<std::size_t>(rounds) * length;
            for (int host = 0; host < placement.host_count(); ++host) {
                EXPECT_LE(run.bytes_from(host), most);
                EXPECT_LE(run.bytes_into(host), most);
            }
        }
    }
}

// Seen to fail with groups of hosts that are not neighbours.
TEST(Claims, NoLinkBetweenGroupsCarriesMoreThanAStripe) {
    constexpr std::size_t length = 4800;
    for (const int in_group : {2, 4, 8}) {
        const std::string text = "striped:radix=" + std::to_string(in_group);
        const OnHosts run(Collective::broadcast, text, length, Placement::in_blocks(24, 1));
        for (const auto& [pair, between] : run.between()) {
            if (pair.first / in_group == pair.second / in_group) continue;
            EXPECT_LE(between.bytes, length / static_cast<std::size_t>(in_group));
        }
    }
}

constexpr std::size_t message_bytes = 96'000;

OnHosts over_sites(Collective collective, std::string_view text, const std::vector<int>& hosts_in_site,
                   int ranks_per_host) {
    const int hosts = std::accumulate(hosts_in_site.begin(), hosts_in_site.end(), 0);
    return {collective, text, message_bytes, Placement::in_blocks(hosts, ranks_per_host), hosts_in_site};
}

// Seen to fail with a block that goes whole to one rank of a site.
TEST(GroupsClaims, AllPairsOfRanksOfTwoSitesCarryAPart) {
    for (const auto& [collective, text, bytes] :
         {std::tuple{Collective::allgather, "groups:spread=4", message_bytes / 4},
          {Collective::allreduce, "groups:spread=4", message_bytes / 16},
          {Collective::allreduce, "groups_twice:spread=4", 2 * message_bytes / 12 / 4},
          {Collective::reduce_scatter_block, "groups:spread=4", message_bytes / 4}}) {
        const OnHosts run = over_sites(collective, text, {4, 4, 4}, 1);
        Traffic::Table traffic = run.between(&OnHosts::rank);
        for (int from = 0; from < run.rank_count(); ++from) {
            for (int to = 0; to < run.rank_count(); ++to) {
                if (run.site(from) == run.site(to)) continue;
                EXPECT_EQ((traffic[{from, to}].bytes), bytes) << to_string(collective) << ' ' << from << ' ' << to;
            }
        }
    }
}

// Each pair of ranks carries its share of what the sites of the two own.
TEST(GroupsClaims, WhatSitesOwnCrossesOnceThereAndOnceBack) {
    constexpr std::size_t mebibyte = 1 << 20, part = mebibyte / owned_parts;
    const std::vector<int> hosts{4, 2, 4, 8}, owned{64, 0, 16, 48};
    const OnHosts run(Collective::allreduce, "groups_twice:spread=8,kind=two_level_uneven", mebibyte,
                      Placement::in_blocks(18, 1), hosts, owned);
    std::size_t pairs = 0;
    for (const auto& [pair, traffic] : run.between(&OnHosts::rank)) {
        const auto from = static_cast<std::size_t>(run.site(pair.first)), to = static_cast<std::size_t>(run.site(pair.second));
        if (from == to) continue;
        ++pairs;
        const auto both_own = static_cast<std::size_t>(owned[from] + owned[to]);
        EXPECT_EQ(traffic.bytes, both_own * part / static_cast<std::size_t>(hosts[from] * hosts[to])) << from << ' ' << to;
    }
    EXPECT_EQ(pairs, 18U * 18 - 4 * 4 - 2 * 2 - 4 * 4 - 8 * 8);
}

TEST(GroupsClaims, ARankTalksToNoMoreRanksOfASiteThanItIsTold) {
    using enum Collective;
    for (const Collective collective :
         {allgather, allreduce, reduce_scatter_block, gather, scatter, broadcast, reduce, scan, exscan}) {
        for (const int spread : {1, 4}) {
            const std::string text = "groups:spread=" + std::to_string(spread);
            const OnHosts run = over_sites(collective, text, {8, 8, 8}, 1);
            std::map<std::pair<int, int>, int> peers;
            for (const auto& [pair, traffic] : run.between(&OnHosts::rank)) {
                const auto& [from, to] = pair;
                if (run.site(from) == run.site(to)) continue;
                const bool cuts = collective != reduce_scatter_block && collective != scatter;
                ++peers[cuts ? std::pair{from, run.site(to)} : std::pair{to, run.site(from)}];
            }
            for (const auto& [pair, count] : peers) EXPECT_LE(count, spread) << to_string(collective);
        }
    }
}

// Sites of unequal size, and hosts of several ranks.
TEST(GroupsClaims, WhatASiteOrAHostNeedsEntersItOnce) {
    const std::vector<int> hosts_in_site = {3, 5, 1, 2};
    for (const int ranks : {1, 3}) {
        const OnHosts gathered = over_sites(Collective::allgather, "groups:spread=4", hosts_in_site, ranks);
        const auto all = static_cast<std::size_t>(gathered.rank_count());
        for (int site = 0; site < 4; ++site) {
            const auto here = static_cast<std::size_t>(hosts_in_site[static_cast<std::size_t>(site)] * ranks);
            EXPECT_EQ(gathered.bytes_into(site, &OnHosts::site), (all - here) * message_bytes);
        }
        for (int host = 0; host < 11; ++host)
            EXPECT_EQ(gathered.bytes_into(host), (all - static_cast<std::size_t>(ranks)) * message_bytes);
        const OnHosts reduced = over_sites(Collective::allreduce, "groups:spread=4", hosts_in_site, ranks);
        for (int site = 0; site < 4; ++site) EXPECT_EQ(reduced.bytes_into(site, &OnHosts::site), 3 * message_bytes);
        const OnHosts scanned = over_sites(Collective::scan, "groups:spread=4", hosts_in_site, ranks);
        for (std::size_t site = 0; site < 4; ++site)
            EXPECT_EQ(scanned.bytes_into(static_cast<int>(site), &OnHosts::site), site * message_bytes);
    }
}

// Where sites are an hour apart, what is inside them is not to be seen.
TEST(GroupsClaims, TheLongWayIsTakenOnce) {
    constexpr double inside_us = 1, between_us = 1e6;
    for (const auto& [collective, text, crossings] :
         {std::tuple{Collective::allgather, "groups", 1}, {Collective::allreduce, "groups", 1},
          {Collective::allreduce, "groups_twice", 2}, {Collective::reduce_scatter_block, "groups", 1},
          {Collective::gather, "groups", 1}, {Collective::scatter, "groups", 1}, {Collective::reduce, "groups", 1},
          {Collective::broadcast, "groups", 1}, {Collective::scan, "groups", 1}, {Collective::exscan, "groups", 1}}) {
        for (const int ranks : {1, 2}) {
            const OnHosts run = over_sites(collective, std::string(text) + ":spread=4", {3, 5, 2}, ranks);
            const double trips = run.time_us(inside_us, between_us) / between_us;
            EXPECT_GE(trips, crossings) << to_string(collective) << '/' << text;
            EXPECT_LT(trips, crossings + 1e-4) << to_string(collective) << '/' << text;
        }
    }
}

// What a gather gains by empty messages.

/// The most blocks that are on their way to the root at once: one that nobody asked for is from the start.
int most_on_their_way(const std::vector<Schedule>& schedules, const Network& network, int root) {
    struct Way {
        double begin_us = 0;
        double end_us = 0;
    };
    std::map<int, Way> ways;
    for (const TimedMessage& message :
         test::predict(schedules, network, {.record_messages = true}).messages) {
        if (message.to == root) ways[message.from].end_us = message.arrive_us;
        if (message.from == root) ways[message.to].begin_us = message.start_us;
    }
    int most = 0;
    for (const auto& [rank, way] : ways) {
        const auto count = std::count_if(ways.begin(), ways.end(), [&](const auto& other) {
            return other.second.begin_us <= way.begin_us && way.begin_us < other.second.end_us;
        });
        most = std::max(most, static_cast<int>(count));
    }
    return most;
}

// Seen to fail with an answer that does not wait for the question, and with a root that only waits
// for first segments.
TEST(Claims, NoMoreThanTwoBlocksAreOnTheirWayToTheRootOfAGather) {
    constexpr int ranks = 9;
    for (unsigned seed = 0; seed < 10; ++seed) {
        const Network network = test::random_network(seed, ranks);
        for (const auto& [text, most] : {std::pair{"linear", ranks - 1}, {"synchronised", 1},
                                         {"synchronised:segment_bytes=256", 2}}) {
            EXPECT_EQ(most_on_their_way(schedules_of(Collective::gather, text, ranks, 3000), network, ranks / 2), most)
                << text << ", seed " << seed;
        }
    }
}

}  // namespace
}  // namespace mutirao
