// A profile's file as SQLite reads it, and what may become of it: never more than the profile is lost.
#include "profile/profile_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "profile/test_files.h"

namespace mutirao::profile {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds patience{5000};
const std::string mpi = "Some MPI 1.0";
const Fabric one_host{1, 1, {}, "2 x A", ""};

ProfileRow row(std::string_view name, std::size_t length_bytes, std::size_t windows = 10) {
    return {.ranks = {8, 1, 8},
            .root = 0,
            .length_bytes = length_bytes,
            .candidate = *parse_candidate(Collective::broadcast, name).candidate,
            .time_us = {90, 100, 120},
            .windows = windows,
            .measured_s = 1.75e9};
}

class Profiles : public test::FileTest {
  protected:
    bool write(std::vector<ProfileRow> rows) {
        store->remember(one_host, mpi, std::move(rows));
        return store->flush(patience) && store->trouble().empty();
    }
    /// As another process would.
    std::vector<ProfileRow> read() { return ProfileStore(path).rows_for(one_host, mpi).rows; }
    bool exists(const std::string& suffix) const { return std::filesystem::exists(path + suffix); }

    std::shared_ptr<ProfileStore> store = ProfileStore::open(path);
};

/// In a process of its own; true if `work` returned true there.
template <typename Work>
pid_t in_child(Work work) {
    const pid_t child = fork();
    if (child == 0) _exit(work() ? 0 : 1);
    return child;
}

bool ended_well(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(Profiles, WhatWasMeasuredIsThere) {
    ProfileRow cold = row("chain:segment_bytes=4096", 1 << 20);
    cold.buffers = Buffers::cold;
    cold.origin = Origin::tuned;
    cold.commutes = false;
    cold.root = any_root;
    ASSERT_TRUE(write({row("native", 24), cold}));
    EXPECT_EQ(ask("SELECT mpi, ranks, hosts, most_on_a_host, collective, root, commutes, length_bytes,"
                  " buffers, origin, candidate, low_us, median_us, high_us, windows, measured_s"
                  " FROM measurement ORDER BY length_bytes"),
              "Some MPI 1.0;8;1;8;broadcast;0;1;24;warm;learned;native;90.0;100.0;120.0;10;1750000000.0;"
              "Some MPI 1.0;8;1;8;broadcast;-1;0;1048576;cold;tuned;chain:segment_bytes=4096;90.0;100.0;"
              "120.0;10;1750000000.0;");
    const std::vector<ProfileRow> rows = read();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_TRUE(rows[0] == cold) << "in the order of their keys";
    EXPECT_TRUE(rows[1] == row("native", 24));
}

TEST_F(Profiles, LaterJobsAddTheirWindows) {
    ASSERT_TRUE(write({row("native", 24)}));
    ASSERT_TRUE(write({row("native", 24, 5)}));
    ProfileRow tuned = row("native", 24, 7);
    tuned.origin = Origin::tuned;
    ASSERT_TRUE(write({tuned}));
    EXPECT_EQ(ask("SELECT origin, windows FROM measurement ORDER BY origin"), "learned;15;tuned;7;");
}

TEST_F(Profiles, EarlierRunsOfThisProgramAreKnown) {
    const auto remember = [&](std::optional<double> saved_share, double length_s) {
        const ProgramRun run{.program = program(), .ranks = {8, 1, 8}, .length_s = length_s, .saved_share = saved_share};
        ProgramRun of_another = run;
        of_another.program = "another";
        store->remember(one_host, mpi, {}, of_another);
        store->remember(one_host, mpi, {}, run);
        return store->flush(patience);
    };
    ASSERT_TRUE(remember({}, 10));
    ASSERT_EQ(store->rows_for(one_host, mpi).runs.size(), 1u);
    EXPECT_EQ(store->rows_for(one_host, mpi).runs[0].saved_share, std::nullopt);
    ASSERT_TRUE(remember(0.25, 20));
    ASSERT_TRUE(remember({}, 30));
    const std::vector<ProgramRun> runs = ProfileStore(path).rows_for(one_host, mpi).runs;
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].length_s, 30);
    EXPECT_EQ(runs[0].saved_share, 0.25) << "what was found out before";
    EXPECT_TRUE(runs[0].ranks == (Ranks{8, 1, 8}));
    const Fabric elsewhere = describe_fabric(Network(1), "another processor", "");
    const std::vector<ProgramRun> there = store->rows_for(elsewhere, mpi).runs;
    ASSERT_EQ(there.size(), 1u) << "it runs about as long";
    EXPECT_EQ(there[0].length_s, 30);
    EXPECT_EQ(there[0].saved_share, std::nullopt) << "and wins something else";
    store->remember(elsewhere, mpi, {}, ProgramRun{.program = program(), .ranks = {8, 1, 8}, .length_s = 50});
    ASSERT_TRUE(store->flush(patience));
    EXPECT_EQ(ProfileStore(path).rows_for(elsewhere, mpi).runs.back().length_s, 50);
    EXPECT_EQ(ProfileStore(path).rows_for(one_host, mpi).runs.back().length_s, 30);
}

