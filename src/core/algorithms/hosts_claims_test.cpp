// What the algorithms that go by hosts claim of the traffic between these, which the proofs of the
// catalogue do not see.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/algorithms/over_placement.h"
#include "core/algorithms/shape.h"
#include "core/algorithms/test_requests.h"
#include "core/schedule/predictor.h"

namespace mutirao {
namespace {

struct Traffic {
    int messages = 0;
    std::size_t bytes = 0;
};

/// Between each two hosts in each direction.
using HostTraffic = std::map<std::pair<int, int>, Traffic>;

class ByHosts {
  public:
    ByHosts(Collective collective, std::string_view text, std::size_t length_bytes,
            Placement placement)
        : placement_(std::move(placement)) {
        const CallShape shape{.collective = collective,
                              .root = row_of(collective).rooted ? placement_.rank_count() / 2 : 0,
                              .length_bytes = length_bytes};
        const Candidate candidate = parse_candidate(collective, text).candidate.value();
        const Composer composer(candidate, shape, placement_, nullptr);
        for (int rank = 0; rank < placement_.rank_count(); ++rank) schedules_.push_back(composer.part_of(rank, shape));
    }

    HostTraffic between_hosts() const {
        HostTraffic result;
        for_messages([&](int from, int to, std::size_t bytes) {
            Traffic& traffic = result[{placement_.host_of(from), placement_.host_of(to)}];
            ++traffic.messages;
            traffic.bytes += bytes;
        });
        return result;
    }
    std::size_t bytes_into(int host) const {
        std::size_t bytes = 0;
        for (const auto& [pair, traffic] : between_hosts()) {
            if (pair.second == host) bytes += traffic.bytes;
        }
        return bytes;
    }
    std::size_t bytes_from(int host) const {
        std::size_t bytes = 0;
        for (const auto& [pair, traffic] : between_hosts()) {
            if (pair.first == host) bytes += traffic.bytes;
        }
        return bytes;
    }
    /// That any rank sends to other hosts.
    Traffic most_by_a_rank() const {
        std::map<int, Traffic> of_rank;
        for_messages([&](int from, int, std::size_t bytes) {
            ++of_rank[from].messages;
            of_rank[from].bytes += bytes;
        });
        Traffic most;
        for (const auto& [rank, traffic] : of_rank) {
            most.messages = std::max(most.messages, traffic.messages);
            most.bytes = std::max(most.bytes, traffic.bytes);
        }
        return most;
    }

  private:
    template <typename Visit>
    void for_messages(Visit visit) const {
        for (int rank = 0; rank < placement_.rank_count(); ++rank) {
            for (const Step& step : schedules_[static_cast<std::size_t>(rank)].steps()) {
                if (step.kind != StepKind::send) continue;
                if (placement_.host_of(rank) == placement_.host_of(step.peer)) continue;
                visit(rank, step.peer, step.source.length_bytes);
            }
        }
    }

