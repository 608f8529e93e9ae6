#include "mpi/communicator/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <span>

#include "mpi/drivers/ghs_driver.h"
#include "mpi/drivers/probe.h"
#include "mpi/drivers/tree_gather.h"
#include "mpi/interpose/native.h"

namespace mutirao::mpi {
namespace {

class Stopwatch {
  public:
    double lap_ms() {
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double, std::milli> lap = now - since_;
        since_ = now;
        return lap.count();
    }

  private:
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

// One host's row as doubles: its number, its messages, its socket buffer, whether letters are left,
// then per host the latency and whether there is a tree link to it.
using Row = std::vector<double>;
constexpr std::size_t row_head = 4;

// What the kernel takes from a sender at once, whatever the network: the middle value of tcp_wmem is
// a new socket's buffer, about half of which is payload (tcp(7)). 0 where that cannot be told.
double socket_buffer_bytes() {
    double least = 0;
    double initial = 0;
    if (std::FILE* const file = std::fopen("/proc/sys/net/ipv4/tcp_wmem", "r")) {
        if (std::fscanf(file, "%lf %lf", &least, &initial) != 2) {
            initial = 0;
        }
        std::fclose(file);
    }
    return initial / 2;
}

Row make_row(int host, const std::vector<double>& latency_us, const TreePart& part,
             bool letters_left) {
    Row row{static_cast<double>(host), static_cast<double>(part.messages_sent),
            socket_buffer_bytes(), letters_left ? 1.0 : 0.0};
    for (std::size_t peer = 0; peer < latency_us.size(); ++peer) {
        const bool branch = std::binary_search(part.branches.begin(), part.branches.end(),
                                               static_cast<int>(peer));
        row.insert(row.end(), {latency_us[peer], branch ? 1.0 : 0.0});
    }
    return row;
}

std::vector<std::byte> to_bytes(const Row& row) {
    std::vector<std::byte> bytes(row.size() * sizeof(double));
    std::memcpy(bytes.data(), row.data(), bytes.size());
    return bytes;
}

// All hosts' rows in order of host, or nothing if some are missing.
std::vector<double> sorted_rows(const std::vector<std::byte>& bytes, int hosts) {
    const std::size_t width = row_head + 2 * static_cast<std::size_t>(hosts);
    std::vector<double> rows(bytes.size() / sizeof(double));
    std::memcpy(rows.data(), bytes.data(), rows.size() * sizeof(double));
    if (rows.size() != width * static_cast<std::size_t>(hosts)) {
        return {};
    }
    std::vector<double> sorted(rows.size());
    for (std::size_t at = 0; at < rows.size(); at += width) {
        std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(at), width,
                    sorted.begin() + static_cast<std::ptrdiff_t>(rows[at] * static_cast<double>(width)));
    }
    return sorted;
}

// What the leaders find out: all rows, or nothing if the tree does not reach every host.
std::vector<double> measure_as_leader(MPI_Comm comm, const Hosts& hosts, const Settings& settings,
                                      SetupCost& cost) {
    Mailbox mailbox(comm, hosts);
    Stopwatch watch;
    const std::vector<double> latency_us =
        probe_links(mailbox, hosts, {settings.probe_count, settings.probe_timeout_ms});
    cost.probe_ms = watch.lap_ms();
    const TreePart part = build_spanning_tree(mailbox, hosts, latency_us);
    cost.ghs_ms = watch.lap_ms();
    if (part.hosts_in_tree < hosts.count()) {
        return {};
    }
    const std::vector<std::byte> all = gather_over_tree(
        mailbox, part.branches,
        to_bytes(make_row(hosts.my_host(), latency_us, part, mailbox.letters_left())));
    cost.gather_ms = watch.lap_ms();
    return sorted_rows(all, hosts.count());
}

void share_on_host(const Hosts& hosts, std::vector<double>& rows) {
    if (hosts.host_comm == MPI_COMM_NULL) {
        return;
    }
    int length = static_cast<int>(rows.size());
    const Handle host_comm = as_word(hosts.host_comm);
    native().bcast(&length, 1, as_word(MPI_INT), 0, host_comm);
    rows.resize(static_cast<std::size_t>(length));
    native().bcast(rows.data(), length, as_word(MPI_DOUBLE), 0, host_comm);
}

// What the MPI libraries do over TCP by default, less their headers. Open MPI's ob1 asks the
// receiver beyond btl_tcp_eager_limit (64 KiB) and buffers what is shorter. MPICH over libfabric's
// tcp provider never asks, but completes what is longer than an injected message only when the
// receiver has acknowledged it.
Transport transport_of(const Settings& settings, [[maybe_unused]] double socket_buffer) {
    Transport transport;
#if defined(OPEN_MPI)
    transport.eager_limit_bytes = 65536 - 128;
#else
    transport.buffered_limit_bytes = 128;
    transport.detached_bytes =
        std::min(settings.detached_bytes, static_cast<std::size_t>(socket_buffer));
#endif
    if (settings.eager_limit_bytes != 0) {
        transport.eager_limit_bytes = settings.eager_limit_bytes;
    }
    return transport;
}

// Not measured: what a message and a byte cost a host is taken from the order of magnitude that a
// kernel's TCP has, so that one sender for all is not thought to be free.
constexpr HostCosts assumed_costs{10.0, 10.0, 1000.0};

void take_rows(const std::vector<double>& rows, int hosts, const Settings& settings,
               Measured& result) {
    const auto count = static_cast<std::size_t>(hosts);
    const std::size_t width = row_head + 2 * count;
    Topology& topology = result.topology;
    topology.network = Network(hosts);
    double socket_buffer = rows[2];
    for (std::size_t from = 0; from < count; ++from) {
        const double* const row = &rows[from * width];
        result.cost.ghs_messages += std::lround(row[1]);
        socket_buffer = std::min(socket_buffer, row[2]);
        result.letters_left = result.letters_left || row[3] != 0;
        topology.network.set_host(static_cast<int>(from), assumed_costs);
        for (std::size_t to = 0; to < count; ++to) {
            const double* const cell = row + row_head + 2 * to;
            Link link;
            link.latency_us = cell[0];
            topology.network.set_link(static_cast<int>(from), static_cast<int>(to), link);
            if (from < to && cell[1] != 0) {
                topology.spanning_tree.emplace_back(static_cast<int>(from), static_cast<int>(to));
            }
        }
    }
    topology.network.transport = transport_of(settings, socket_buffer);
    topology.site_of = discover_sites(topology.network);
}

}  // namespace

Measured measure(MPI_Comm comm, const Hosts& hosts, const Settings& settings) {
    Measured result;
    std::vector<double> rows;
    if (hosts.leading()) {
        rows = measure_as_leader(comm, hosts, settings, result.cost);
    }
    share_on_host(hosts, rows);
    result.letters_left = rows.empty();
    if (!rows.empty()) {
        result.id = std::max<std::uint64_t>(fnv1a(std::as_bytes(std::span(rows))), 1);
        take_rows(rows, hosts.count(), settings, result);
    }
    return result;
}

}  // namespace mutirao::mpi
