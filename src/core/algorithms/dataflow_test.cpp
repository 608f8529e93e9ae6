#include "core/algorithms/dataflow.h"

#include <gtest/gtest.h>

#include <random>

#include "core/schedule/byte_users.h"
#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

using test::waits_of;

Region scratch_bytes(std::size_t begin, std::size_t end) { return test::scratch(begin, end - begin); }

using Ids = std::vector<StepId>;

TEST(Dataflow, ReadersWaitForTheLastWriterOfEachOfTheirBytesOnly) {
    Dataflow flow;
    flow.receive(1, scratch_bytes(0, 10));
    flow.receive(2, scratch_bytes(5, 20));
    flow.send(3, scratch_bytes(0, 5));
    flow.send(3, scratch_bytes(4, 6));
    flow.send(3, scratch_bytes(30, 40));
    flow.send(3, {Buffer::output, 0, 20});
    const Schedule schedule = std::move(flow).take();
    EXPECT_EQ(waits_of(schedule, 1), Ids{0});
    EXPECT_EQ(waits_of(schedule, 2), Ids{0});
    EXPECT_EQ(waits_of(schedule, 3), (Ids{0, 1}));
    EXPECT_EQ(waits_of(schedule, 4), Ids{});
    EXPECT_EQ(waits_of(schedule, 5), Ids{});
}

TEST(Dataflow, WritersWaitForTheReadersSinceTheLastWriter) {
    Dataflow flow;
    flow.send(1, scratch_bytes(0, 8));
    flow.send(2, scratch_bytes(8, 16));
    flow.receive(3, scratch_bytes(4, 12));
    flow.receive(3, scratch_bytes(4, 6));
    flow.reduce(scratch_bytes(20, 24), scratch_bytes(0, 4));
    flow.copy(scratch_bytes(0, 2), scratch_bytes(20, 22));
    const Schedule schedule = std::move(flow).take();
    EXPECT_EQ(waits_of(schedule, 2), (Ids{0, 1}));
    EXPECT_EQ(waits_of(schedule, 3), Ids{2});
    EXPECT_EQ(waits_of(schedule, 4), Ids{0});
    EXPECT_EQ(waits_of(schedule, 5), Ids{4});
}

/// Whether any two steps share bytes, one of them writing, without a path of dependencies between them.
bool has_race(const Schedule& schedule) {
    const auto meet = [](const Use& a, const Use& b) {
        return a.region.length_bytes > 0 && b.region.length_bytes > 0 && a.region.buffer == b.region.buffer &&
               a.region.offset_bytes < b.region.end_bytes() && b.region.offset_bytes < a.region.end_bytes();
    };
    std::vector<std::vector<bool>> ancestors;
    for (std::size_t later = 0; later < schedule.size(); ++later) {
        std::vector<bool> before(later, false);
        for (const StepId id : schedule.dependencies(schedule.steps()[later])) {
            const auto direct = static_cast<std::size_t>(id);
            before[direct] = true;
            for (std::size_t i = 0; i < direct; ++i) before[i] = before[i] || ancestors[direct][i];
        }
        const Uses its(schedule.steps()[later]);
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
            const Uses others(schedule.steps()[earlier]);
            const bool conflict = meet(its.written, others.read) || meet(its.written, others.written) ||
                                  meet(its.read, others.written);
            if (conflict && !before[earlier]) return true;
        }
        ancestors.push_back(std::move(before));
    }
    return false;
}

// Seen to fail without the readers' part of ByteUsers::use, and with cells that are not split at a region's end.
TEST(Dataflow, NeverHasARace) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](unsigned end) { return static_cast<std::size_t>(random() % end); };
        Dataflow flow;
        for (int step = 0; step < 60; ++step) {
            const std::size_t length = below(12);
            const Region one = {Buffer::scratch, below(30), length};
            const Region other = {Buffer::scratch, 42 + below(30), length};
            switch (random() % 5) {
                case 0: flow.send(1, one); break;
                case 1: flow.receive(1, one); break;
                case 2: flow.copy(one, other); break;
                case 3: flow.reduce(other, one); break;
                default: flow.reduce_before(one, other);
            }
        }
        EXPECT_FALSE(has_race(std::move(flow).take())) << "seed " << seed;
    }
}

}  // namespace
}  // namespace mutirao
