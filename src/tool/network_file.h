// The text format in which programs hand a network to the tool:
//
//   # anything after a hash is a comment
//   hosts 24                          must come first; the hosts are 0 .. 23
//   eager_limit_bytes 65536           optional
//   initial_window_bytes 14480        optional: what TCP sends at once after a pause
//   header_bytes 64                   optional: what the MPI library sends before each message
//   buffered_limit_bytes 128          optional: longer sends are complete when they are acknowledged
//   detached_bytes 65536              optional: but for so many bytes to each peer, which are left behind
//   bbr                               optional: BBR controls connections, and spreads what is sent
//   host 0 20 20 125                  optional: send and receive overhead in us, port in bytes/us
//   link 0 1 175300 12.5              one direction: latency in us, bandwidth in bytes/us
//   site 0 Rio                        optional, but for all hosts or none: any word
//   memory 0.5 0.25 5000 2500 inf     optional: latency and overhead of a message inside a host in us, copy
//                                     and reduction of a rank, messages of all ranks, in bytes/us
//
// Latency, port and bandwidth may be "inf". A link that is not listed lets nothing through.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "core/network/topology.h"
#include "tool/arguments.h"

namespace mutirao::tool {

struct NetworkFile {
    Network network;
    std::vector<int> site_of;  ///< empty: the file names no sites
    MemoryCosts memory;
};

/// `name` is how error lines call the file. Throws UsageError.
NetworkFile read_network(std::istream& input, const std::string& name);
NetworkFile read_network_file(const std::string& path);

/// With its spanning tree, if it has one, and the sites that the file names, or else those that show.
Topology topology_of(NetworkFile file);

/// Every host and link alike, as on a fast local network: what stands in where none is given.
Network uniform_network(int host_count);

}  // namespace mutirao::tool
