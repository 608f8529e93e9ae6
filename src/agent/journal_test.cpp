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
    Journal journal(path, 3, 8);
    journal.measured_latency(7, 20.25);
    journal.measured("free_disk_bytes", -1, 9);
    journal.event("a 'quoted' word");
    journal.flush();
    EXPECT_TRUE(journal.keeps_series());
    EXPECT_EQ(journal.series_stopped(), "");
    EXPECT_EQ(ask("SELECT sensor, host, other, value FROM measurement ORDER BY rowid"),
              "latency_us;3;7;20.25;free_disk_bytes;3;-1;9.0;");
    EXPECT_EQ(ask("SELECT host, text FROM event"), "3;a 'quoted' word;");
    EXPECT_EQ(ask("SELECT count(*) FROM measurement, event WHERE abs(event.time_s - strftime('%s', 'now')) < 60"
                  " AND event.time_s - measurement.time_s BETWEEN 0 AND 60"), "2;");
}

TEST_F(Series, TheNextAgentGoesOnInTheSameFile) {
    for (int host = 0; host < 2; ++host) {
        Journal journal(path, host, 8);
        journal.measured("latency_us", 5, 1);
        journal.flush();
    }
    EXPECT_EQ(ask("SELECT host FROM measurement ORDER BY host"), "0;1;");
}

TEST_F(Series, NoneIsKeptUnlessAskedFor) {
    Journal journal("", 0, 8);
    journal.measured("latency_us", 1, 1);
    journal.flush();
    EXPECT_FALSE(journal.keeps_series());
    EXPECT_EQ(journal.series_stopped(), "");
}

TEST_F(Series, APlaceThatCannotBeWrittenOrIsNoDatabaseEndsIt) {
    std::ofstream(path) << std::string(5000, 'x');
    for (const std::string& wrong : {folder + "/none/series.db", folder, std::string("/dev/full"), path}) {
        Journal series(wrong, 0, 8);
        series.measured("latency_us", 1, 1);
        series.flush();
        EXPECT_FALSE(series.keeps_series()) << wrong;
        EXPECT_NE(series.series_stopped(), "") << wrong;
    }
}

// A limit on the size of files is met as a full disk is: by a write that fails.
TEST_F(Series, ADiskThatIsFullEndsIt) {
    Journal series(path, 0, 8);
    ASSERT_TRUE(series.keeps_series());
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{64 * 1024, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    for (int flush = 0; flush < 100 && series.keeps_series(); ++flush) {
        for (int i = 0; i < 1000; ++i) series.measured("latency_us", 1, i);
        series.flush();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, previous);
    EXPECT_FALSE(series.keeps_series());
    EXPECT_NE(series.series_stopped(), "");
}

TEST_F(Series, ALockIsWaitedForButNotForever) {
    Journal series(path, 0, 8);
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    series.measured("latency_us", 1, 1);
    series.flush();
    EXPECT_TRUE(series.keeps_series());
    ASSERT_EQ(sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
    series.flush();
    EXPECT_EQ(ask("SELECT count(*) FROM measurement"), "1;");
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    for (int flush = 0; flush < 100 && series.keeps_series(); ++flush) {
        series.measured("latency_us", 1, 1);
        series.flush();
    }
    sqlite3_close(other);
    EXPECT_FALSE(series.keeps_series());
    EXPECT_NE(series.series_stopped(), "");
}

}  // namespace
}  // namespace mutirao::agent
