// Shared memory as other processes meet it: while the agent lives, when another wants its name, and
// after it died without a word.
#include "agent/segment.h"

#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <limits>
#include <thread>

namespace mutirao::agent {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

SegmentIdentity identity(const std::string& name, int host_count = 3) {
    return {segment_prefix() + "test-" + std::to_string(getpid()) + "-" + name, 1, host_count, 42};
}

NetworkView view_of(int host_count, double latency_us) {
    NetworkView view;
    view.host_count = host_count;
    const auto hosts = static_cast<std::size_t>(host_count);
    view.latency_us.assign(hosts * hosts, latency_us);
    view.last_known_us.assign(hosts * hosts, latency_us);
    view.changes = static_cast<std::uint64_t>(latency_us);
    view.version = static_cast<std::uint32_t>(latency_us);
    view.tree = {{0, 1}, {1, 2}};
    view.bandwidth_bytes_per_us.assign(hosts * hosts, latency_us);
    view.host_speeds.assign(hosts, {latency_us, latency_us, latency_us});
    view.unknown_links = 3;
    return view;
}

std::unique_ptr<Segment> made(const SegmentIdentity& what) {
    std::string why_not;
    std::unique_ptr<Segment> segment = Segment::make(what, why_not);
    EXPECT_TRUE(segment) << why_not;
    return segment;
}

/// An agent, and perhaps a process that it has forked. Both wait to be killed.
struct Family {
    pid_t agent = -1, child = -1;
};

Family agent_in_a_child(const SegmentIdentity& what, bool forks = false) {
    int ready[2];
    if (pipe(ready) != 0) return {};
    Family family{fork()};
    if (family.agent == 0) {
        std::string why_not;
        const std::unique_ptr<Segment> segment = Segment::make(what, why_not);
        if (!segment) _exit(1);
        segment->publish(view_of(3, 7));
        const bool is_last = !forks || fork() == 0;
        const pid_t child = forks ? getpid() : -1;
        // The last one says so, when it has closed what a child must not keep.
        if (is_last && write(ready[1], &child, sizeof child) < 0) _exit(1);
        while (true) pause();
    }
    close(ready[1]);
    const ssize_t told = read(ready[0], &family.child, sizeof family.child);
    if (told != static_cast<ssize_t>(sizeof family.child)) ADD_FAILURE() << "the child made no segment";
    close(ready[0]);
    return family;
}

void kill_and_wait(pid_t child) {
    ASSERT_GT(child, 0);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

TEST(Segment, WhatIsPublishedIsRead) {
    const SegmentIdentity what = identity("read");
    auto segment = made(what);
    ASSERT_TRUE(segment);
    const auto reader = ViewReader::attach(what.name);
    ASSERT_TRUE(reader);
    EXPECT_FALSE(reader->read());
    EXPECT_FALSE(reader->status());
    segment->publish("{}");
    EXPECT_EQ(reader->status(), "{}");
    NetworkView view = view_of(3, 5);
    view.latency_us[1] = infinite;
    const std::uint64_t before = reader->changes();
    segment->publish(view);
    EXPECT_GT(reader->changes(), before);
    EXPECT_EQ(reader->read(), view);
    EXPECT_EQ(reader->self(), 1);
    EXPECT_EQ(reader->host_count(), 3);
    EXPECT_EQ(reader->job(), 42U);
    EXPECT_EQ(reader->pid(), getpid());
    EXPECT_FALSE(reader->gone());
    segment.reset();
    EXPECT_TRUE(reader->gone());
    EXPECT_EQ(reader->read(), view);
    EXPECT_FALSE(ViewReader::attach(what.name));
}

// Of a program that was killed, processes that it forked may live on. Fails if a reader's test for life takes the lock
// itself, a name is given before the lock, the lock belongs to the open file from which the memory was made, or a
// child keeps it.
TEST(Segment, OfAnAgentThatWasKilledIsSeenToBeStaleAndReplacedThoughItsChildLives) {
    for (const bool forks : {false, true}) {
        const SegmentIdentity what = identity("killed");
        const Family family = agent_in_a_child(what, forks);
        const auto reader = ViewReader::attach(what.name);
        ASSERT_TRUE(reader);
        EXPECT_FALSE(reader->gone());
        std::string why_not;
        EXPECT_FALSE(Segment::make(what, why_not));
        EXPECT_EQ(why_not, "another agent of this name is running on this host");
        kill_and_wait(family.agent);
        EXPECT_TRUE(reader->gone());
        const std::unique_ptr<Segment> next = made(what);
        EXPECT_TRUE(reader->gone());
        EXPECT_EQ(reader->read(), view_of(3, 7));
        EXPECT_FALSE(ViewReader::attach(what.name)->gone());
        if (forks) kill(family.child, SIGKILL);
    }
}

TEST(Segment, ANameThatIsTakenByJunkIsFreedAndOthersAreExplained) {
    const SegmentIdentity what = identity("squatted");
    const std::string path = segment_path(what.name);
    ASSERT_EQ(symlink("/tmp", path.c_str()), 0);
    for (const mode_t mode : {0600, 0}) {
        std::unique_ptr<Segment> segment = made(what);
        EXPECT_TRUE(ViewReader::attach(what.name));
        segment.reset();
        const File file(open(path.c_str(), O_CREAT | O_RDWR, mode));
        ASSERT_EQ(ftruncate(file.number(), 10), 0);
    }
    EXPECT_TRUE(made(what));
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
    std::string why_not;
    EXPECT_FALSE(Segment::make(what, why_not));
    EXPECT_EQ(why_not, path + ": Is a directory: remove it, or choose another name");
    EXPECT_EQ(rmdir(path.c_str()), 0);
}

TEST(Segment, RemnantsAreClearedAwayAndTheLivingAreNot) {
    const SegmentIdentity dead = identity("dead"), alive = identity("alive");
    const auto segment = made(alive);
    for (int tries = 0; tries < 20 && !ViewReader::attach(dead.name); ++tries)  // agents of other tests clear away, too
        kill_and_wait(agent_in_a_child(dead).agent);
    ASSERT_TRUE(ViewReader::attach(dead.name));
    remove_stale_segments();
    EXPECT_FALSE(ViewReader::attach(dead.name));
    EXPECT_TRUE(ViewReader::attach(alive.name));
}

TEST(Segment, WhatIsNoSegmentIsNotAttachedTo) {
    const std::string name = identity("junk").name;
    for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{100'000}}) {
        const File file(open(segment_path(name).c_str(), O_CREAT | O_RDWR | O_TRUNC, 0600));
        ASSERT_EQ(ftruncate(file.number(), static_cast<off_t>(size)), 0);
        EXPECT_FALSE(ViewReader::attach(name));
    }
    unlink(segment_path(name).c_str());
    EXPECT_FALSE(ViewReader::attach(name));
    EXPECT_FALSE(ViewReader::attach("../etc/passwd"));
}

// Every view has one value throughout: a mixture would show. Fails without the second look at the
// sequence.
TEST(Segment, ReadersNeverSeeAMixture) {
    constexpr int host_count = 40;
    const SegmentIdentity what = identity("torn", host_count);
    const auto segment = made(what);
    ASSERT_TRUE(segment);
    segment->publish(view_of(host_count, 1));
    std::atomic<bool> ended{false};
    std::thread writer([&] {
        for (int i = 2; i < 20'000 && !ended; ++i)
            segment->publish(view_of(host_count, i % 1000 + 1));
        ended = true;
    });
    const auto reader = ViewReader::attach(what.name);
    for (int reads = 0; reads < 2000 && !ended; ++reads) {
        const auto view = reader->read();
        if (view && *view != view_of(host_count, view->latency_us[0])) {
            ADD_FAILURE() << "a view of several values";
            break;
        }
    }
    ended = true;
    writer.join();
}

}  // namespace
}  // namespace mutirao::agent
