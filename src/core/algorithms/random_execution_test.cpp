// Every algorithm of the catalogue, run with real bytes.
#include <gtest/gtest.h>

#include "core/algorithms/test_requests.h"
#include "core/collectives/collective.h"
#include "core/schedule/test_execution.h"

namespace mutirao {
namespace {

// Seen to fail with: sends that do not wait for their segment's receive; a ring whose sends wait
// for the receive before; a scatter that sends before it has received.
TEST(RandomExecution, EveryAlgorithmDeliversInAnyOrderOfEvents) {
    constexpr std::size_t lengths[] = {0, 5, 97, 193};
    for (Candidate candidate : test::candidates_in_one_piece()) {
        const Algorithm& algorithm = *candidate.algorithm;
        for (const int size : {1, 2, 3, 4, 7, 8, 13, 16, 24}) {
            if (!allows(algorithm, true, size)) continue;
            const int root = size / 3;
            const Tree tree = test::random_tree(candidate.parameters.tree, size, root);
            const int roots[] = {root, 0};
            for (CallShape shape : test::shapes_for(algorithm, size, roots, lengths)) {
                if (row_of(shape.collective).rooted && shape.root != root) continue;
                candidate.parameters.segment_bytes =
                    algorithm.segmented && shape.length_bytes >= 193 ? 64 : 0;
                const auto schedules = test::build_all(candidate, shape, size, tree);
                const Promise promise = row_of(shape.collective).promise(shape, size);
                for (unsigned seed = 0; seed < 3; ++seed) {
                    EXPECT_EQ(test::RandomCall(promise, seed).run(schedules), "")
                        << test::label(candidate, shape, size) << ", seed " << seed;
                }
            }
        }
    }
}

TEST(RandomExecution, NoticesAMissingDependencyAndADeadlock) {
    const Region all{Buffer::output, 0, 8};
    std::vector<Schedule> hasty(3);
    hasty[0].send(1, all);
    hasty[1].receive(0, all);
    hasty[1].send(2, all);
    hasty[2].receive(1, all);
    int wrong = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        wrong += test::RandomCall(promises::broadcast({.length_bytes = 8}, 3), seed).run(hasty).empty() ? 0 : 1;
    }
    EXPECT_GT(wrong, 0);

    std::vector<Schedule> waiting(2);
    waiting[0].receive(1, all);
    waiting[1].receive(0, all);
    EXPECT_EQ(test::RandomCall(promises::broadcast({.length_bytes = 8}, 2), 0).run(waiting), "rank 0 has a stuck step");
}

}  // namespace
}  // namespace mutirao