TEST_F(Profiles, OfBeforeRunsWereKeptAreGoodStill) {
    ASSERT_TRUE(write({row("native", 24)}));
    ask("DROP TABLE run");
    EXPECT_EQ(read().size(), 1u);
    store->remember(one_host, mpi, {}, ProgramRun{.program = program(), .length_s = 7});
    ASSERT_TRUE(store->flush(patience));
    EXPECT_EQ(store->rows_for(one_host, mpi).runs.at(0).length_s, 7);
    EXPECT_FALSE(exists(".damaged"));
}

TEST_F(Profiles, KeepTheNewestRunsOnly) {
    for (int i = 0; i < 1500; ++i) {
        store->remember(one_host, mpi, {}, ProgramRun{.program = std::to_string(i), .ranks = {i + 1, 1, 1}, .measured_s = i * 1.0});
    }
    ASSERT_TRUE(store->flush(patience));
    EXPECT_EQ(ask("SELECT count(*), min(measured_s) FROM run"), "1024;476.0;");
}

TEST_F(Profiles, FabricsAlikeAreOne) {
    const Fabric far{2, 2, {20000}, "", ""};
    Fabric nearly = far;
    nearly.latencies_us = {22000};
    store->remember(far, mpi, {row("native", 24)});
    store->remember(nearly, mpi, {row("flat", 24)});
    store->remember(one_host, mpi, {row("flat", 8)});
    ASSERT_TRUE(store->flush(patience));
    EXPECT_EQ(ask("SELECT hosts, sites, latencies_us, processor FROM fabric ORDER BY hosts"),
              "1;1;;2 x A;2;2;20000;;");
    EXPECT_EQ(store->rows_for(nearly, mpi).rows.size(), 2u);
}

TEST_F(Profiles, AreReadOnceForAllDeciders) {
    ASSERT_TRUE(write({row("binomial", 24)}));
    ASSERT_EQ(store->rows_for(one_host, mpi).rows.size(), 1u);
    std::filesystem::rename(path, path + ".elsewhere");
    EXPECT_EQ(store->rows_for(one_host, mpi).rows.size(), 1u);
    EXPECT_EQ(store->rows_for(one_host, "Other MPI 2").why_none, "there is no profile yet");
    std::filesystem::rename(path + ".elsewhere", path);
    ASSERT_TRUE(write({row("binomial", 4096)}));
    EXPECT_EQ(store->rows_for(one_host, mpi).rows.size(), 2u) << "what was written meanwhile is missing";
}

TEST_F(Profiles, WhyThereIsNothing) {
    EXPECT_EQ(store->rows_for(one_host, mpi).why_none, "there is no profile yet");
    EXPECT_FALSE(exists("")) << "made by looking";
    ASSERT_TRUE(write({row("native", 24)}));
    EXPECT_EQ(store->rows_for(one_host, "Other MPI 2").why_none,
              "the profile knows this fabric, but not with Other MPI 2");
    EXPECT_EQ(store->rows_for({2, 2, {20000}, "", ""}, mpi).why_none,
              "the profile is of another fabric: this one is 2 hosts in 2 sites, not 1 hosts in 1 sites");
    EXPECT_EQ(store->rows_for(one_host, mpi).why_none, "");
    EXPECT_EQ(ProfileStore::open(""), nullptr);
}

