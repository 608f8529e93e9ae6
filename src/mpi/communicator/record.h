// What is remembered of a communicator for `mutirao explain`, also after it was freed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/selection/selection.h"

namespace mutirao::mpi {

/// Where the time of a communicator's set-up went, on this rank.
struct SetupCost {
    double hosts_ms = 0;   ///< finding out who shares a host, agreeing on settings
    double probe_ms = 0;   ///< measuring the links
    double ghs_ms = 0;     ///< building the spanning tree
    double gather_ms = 0;  ///< telling every host what all measured
    long ghs_messages = 0;  ///< of all hosts together

    double total_ms() const { return hosts_ms + probe_ms + ghs_ms + gather_ms; }
};

struct DecisionRecord {
    int root = 0;  ///< host of the root
    std::size_t length_bytes = 0;  ///< of the first call in its class of lengths
    Decision decision;
    std::uint64_t calls = 0;
};

struct Record {
    std::string name;
    int ranks = 0;
    int hosts = 0;
    bool native = true;
    std::string reason;  ///< why native, or where the network came from
    SetupCost cost;
    Topology topology;
    std::vector<DecisionRecord> decisions;
};

}  // namespace mutirao::mpi
