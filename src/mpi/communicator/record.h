// What is remembered of a communicator for `mutirao explain`, also after it was freed.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/epochs/network_change.h"
#include "core/selection/selection.h"

namespace mutirao::mpi {

/// Where the time of a communicator's set-up went, on this rank.
struct SetupCost {
    double attach_ms = 0;  ///< reading the tree of an agent that was there before the job
    double hosts_ms = 0;   ///< finding out who shares a host, agreeing on settings
    double probe_ms = 0;   ///< measuring the links
    double ghs_ms = 0;     ///< building the spanning tree
    double gather_ms = 0;  ///< telling every host what all measured
    long ghs_messages = 0;  ///< of all hosts together

    double total_ms() const { return attach_ms + hosts_ms + probe_ms + ghs_ms + gather_ms; }
};

struct DecisionRecord {
    int root = 0;  ///< host of the root
    std::uint64_t first_call = 0;  ///< when it was made
    std::size_t length_bytes = 0;  ///< of the first call in its class of lengths
    Decision decision;
    std::uint64_t calls = 0;
};

/// A change of the network that a communicator took up.
struct TakenUp {
    static constexpr std::size_t most_shown = 8;

    struct Link {
        int low;
        int high;
        double before_us;
        double after_us;
    };
    std::uint64_t call = 0;   ///< from which on it holds
    std::size_t links = 0;    ///< whose latency changed
    std::vector<Link> shown;  ///< the first of them
    bool new_tree = false;
};

/// How a communicator followed its network, on this rank.
struct AdaptationRecord {
    std::string mode = "off";
    std::uint64_t epochs = 0;  ///< agreements among the ranks, with or without a change
    std::uint64_t waits = 0;   ///< times that this rank waited for an agreement
    double waited_ms = 0;
    // Synchronous only: measuring and adapting, while the program waited.
    std::uint64_t checks = 0;
    double adapting_ms = 0;
    std::deque<double> check_ms;  ///< each of the latest checks
    std::deque<TakenUp> taken_up;  ///< the latest

    void checked(double took_ms) {
        constexpr std::size_t most_checks = 1024;
        ++checks;
        adapting_ms += took_ms;
        check_ms.push_back(took_ms);
        if (check_ms.size() > most_checks) {
            check_ms.pop_front();
        }
    }
};

struct Record {
    std::string name;
    int ranks = 0;
    int hosts = 0;
    bool native = true;
    std::string reason;  ///< why native, or where the network came from
    SetupCost cost;
    Topology topology;  ///< the newest taken up
    AdaptationRecord adaptation;
    std::vector<DecisionRecord> decisions;
};

/// record.topology becomes what it is from that call on; remembered for the report.
void take_up(Record& record, std::uint64_t call, const NetworkChange& change);

}  // namespace mutirao::mpi