TEST_F(Profiles, RowsThatNobodyCanHaveMeasuredAreLeftOut) {
    ASSERT_TRUE(write({row("native", 24), row("flat", 24), row("chain", 24)}));
    ask("UPDATE measurement SET candidate = 'forgotten' WHERE candidate = 'flat'");
    ask("UPDATE measurement SET median_us = -1 WHERE candidate = 'chain'");
    ASSERT_EQ(read().size(), 1u);
    EXPECT_TRUE(read()[0].candidate.native());
    EXPECT_EQ(ask("SELECT count(*) FROM measurement"), "3;") << "they stay for whoever knows them";
}

TEST_F(Profiles, TwoJobsWriteAtOnceWithoutLoss) {
    constexpr int flushes = 40;
    const auto job = [this](std::string_view own) {
        for (int i = 0; i < flushes; ++i) {
            if (!write({row("native", 24, 1), row(own, static_cast<std::size_t>(i + 1))})) return false;
        }
        return true;
    };
    const pid_t one = in_child([&] { return job("flat"); });
    const pid_t other = in_child([&] { return job("chain"); });
    EXPECT_TRUE(ended_well(one));
    EXPECT_TRUE(ended_well(other));
    EXPECT_EQ(ask("SELECT windows FROM measurement WHERE candidate = 'native'"), "80;");
    EXPECT_EQ(ask("SELECT count(*) FROM measurement"), "81;");
    EXPECT_EQ(ask("SELECT count(*) FROM fabric"), "1;");
    EXPECT_EQ(ask("PRAGMA integrity_check"), "ok;");
}

TEST_F(Profiles, ThreadsShareAStore) {
    constexpr int times = 20;
    const auto work = [this] {
        for (int i = 0; i < times; ++i) {
            store->remember(one_host, mpi, {row("native", 24, 1)});
            if (i % 4 == 0) store->flush(patience);
            store->rows_for(one_host, mpi);
        }
    };
    std::thread other(work);
    work();
    other.join();
    EXPECT_TRUE(store->flush(patience));
    EXPECT_EQ(ask("SELECT windows FROM measurement"), "40;");
}

TEST_F(Profiles, AJobThatIsKilledLosesOnlyItsOwn) {
    ASSERT_TRUE(write({row("native", 24)}));
    const pid_t killed = in_child([this] {
        sqlite3* database = nullptr;
        sqlite3_open(path.c_str(), &database);
        // Small enough a cache for it to write before it commits.
        sqlite3_exec(database, "PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE measurement SET windows = 0;"
                     "CREATE TABLE t(x); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c"
                     " LIMIT 5000) INSERT INTO t SELECT randomblob(100) FROM c", nullptr, nullptr, nullptr);
        raise(SIGKILL);
        return false;
    });
    EXPECT_FALSE(ended_well(killed));
    EXPECT_TRUE(exists("-journal"));
    ASSERT_TRUE(write({row("flat", 24)}));
    EXPECT_EQ(ask("SELECT windows FROM measurement"), "10;10;");
}

TEST_F(Profiles, WhatIsLockedIsWrittenLater) {
    ASSERT_TRUE(write({row("native", 24)}));
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
    store->remember(one_host, mpi, {row("native", 24)});
    EXPECT_FALSE(store->flush(milliseconds(1)));
    EXPECT_EQ(store->trouble(), "");
    EXPECT_TRUE(read().empty());
    sqlite3_close(other);
    EXPECT_TRUE(store->flush(patience));
    EXPECT_EQ(ask("SELECT windows FROM measurement"), "20;");
}

TEST_F(Profiles, ADamagedFileIsSetAside) {
    const std::vector<std::string> damages{"no database", std::string(5000, 'x')};
    for (const std::string& damage : damages) {
        std::ofstream(path) << damage;
        std::ofstream(path + "-journal") << "of the damaged one";
        testing::internal::CaptureStderr();
        EXPECT_TRUE(read().empty());
        EXPECT_TRUE(write({row("native", 24)}));
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
        EXPECT_TRUE(said.starts_with("mutirao: the profile " + path + " is damaged (")) << said;
        EXPECT_TRUE(exists(".damaged"));
        EXPECT_FALSE(exists("-journal")) << "it would be played back into the next one";
        EXPECT_EQ(read().size(), 1u);
    }
}

