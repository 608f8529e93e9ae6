// Whole agents over the loopback interface: they find each other and agree on the tree, go round an
// agent that dies, and take it in again.
#include "agent/agent.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "agent/test_agents.h"
#include "core/network/tree.h"

namespace mutirao::agent {
namespace {

using test::Agents;
using test::within_a_minute;

// Over the loopback, whatever that carries. All three are one site, for which one pair stands.
TEST(Agent, AllKnowBandwidthAndTheSpeedOfHosts) {
    Agents agents(3);
    ASSERT_TRUE(within_a_minute([&] {
        for (int host = 0; host < 3; ++host) {
            const auto view = agents.view(host).read();
            for (int other = 0; other < 3; ++other) {
                const auto at = static_cast<std::size_t>(host * 3 + other);
                if (host != other && !(view->bandwidth_bytes_per_us[at] > 0)) return false;
                if (!(view->host_speeds[static_cast<std::size_t>(other)].reduce_bytes_per_us > 0))
                    return false;
            }
        }
        return true;
    }));
}

// Fails if only channels that broke count, and not those that never came up.
TEST(Agent, OneWithoutTheKeyIsLeftOutAndItsLinksAreUnknownUntilTheyAreGivenUp) {
    Agents agents(3, [](Job& job) {
        if (job.self == 1) job.key = *random_key();
    });
    const auto view = [&] { return *agents.view(0).read(); };
    ASSERT_TRUE(within_a_minute([&] { return std::isfinite(view().latency_us[2]); }));
    EXPECT_EQ(view().unknown_links, 2);
    ASSERT_TRUE(within_a_minute([&] { return view().unknown_links == 0; }));
    EXPECT_FALSE(std::isfinite(view().latency_us[1]));
    ASSERT_TRUE(agents.agree_on({0, 2}));
    EXPECT_TRUE(within_a_minute([&] { return test::counted(agents[1], Count::rejected_forged) > 0U; }));
    EXPECT_TRUE(agents.view(1).read()->tree.empty());
}

TEST(Agent, AgentsAgreeOnTheMinimumSpanningTreeGoRoundOneThatEndedAndTakeItInAgain) {
    Agents agents(5);
    for (int host = 0; host < agents.count(); ++host)
        ASSERT_TRUE(agents[host].running()) << agents[host].why_not();
    const auto agree_on_the_tree_of = [&](const std::vector<int>& hosts) {
        ASSERT_TRUE(agents.agree_on(hosts));
        EXPECT_TRUE(within_a_minute([&] {  // noise is news
            const NetworkView view = *agents.view(hosts.back()).read();
            return view.tree == minimum_spanning_tree(Network(view.host_count, view.latency_us));
        }));
    };
    agree_on_the_tree_of({0, 1, 2, 3, 4});
    for (int host = 0; host < agents.count(); ++host)
        EXPECT_EQ(agents.view(host).read()->unknown_links, 0);
    agents.end(1);
    agree_on_the_tree_of({0, 2, 3, 4});
    agents.restart(1);
    ASSERT_TRUE(agents[1].running()) << agents[1].why_not();
    agree_on_the_tree_of({0, 1, 2, 3, 4});
}

// Seen to fail without the farewell: links are unusable as soon as the channel ends.
TEST(Agent, OneWhoseJobIsOverIsNoNewsUntilItStaysAway) {
    Agents agents(3);
    ASSERT_TRUE(agents.agree_on({0, 1, 2}));
    const auto began = std::chrono::steady_clock::now();
    agents[1].say_farewell();
    agents.end(1);
    ASSERT_TRUE(within_a_minute([&] {
        return !std::isfinite(agents.view(0).read()->latency_us[1]);
    }));
    EXPECT_GT(std::chrono::steady_clock::now() - began,
              std::chrono::milliseconds(test::fast_options().dead_after_ms));
    EXPECT_TRUE(agents.agree_on({0, 2}));
}

// Fails if probes never go through the channel.
TEST(Agent, WhereNoUdpGetsThroughTheChannelsDo) {
    const Endpoint silent = *Endpoint::open();
    Agents agents(3, [&](Job& job) {
        for (Contact& contact : job.contacts) contact.udp_port = silent.contact().udp_port;
    });
    ASSERT_TRUE(agents.agree_on({0, 1, 2}));
    EXPECT_TRUE(within_a_minute([&] {
        return test::tells(agents[0], R"({"host":2,"channel_up":true,"over_tcp":true)");
    }));
}

TEST(Agent, ASecondOneForTheSameHostStepsAside) {
    Agents agents(2);
    ASSERT_TRUE(agents.agree_on({0, 1}));
    const Thread second(*Endpoint::open(), agents.job(0));
    EXPECT_FALSE(second.running());
    EXPECT_EQ(second.why_not(), "another agent of this name is running on this host");
    EXPECT_EQ(second.segment(), agents[0].segment());
    EXPECT_TRUE(agents[0].running());
}

/// What the system says under that name of each thread of this process.
std::map<std::string, std::string> of_threads(const std::string& name) {
    std::map<std::string, std::string> values;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(task.path() / "status");
        for (std::string word; file >> word;)
            if (word == name) file >> values[task.path().filename()];
    }
    return values;
}

TEST(Agent, TakesNoSignalsOfTheProgram) {
#ifdef __SANITIZE_THREAD__
    constexpr std::size_t sanitizers = 1;
#else
    constexpr std::size_t sanitizers = 0;
#endif
    const auto before = of_threads("SigBlk:");
    const Agents agents(2);
    std::map<std::string, std::string> now;
    // A thread that ends while the system lists them can hide another.
    EXPECT_TRUE(within_a_minute([&] {
        now = of_threads("SigBlk:");
        return now.size() >= before.size() + 2 + sanitizers;
    }));
    EXPECT_LE(now.size(), before.size() + 4 + sanitizers)
        << "one more each while they find out how fast the host is";
    for (const auto& [thread, mask] : now) {
        if (before.contains(thread)) {
            EXPECT_EQ(mask, before.at(thread));
            continue;
        }
        for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGUSR1, SIGPROF})
            EXPECT_NE(std::stoull(mask, nullptr, 16) >> (signal - 1) & 1, 0U) << signal;
    }
}

