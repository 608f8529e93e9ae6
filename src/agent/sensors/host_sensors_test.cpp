// The sensors against what the system says by other means.
#include "agent/sensors/host_sensors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

namespace mutirao::agent {
namespace {

TEST(HostSensors, ProcessorIsAShareOnceTimeHasPassed) {
    ProcessorTimes last;
    std::vector<HostReading> readings = read_host_sensors(last);
    EXPECT_EQ(readings.size(), 2U) << "memory and disk";
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    // Busy meanwhile, so that less than all is available.
    while (readings.size() < 3 && std::chrono::steady_clock::now() < end) {
        const auto look = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
        while (std::chrono::steady_clock::now() < look) continue;
        readings = read_host_sensors(last);
    }
    ASSERT_EQ(readings.size(), 3U);
    EXPECT_EQ(readings[0].sensor, "available_processor_share");
    EXPECT_GE(readings[0].value, 0);
    EXPECT_LT(readings[0].value, 1);
}

TEST(HostSensors, MemoryAndDiskAreWhatTheSystemSays) {
    ProcessorTimes last;
    const std::vector<HostReading> readings = read_host_sensors(last);
    ASSERT_EQ(readings.size(), 2U);
    EXPECT_EQ(readings[0].sensor, "free_memory_bytes");
    EXPECT_GT(readings[0].value, 1e6);
    EXPECT_LT(readings[0].value, static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                                     static_cast<double>(sysconf(_SC_PAGESIZE)));
    EXPECT_EQ(readings[1].sensor, "free_disk_bytes");
    const auto said = static_cast<double>(std::filesystem::space("/tmp").available);
    EXPECT_NEAR(readings[1].value, said, 0.2 * said + 1e9);
}

TEST(HostSensors, StolenTimeIsTheEighthColumnOfEachProcessor) {
    const std::int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
    EXPECT_EQ(stolen_ns_in("cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
                           "cpu1 1 2 3 4 5 6 7 80 9 10\nintr 5 6\n"),
              (std::vector<std::int64_t>{8 * tick_ns, 80 * tick_ns}));
    EXPECT_TRUE(stolen_ns_in("").empty());
    EXPECT_FALSE(stolen_processor_ns().empty());
}

}  // namespace
}  // namespace mutirao::agent