TEST_F(Profiles, DamageInsideIsFoundWhereItIsRead) {
    std::vector<ProfileRow> rows;
    for (std::size_t i = 0; i < 2000; ++i) rows.push_back(row("native", i));
    ASSERT_TRUE(write(rows));
    {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(3 * 4096);
        file << std::string(8 * 4096, '\xff');
    }
    testing::internal::CaptureStderr();
    EXPECT_TRUE(read().empty());
    EXPECT_NE(testing::internal::GetCapturedStderr().find("is damaged"), std::string::npos);
    EXPECT_TRUE(write({row("native", 24)}));
    EXPECT_EQ(read().size(), 1u);
}

TEST_F(Profiles, AnOlderSchemaIsSetAsideAndANewerOneIsLeft) {
    ASSERT_TRUE(write({row("native", 24)}));
    const std::string newer = std::to_string(schema_version + 1);
    ask("PRAGMA user_version = " + newer);
    EXPECT_EQ(store->rows_for(one_host, mpi).why_none, path + " was written by a newer mutirao");
    EXPECT_FALSE(write({row("native", 24)}));
    EXPECT_EQ(ask("PRAGMA user_version"), newer + ";");
    EXPECT_EQ(ask("SELECT windows FROM measurement"), "10;");
    ask("PRAGMA user_version = " + std::to_string(schema_version - 1));
    store = ProfileStore::open(path);
    testing::internal::CaptureStderr();
    EXPECT_TRUE(write({row("flat", 24)}));
    EXPECT_NE(testing::internal::GetCapturedStderr().find("is of the older schema"), std::string::npos);
    EXPECT_TRUE(exists(".version-" + std::to_string(schema_version - 1)));
    EXPECT_EQ(read().size(), 1u);
}

TEST_F(Profiles, AnotherProgramsDatabaseStays) {
    ask("CREATE TABLE theirs(x); INSERT INTO theirs VALUES(5)");
    EXPECT_EQ(store->rows_for(one_host, mpi).why_none, path + " is not a profile of mutirao");
    EXPECT_FALSE(write({row("native", 24)}));
    EXPECT_EQ(ask("SELECT * FROM theirs"), "5;");
}

TEST_F(Profiles, APlaceThatCannotBeWrittenCostsTheProfileOnly) {
    std::ofstream(folder + "/file") << "x";
    for (const std::string& place : {folder + "/file/profile.db", folder, std::string("/proc/profile.db")}) {
        ProfileStore nowhere(place);
        nowhere.remember(one_host, mpi, {row("native", 24)});
        EXPECT_TRUE(nowhere.flush(patience)) << "nothing to try again: " << place;
        EXPECT_NE(nowhere.trouble(), "") << place;
        EXPECT_TRUE(nowhere.rows_for(one_host, mpi).rows.empty()) << place;
    }
}

// By an ordinary user, whom the rights of files concern.
TEST_F(Profiles, AReadOnlyProfileIsReadAndNotWritten) {
    ASSERT_TRUE(write({row("native", 24)}));
    ASSERT_EQ(chmod(path.c_str(), 0444), 0);
    ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
    const bool fine = ended_well(in_child([this] {
        if (geteuid() == 0 && setuid(65534) != 0) return false;
        store->remember(one_host, mpi, {row("flat", 24)});
        return read().size() == 1 && store->flush(patience) && !store->trouble().empty() &&
               read().size() == 1;
    }));
    chmod(folder.c_str(), 0755);
    EXPECT_TRUE(fine);
}

TEST_F(Profiles, FoldersAreMade) {
    path = folder + "/a/b/profile.db";
    store = ProfileStore::open(path);
    EXPECT_TRUE(write({row("native", 24)}));
    EXPECT_EQ(read().size(), 1u);
}

TEST(ProfilePath, IsInTheUsersStateFolder) {
    setenv("XDG_STATE_HOME", "/state", 1);
    setenv("HOME", "/people/me", 1);
    EXPECT_EQ(profile_path("auto"), "/state/mutirao/profile.db");
    setenv("XDG_STATE_HOME", "relative", 1);
    EXPECT_EQ(profile_path("auto"), "/people/me/.local/state/mutirao/profile.db");
    unsetenv("HOME");
    EXPECT_EQ(profile_path("auto"), "");
    EXPECT_EQ(profile_path("off"), "");
    EXPECT_EQ(profile_path("/some/file"), "/some/file");
}

}  // namespace
}  // namespace mutirao::profile
