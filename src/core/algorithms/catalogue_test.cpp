// Proves every row of the catalogue: any number of ranks up to 64, every root, lengths from
// nothing to beyond one segment. A new row is covered without a line here.
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <set>

#include "core/algorithms/test_requests.h"
#include "core/collectives/promise.h"
#include "core/schedule/checker.h"

namespace mutirao {
namespace {

constexpr int most_ranks = 64;
constexpr std::size_t segment_bytes = 64;
constexpr std::size_t lengths[] = {0, 1, 97, 3 * segment_bytes + 1};

std::string label(const Candidate& candidate, int size, int root, std::size_t length_bytes) {
    return to_string(candidate) + ", ranks " + std::to_string(size) + ", root " +
           std::to_string(root) + ", bytes " + std::to_string(length_bytes);
}

/// The checker proves that the data arrive; this, that none is sent twice or to the root.
std::string received_amounts(const std::vector<Schedule>& schedules, int root,
                             std::size_t length_bytes) {
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
        std::size_t received = 0;
        for (const Step& step : schedules[rank].steps()) {
            if (step.kind == StepKind::receive) received += step.target.length_bytes;
        }
        const std::size_t due = static_cast<int>(rank) == root ? 0 : length_bytes;
        if (received != due) {
            return "rank " + std::to_string(rank) + " receives " + std::to_string(received) +
                   " bytes instead of " + std::to_string(due);
        }
    }
    return {};
}

class EveryAlgorithm : public testing::TestWithParam<Candidate> {
  protected:
    void prove(const Candidate& candidate, int size, int root, std::size_t length_bytes,
               const Tree& tree) {
        const auto schedules = test::build_all(candidate, size, root, length_bytes, tree);
        const CheckResult result =
            check(schedules, promise({.root = root, .length_bytes = length_bytes}, size));
        ASSERT_TRUE(result) << label(candidate, size, root, length_bytes) << ": " << result.reason;
        ASSERT_EQ(received_amounts(schedules, root, length_bytes), "")
            << label(candidate, size, root, length_bytes);
    }
};

// Seen to fail with: a receive that skips a block that the scatter did not bring; a spread that
// starts from the wrong holder; the unpaired rank of split_binary left out; the segments' sends
// after the wrong receive; virtual instead of real ranks.
TEST_P(EveryAlgorithm, BringsEveryByteToEveryRankFromEveryRoot) {
    Candidate candidate = GetParam();
    for (int size = 1; size <= most_ranks; ++size) {
        for (int root = 0; root < size; ++root) {
            const Tree tree = test::random_tree(candidate.parameters.tree, size, root);
            for (const std::size_t length : lengths) {
                candidate.parameters.segment_bytes = 0;
                ASSERT_NO_FATAL_FAILURE(prove(candidate, size, root, length, tree));
                if (!candidate.algorithm->segmented || length <= segment_bytes) continue;
                candidate.parameters.segment_bytes = segment_bytes;
                ASSERT_NO_FATAL_FAILURE(prove(candidate, size, root, length, tree));
            }
        }
    }
}

TEST_P(EveryAlgorithm, HasNothingToDoForAnEmptyMessage) {
    for (const int size : {1, 2, 7}) {
        const Tree tree = test::random_tree(GetParam().parameters.tree, size, 0);
        for (const Schedule& schedule : test::build_all(GetParam(), size, 0, 0, tree)) {
            EXPECT_EQ(schedule.size(), 0u);
        }
    }
}

std::string test_name(const testing::TestParamInfo<Candidate>& info) {
    std::string name = to_string(info.param);
    for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    return name;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryAlgorithm,
                         testing::ValuesIn(test::candidates_in_one_piece()), test_name);

TEST(Catalogue, ListsNativeFirstAndEveryNameOnce) {
    EXPECT_EQ(catalogue().front().name, "native");
    std::set<std::string_view> names;
    for (const Algorithm& row : catalogue()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_FALSE(row.summary.empty()) << row.name;
        EXPECT_FALSE(row.source.empty()) << row.name;
        EXPECT_EQ(row.native(), row.name == "native");
    }
}

/// Messages in a row before the last byte is everywhere.
int depth_of(const std::vector<Schedule>& schedules) {
    // Repeated until nothing changes: slow, but it needs no order of the steps.
    std::vector<std::vector<int>> depth(schedules.size());
    for (std::size_t r = 0; r < schedules.size(); ++r) depth[r].assign(schedules[r].size(), 0);
    int deepest = 0;
    for (bool changed = true; changed;) {
        changed = false;
        std::map<std::pair<int, int>, std::vector<int>> sent;
        for (std::size_t r = 0; r < schedules.size(); ++r) {
            const auto& steps = schedules[r].steps();
            for (std::size_t s = 0; s < steps.size(); ++s) {
                if (steps[s].kind != StepKind::send) continue;
                int before = 0;
                for (const StepId id : schedules[r].dependencies(steps[s])) {
                    before = std::max(before, depth[r][static_cast<std::size_t>(id)]);
                }
                depth[r][s] = before + 1;
                sent[{static_cast<int>(r), steps[s].peer}].push_back(before + 1);
            }
        }
        std::map<std::pair<int, int>, std::size_t> taken;
        for (std::size_t r = 0; r < schedules.size(); ++r) {
            const auto& steps = schedules[r].steps();
            for (std::size_t s = 0; s < steps.size(); ++s) {
                if (steps[s].kind != StepKind::receive) continue;
                const std::pair<int, int> edge{steps[s].peer, static_cast<int>(r)};
                const int arrived = sent[edge].at(taken[edge]++);
                changed = changed || arrived != depth[r][s];
                depth[r][s] = arrived;
                deepest = std::max(deepest, arrived);
            }
        }
    }
    return deepest;
}

int ceiling_log(int size, int base) {
    int log = 0;
    for (long long reached = 1; reached < size; reached *= base) ++log;
    return log;
}

int depth_of(std::string_view text, int size) {
    const Candidate candidate = parse_candidate(Collective::broadcast, text).candidate.value();
    return depth_of(test::build_all(candidate, size, size / 2, 1000, {}));
}

// What the algorithms' files claim. Catches a chain hidden in a tree, and a false dependency.
TEST(Catalogue, DepthsAreAsTheAlgorithmsClaim) {
    for (int size = 2; size <= 40; ++size) {
        const int log2 = ceiling_log(size, 2);
        EXPECT_EQ(depth_of("flat", size), 1);
        EXPECT_LE(depth_of("binomial", size), log2);
        EXPECT_LE(depth_of("k_nomial:radix=4", size), ceiling_log(size, 4));
        EXPECT_EQ(depth_of("chain", size), size - 1);
        EXPECT_LE(depth_of("split_binary", size), ceiling_log(size + 1, 2));
        EXPECT_LE(depth_of("scatter_ring_allgather", size), log2 + size - 1);
        const bool power_of_two = (size & (size - 1)) == 0;
        const int doubling = depth_of("scatter_recursive_doubling_allgather", size);
        EXPECT_LE(doubling, power_of_two ? 2 * log2 : 3 * log2) << size;
    }
}

TEST(Catalogue, AllgathersLoadNoPortWithMoreThanTwiceTheMessage) {
    for (const std::string_view name :
         {"scatter_ring_allgather", "scatter_recursive_doubling_allgather"}) {
        const Candidate candidate{find_algorithm(Collective::broadcast, name), {}};
        for (const int size : {2, 4, 8, 16, 64}) {
            for (const Schedule& schedule : test::build_all(candidate, size, 0, 6400, {})) {
                std::size_t sent = 0;
                for (const Step& step : schedule.steps()) {
                    if (step.kind == StepKind::send) sent += step.source.length_bytes;
                }
                EXPECT_LE(sent, 2u * 6400u) << name << ", ranks " << size;
            }
        }
    }
}

}  // namespace
}  // namespace mutirao
