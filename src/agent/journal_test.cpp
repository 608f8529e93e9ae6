// The series as SQLite reads it, and what ends it: never more than the series.
#include "agent/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "profile/test_files.h"

namespace mutirao::agent {
namespace {

using Series = profile::test::FileTest;

TEST_F(Series, WhatWasMeasuredIsThere) {
    {
        SeriesFile series(path, 3);
        series.measured(1.5, "latency_us", 7, 20.25);
        series.measured(2.5, "free_disk_bytes", -1, 9);
        series.event(3, "a 'quoted' word");
        series.flush();
        EXPECT_TRUE(series.kept());
        EXPECT_EQ(series.stopped(), "");
    }
    EXPECT_EQ(ask("SELECT time_s, sensor, host, other, value FROM measurement ORDER BY time_s"),
              "1.5;latency_us;3;7;20.25;2.5;free_disk_bytes;3;-1;9.0;");
    EXPECT_EQ(ask("SELECT time_s, host, text FROM event"), "3.0;3;a 'quoted' word;");
}

TEST_F(Series, TheNextAgentGoesOnInTheSameFile) {
    for (int host = 0; host < 2; ++host) SeriesFile(path, host).measured(host, "latency_us", 5, 1);
    EXPECT_EQ(ask("SELECT host FROM measurement ORDER BY host"), "0;1;");
}

TEST_F(Series, NoneIsKeptUnlessAskedFor) {
    SeriesFile series("", 0);
    series.measured(1, "latency_us", 1, 1);
    series.flush();
    EXPECT_FALSE(series.kept());
    EXPECT_EQ(series.stopped(), "");
}

TEST_F(Series, APlaceThatCannotBeWrittenOrIsNoDatabaseEndsIt) {
    std::ofstream(path) << std::string(5000, 'x');
    for (const std::string& wrong : {folder + "/none/series.db", folder, std::string("/dev/full"), path}) {
        SeriesFile series(wrong, 0);
        series.measured(1, "latency_us", 1, 1);
        series.flush();
        EXPECT_FALSE(series.kept()) << wrong;
        EXPECT_NE(series.stopped(), "") << wrong;
    }
}

// A limit on the size of files is met as a full disk is: by a write that fails.
TEST_F(Series, ADiskThatIsFullEndsIt) {
    SeriesFile series(path, 0);
    ASSERT_TRUE(series.kept());
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{64 * 1024, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    for (int flush = 0; flush < 100 && series.kept(); ++flush) {
        for (int i = 0; i < 1000; ++i) series.measured(i, "latency_us", 1, i);
        series.flush();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, previous);
    EXPECT_FALSE(series.kept());
    EXPECT_NE(series.stopped(), "");
}

TEST_F(Series, ALockIsWaitedForButNotForever) {
    SeriesFile series(path, 0);
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    series.measured(1, "latency_us", 1, 1);
    series.flush();
    EXPECT_TRUE(series.kept());
    ASSERT_EQ(sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
    series.flush();
    EXPECT_EQ(ask("SELECT count(*) FROM measurement"), "1;");
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    for (int flush = 0; flush < 100 && series.kept(); ++flush) {
        series.measured(flush, "latency_us", 1, 1);
        series.flush();
    }
    sqlite3_close(other);
    EXPECT_FALSE(series.kept());
    EXPECT_NE(series.stopped(), "");
}

}  // namespace
}  // namespace mutirao::agent