// As a launcher does with ranks. Shows nothing on a machine with one processor.
TEST(Agent, IsTiedToTheProcessorOfItsRank) {
    const std::string free = of_threads("Cpus_allowed:").begin()->second;
    cpu_set_t before, first;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&first);
    for (int processor = 0; CPU_COUNT(&first) == 0; ++processor)
        if (CPU_ISSET(processor, &before)) CPU_SET(processor, &first);
    ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
    const auto at_large = [&] {
        int threads = 0;
        for (const auto& [thread, processors] : of_threads("Cpus_allowed:"))
            if (processors == free) ++threads;
        return threads;
    };
    const int others = at_large();
    {
        Agents agents(2);
        EXPECT_TRUE(agents.agree_on({0, 1}));
        EXPECT_EQ(at_large(), others);
    }
    sched_setaffinity(0, sizeof before, &before);
}

// A process that a rank forks may live on for long: it must neither hold the agent's port nor keep its
// connections open, nor say that it has an agent, nor end it.
TEST(Agent, AChildOfTheProgramHasNeitherAgentNorSockets) {
    std::optional<Endpoint> endpoint = Endpoint::open();
    const std::uint16_t port = endpoint->contact().tcp_port;
    Agents agents(2);
    ASSERT_TRUE(agents.agree_on({0, 1}));
    int wait_for[2], told[2];
    ASSERT_EQ(pipe(wait_for) | pipe(told), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(wait_for[1]);
        char answer = !agents[0].running() && agents[0].why_not() != "" ? 'y' : 'n';
        agents.end(0);
        bool written = write(told[1], &answer, 1) == 1;
        written = written && read(wait_for[0], &answer, 1) == 0;
        _exit(written ? 0 : 1);
    }
    char answer = 'n';
    ASSERT_EQ(read(told[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    EXPECT_TRUE(agents[0].running());
    EXPECT_FALSE(agents.view(0).gone());
    EXPECT_TRUE(ViewReader::attach(agents[0].segment()));
    endpoint.reset();
    EXPECT_TRUE(Endpoint::open(port));
    agents.end(0);
    EXPECT_TRUE(agents.agree_on({1}));
    for (const int each : {wait_for[0], wait_for[1], told[0], told[1]}) close(each);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

/// Of an agent in a child, after this: 0: there is none, the reason is there, and nobody finds a segment.
int refusal_after(void (*prepare)()) {
    const pid_t child = fork();
    if (child == 0) {
        Endpoint endpoint = *Endpoint::open();
        const Contact contact = endpoint.contact();
        Job job{0, {contact, contact}, Key{}, *random_number(), test::fast_options()};
        prepare();
        const Thread agent(std::move(endpoint), std::move(job));
        const bool found = ViewReader::attach(agent.segment()).has_value();
        _exit(agent.running() ? 1 : agent.why_not().empty() ? 2 : found ? 3 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Agent, WithoutFilesOrAThreadTheProgramGoesOnWithoutIt) {
#ifndef __SANITIZE_ADDRESS__  // to look at an object it needs a file, too
    EXPECT_EQ(refusal_after([] {
                  const int next = dup(0);
                  const rlimit files{static_cast<rlim_t>(next), 4096};
                  close(next);
                  setrlimit(RLIMIT_NOFILE, &files);
              }),
              0);
#endif
    EXPECT_EQ(refusal_after([] {
                  pthread_attr_t attributes;
                  pthread_attr_init(&attributes);
                  pthread_attr_setstacksize(&attributes, std::size_t{1} << 46);
                  pthread_setattr_default_np(&attributes);
              }),
              0);
}

}  // namespace
}  // namespace mutirao::agent
