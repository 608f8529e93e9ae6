// One agent per host: it measures the links to the other hosts, tells the others what changes, keeps
// the minimum spanning tree of the hosts with them, and publishes what it knows in shared memory.
// Runs as a thread inside one rank of each host, or as a daemon that outlives jobs. No MPI here.
//
// What a rank does: Endpoint::open, exchange contact() by MPI, Thread(endpoint, job); the other ranks
// of the host attach a ViewReader to the segment's name (agent/segment.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/endpoint.h"
#include "agent/key.h"
#include "agent/segment.h"
#include "core/forecast/change_detector.h"

namespace mutirao::agent {

// How an agent goes about its work. Equal on all agents of a job.

/// Links outside the tree are probed so many times more rarely.
constexpr int rarer_outside_tree = 10;

struct Options {
    int tree_period_ms = 250;     ///< between probes of a link that the tree uses
    int other_period_ms = rarer_outside_tree * tree_period_ms;  ///< of others, on up to 24 hosts
    int dead_after_ms = 5000;     ///< a link that was silent for so long carries nothing
    int bandwidth_period_ms = 600'000;  ///< between measurements of one pair of sites; 0: never
    ChangeRule rule;
    std::string series_file;      ///< SQLite; empty: none is kept
};

/// What the agents work on: equal on all of them but for `self`.
struct Job {
    int self = 0;
    std::vector<Contact> contacts;  ///< one for each host
    Key key;
    std::uint64_t id = 0;
    Options options;
};

/// An agent as a thread of this process. It takes no signals and writes nothing. When it cannot run
/// (another agent of the same name holds the segment, or the system refuses threads or memory), or
/// fails, the program goes on without it. Children that the process forks have no agent, and none of
/// its sockets.
class Thread {
  public:
    /// `segment`: its name; empty: segment_name(job.id, job.self).
    Thread(Endpoint endpoint, Job job, std::string segment = {});
    /// Stops within about 100 ms. Does nothing in a child that the process forked.
    ~Thread();
    /// Before it stops: the job is over here, perhaps a moment earlier than elsewhere. The others are
    /// told, and for a while do not take its silence for news.
    void say_farewell();
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

    bool running() const;
    /// Why it is not; empty while it runs.
    std::string why_not() const;
    /// For ViewReader::attach on this host.
    const std::string& segment() const;

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace mutirao::agent