    Placement placement_;
    std::vector<Schedule> schedules_;
};

std::vector<Placement> placements() {
    return {Placement::in_blocks(4, 4), Placement::in_blocks(5, 1), Placement::in_blocks(1, 6),
            Placement({0, 1, 2, 0, 1, 2, 0, 1, 2}), Placement({0, 0, 0, 1, 1, 2, 2, 2, 2, 2}),
            Placement({2, 0, 3, 3, 1, 0, 2, 3, 0, 2, 3})};
}

TEST(HostsClaims, TwoLevelAlltoallSendsOneMessageBetweenTwoHosts) {
    constexpr std::size_t block = 8;
    for (const Placement& placement : placements()) {
        const ByHosts run(Collective::alltoall, "two_level", block, placement);
        const int hosts = placement.host_count();
        const HostTraffic traffic = run.between_hosts();
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

TEST(HostsClaims, LocalityBruckBringsEachBlockToAHostOnce) {
    constexpr std::size_t block = 8;
    for (const Placement& placement : placements()) {
        const ByHosts run(Collective::allgather, "locality_bruck", block, placement);
        for (int host = 0; host < placement.host_count(); ++host) {
            const auto elsewhere = static_cast<std::size_t>(placement.rank_count()) -
                                   placement.ranks_of(host).size();
            EXPECT_EQ(run.bytes_into(host), elsewhere * block);
        }
    }
    // Four ranks a host reach four others in a round, and twenty-four in two.
    for (const auto& [hosts, rounds] : {std::pair{5, 1}, {6, 2}, {25, 2}, {26, 3}}) {
        const ByHosts run(Collective::allgather, "locality_bruck", block,
                          Placement::in_blocks(hosts, 4));
        EXPECT_LE(run.most_by_a_rank().messages, 2 * rounds) << hosts;
    }
}

// Four ranks a host reach four other hosts in a round, by one message each.
TEST(HostsClaims, RanksOfAHostShareABarriersSignals) {
    for (const auto& [hosts, rounds] : {std::pair{5, 1}, {6, 2}, {25, 2}, {26, 3}}) {
        const ByHosts run(Collective::barrier, "locality_dissemination", 0, Placement::in_blocks(hosts, 4));
        EXPECT_EQ(run.most_by_a_rank().messages, rounds) << hosts;
    }
    // Eight by two signals each.
    for (const auto& [hosts, most] : {std::pair{9, 2}, {10, 3}, {81, 4}}) {
        const ByHosts run(Collective::barrier, "locality_dissemination:radix=3", 0, Placement::in_blocks(hosts, 4));
        EXPECT_EQ(run.most_by_a_rank().messages, most) << hosts;
    }
}

// With k sends a round four ranks a host reach 4 k others in it, and no host is told twice.
TEST(HostsClaims, RanksOfAHostShareATreesSends) {
    for (const auto& [hosts, most_sends] : {std::pair{9, 2}, {10, 3}, {81, 4}, {82, 5}}) {
        for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
            const ByHosts run(collective, "locality_tree:radix=2", 8, Placement::in_blocks(hosts, 4));
            for (int host = 0; host < hosts; ++host) {
                EXPECT_LE(collective == Collective::broadcast ? run.bytes_into(host) : run.bytes_from(host), 8u);
            }
            if (collective == Collective::broadcast) {
                EXPECT_EQ(run.most_by_a_rank().messages, most_sends) << hosts;
            }
        }
    }
}

TEST(HostsClaims, TwoLevelGathersAndScattersSendEachHostOneMessage) {
    constexpr std::size_t block = 8;
    for (const Placement& placement : placements()) {
        const auto hosts = static_cast<std::size_t>(placement.host_count());
        for (const Collective collective : {Collective::gather, Collective::scatter}) {
            const ByHosts run(collective, "two_level", block, placement);
            const HostTraffic traffic = run.between_hosts();
            EXPECT_EQ(traffic.size(), hosts - 1);
            for (const auto& [pair, between] : traffic) EXPECT_EQ(between.messages, 1);
        }
        const ByHosts scatter(Collective::scatter, "two_level", block, placement);
        const int root_host = placement.host_of(placement.rank_count() / 2);
        const std::size_t ranks = placement.ranks_of(root_host).size();
        EXPECT_EQ(static_cast<std::size_t>(scatter.most_by_a_rank().messages), (hosts - 2 + ranks) / ranks);
    }
}

TEST(HostsClaims, LanesCarryAShareEach) {
    constexpr std::size_t length = 4800;
    for (const Placement& placement : placements()) {
        const ByHosts run(Collective::broadcast, "multi_lane", length, placement);
        const int root_host = placement.host_of(placement.rank_count() / 2);
        for (int host = 0; host < placement.host_count(); ++host) {
            EXPECT_EQ(run.bytes_into(host), host == root_host ? 0 : length);
        }
        EXPECT_EQ(run.bytes_from(root_host), placement.host_count() == 1 ? 0 : length);
    }
    const Placement even = Placement::in_blocks(4, 4);
    for (int host = 0; host < 5; ++host) {
        const ByHosts run(Collective::broadcast, "multi_lane", length, Placement::in_blocks(5, 4));
        EXPECT_LE(run.bytes_from(host), length) << host;
    }
    const ByHosts reduced(Collective::allreduce, "multi_lane", length, even);
    EXPECT_EQ(reduced.most_by_a_rank().bytes, 2 * length * 3 / 4 / 4);
    for (int host = 0; host < 4; ++host) EXPECT_EQ(reduced.bytes_into(host), 2 * length * 3 / 4);
}

int ceiling_log2(int number) {
    int log = 0;
    while (1 << log < number) ++log;
    return log;
}

// Seen to fail with a scan between all ranks of the hosts.
TEST(HostsClaims, TwoLevelScansSendByOneRankOfEachHost) {
    constexpr std::size_t length = 4800;
    for (const Collective each : {Collective::scan, Collective::exscan}) {
        for (const Placement& placement : placements()) {
            const ByHosts run(each, "two_level", length, placement);
            const int runs = runs_on_hosts(placement).host_count();
            const int rounds = ceiling_log2(runs);
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
TEST(HostsClaims, NoLinkBetweenGroupsCarriesMoreThanAStripe) {
    constexpr std::size_t length = 4800;
    for (const int in_group : {2, 4, 8}) {
        const std::string text = "striped:radix=" + std::to_string(in_group);
        const ByHosts run(Collective::broadcast, text, length, Placement::in_blocks(24, 1));
        for (const auto& [pair, between] : run.between_hosts()) {
            if (pair.first / in_group == pair.second / in_group) continue;
            EXPECT_LE(between.bytes, length / static_cast<std::size_t>(in_group));
        }
    }
}

// What a gather gains by empty messages. The proofs of the catalogue would do without them.

constexpr int gathering_ranks = 9;
constexpr int gathering_root = 4;
constexpr std::size_t block_bytes = 3000;

std::vector<Schedule> schedules_of(Collective collective, std::string_view text) {
    const Candidate candidate = parse_candidate(collective, text).candidate.value();
    return test::build_all(
        candidate, {.collective = collective, .root = gathering_root, .length_bytes = block_bytes},
        gathering_ranks, {});
}

/// The most blocks that are on their way to the root at once: one that nobody asked for is from the start.
int most_on_their_way(const std::vector<Schedule>& schedules, const Network& network) {
    struct Way {
        double begin_us = 0;
        double end_us = 0;
    };
    std::map<int, Way> ways;
    for (const TimedMessage& message :
         predict(schedules, network, {.record_messages = true}).messages) {
        if (message.to == gathering_root) ways[message.from].end_us = message.arrive_us;
        if (message.from == gathering_root) ways[message.to].begin_us = message.start_us;
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
TEST(Synchronised, NoMoreThanTwoBlocksAreOnTheirWayToTheRootOfAGather) {
    for (unsigned seed = 0; seed < 10; ++seed) {
        const Network network = test::random_network(seed, gathering_ranks);
        for (const auto& [text, most] : {std::pair{"linear", gathering_ranks - 1}, {"synchronised", 1},
                                         {"synchronised:segment_bytes=256", 2}}) {
            EXPECT_EQ(most_on_their_way(schedules_of(Collective::gather, text), network), most)
                << text << ", seed " << seed;
        }
    }
}

}  // namespace
}  // namespace mutirao
