#include "agent/stolen_time.h"

#include <gtest/gtest.h>

#include <array>

#include "agent/link_prober.h"

namespace mutirao::agent {
namespace {

using Ticks = std::array<std::int64_t, 2>;

TEST(StolenTime, CountsWhatTheWorstProcessorLostSinceTheReadingBefore) {
    StolenTime stolen;
    EXPECT_EQ(stolen.since(0), 0);
    stolen.read(0, Ticks{1000, 5000});
    stolen.read(200 * ns_per_ms, Ticks{1000, 5000 + 30 * ns_per_ms});
    stolen.read(400 * ns_per_ms, Ticks{1000 + 50 * ns_per_ms, 5000 + 40 * ns_per_ms});
    EXPECT_EQ(stolen.since(200 * ns_per_ms), 50 * ns_per_ms);
    EXPECT_EQ(stolen.since(100 * ns_per_ms), 50 * ns_per_ms);
    EXPECT_EQ(stolen.since(390 * ns_per_ms), 10 * ns_per_ms);
    EXPECT_EQ(stolen.since(400 * ns_per_ms), 0);
}

TEST(StolenTime, ALateWakeUpIsTimeLost) {
    StolenTime stolen;
    stolen.read(0, {});
    stolen.overslept(20 * ns_per_ms);
    stolen.read(ns_per_s, {});
    EXPECT_EQ(stolen.since(0), 20 * ns_per_ms);
}

TEST(StolenTime, AValueIsBelievedAsFarAsNothingWasStolen) {
    EXPECT_EQ(StolenTime::credible(50, 0, 20), 50);
    EXPECT_EQ(StolenTime::credible(50, 40, 20), 20);
    EXPECT_EQ(StolenTime::credible(50, 10, 20), 40);
    EXPECT_EQ(StolenTime::credible(10, 40, 20), 10);
}

/// A link of 20 ms to and fro that is probed once more after it was measured; the answer to that
/// probe comes so late, and for so long the host was not at work.
struct LateAnswer {
    explicit LateAnswer(std::int64_t stolen_ns) : prober({}, 10'000, 5 * ns_per_s, 1, &stolen) {
        stolen.read(0, Ticks{});
        prober.set_period(ns_per_s, 0);
        prober.start(0, 0);
        prober.advance(0);
        prober.sent({Way::udp, 1}, 0);
        stolen.read(500 * ns_per_ms, Ticks{0, stolen_ns});
        prober.advance(500 * ns_per_ms);
    }
    StolenTime stolen;
    LinkProber prober;
};

TEST(StolenTime, AProbeIsNotLateForTimeThatWasStolen) {
    EXPECT_EQ(LateAnswer(0).prober.late_probes(), 1U);
    LateAnswer stolen(460 * ns_per_ms);
    EXPECT_EQ(stolen.prober.late_probes(), 0U);
    // Nor is it looked at again at once, but when it is late all the same.
    EXPECT_GT(stolen.prober.next_ns(), 500 * ns_per_ms);
    EXPECT_LT(stolen.prober.next_ns(), 550 * ns_per_ms);
    stolen.prober.advance(stolen.prober.next_ns());
    EXPECT_EQ(stolen.prober.late_probes(), 1U);
}

TEST(StolenTime, ASlowAnswerMakesNoSlowLinkWhenTimeWasStolen) {
    LateAnswer honest(0), stolen(485 * ns_per_ms);
    for (std::uint32_t number = 1; number <= 3; ++number) {
        const std::int64_t sent_ns = (number - 1) * ns_per_s;
        for (LateAnswer* each : {&honest, &stolen}) {
            const std::int64_t loss_ns = each == &stolen ? 485 * ns_per_ms : 0;
            if (number > 1) {
                each->stolen.read(sent_ns, Ticks{0, loss_ns * (number - 1)});
                each->prober.sent({Way::udp, number}, sent_ns);
                each->stolen.read(sent_ns + 500 * ns_per_ms, Ticks{0, loss_ns * number});
            }
            each->prober.answered({Way::udp, number}, 0, sent_ns + 500 * ns_per_ms);
        }
    }
    EXPECT_EQ(stolen.prober.announced_us(), 10'000);
    EXPECT_GT(honest.prober.announced_us(), 100'000);
}

}  // namespace
}  // namespace mutirao::agent
