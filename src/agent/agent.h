// One agent per host: it measures the links to the other hosts, tells the others what changes, keeps
// the minimum spanning tree of the hosts with them, and publishes what it knows in shared memory.
// Runs as a thread inside one rank of each host, or as a daemon that outlives jobs. No MPI here.
//
// What a rank does: Endpoint::open, exchange contact() by MPI, Thread(endpoint, job); the other ranks
// of the host attach a ViewReader to the segment's name (agent/view_reader.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/contact.h"
#include "agent/endpoint.h"
#include "agent/key.h"
#include "agent/view_reader.h"
#include "core/forecast/change_detector.h"
#include "core/network/tree.h"

namespace mutirao::agent {

struct Options {
    int tree_period_ms = 250;     ///< between probes of a link that the tree uses
    int other_period_ms = 2000;   ///< between probes of another link, on up to 24 hosts
    int dead_after_ms = 5000;     ///< a link that was silent for so long carries nothing
    int sensor_period_ms = 10'000;   ///< between readings of processor, memory and disk
    int bandwidth_period_ms = 0;  ///< between bandwidth probes of one host; 0: never
    int round_limit_ms = 10'000;  ///< a round of the tree that takes longer is started anew
    ChangeRule rule;
    std::string series_file;      ///< SQLite; empty: none is kept
};

/// What the agents work on: equal on all of them but for `self`.
struct Job {
    int self = 0;
    std::vector<Contact> contacts;  ///< one for each host
    Key key;
    std::uint64_t id = 0;
    /// What is known already: host_count^2, row by row; infinite: unusable. Empty: nothing is known.
    std::vector<double> latency_us;
    EdgeList tree;  ///< minimal for those latencies
    Options options;
};

class Agent;

/// An agent as a thread of this process. It takes no signals and writes nothing. When it cannot run
/// (another agent of the same name holds the segment, or the system refuses threads or memory), or
/// fails, the program goes on without it.
class Thread {
  public:
    /// Segment name: segment_name(job.id, job.self) unless another is given.
    Thread(Endpoint endpoint, Job job, std::string segment = {});
    /// Stops within about 100 ms. Does nothing in a child that the process forked.
    ~Thread();
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

    bool running() const;
    /// Why it is not; empty while it runs.
    std::string why_not() const;
    /// For ViewReader::attach in other processes of this host.
    const std::string& segment() const;
    /// The agent's view for this process. Valid from the start: it then holds what the job knew.
    const ViewReader& view() const;

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace mutirao::agent
