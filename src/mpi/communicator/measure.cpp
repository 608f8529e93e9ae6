#include "mpi/communicator/measure.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include "mpi/drivers/ghs_driver.h"
#include "mpi/drivers/probe.h"
#include "mpi/drivers/tree_gather.h"
#include "mpi/interpose/native.h"
#include "mpi/stopwatch.h"
#include "mpi/tags.h"

namespace mutirao::mpi {
namespace {

HostRow make_row(int host, const std::vector<double>& latency_us, const TreePart& part) {
    HostRow row;
    row.head.host = host;
    row.head.ghs_messages = static_cast<int>(part.messages_sent);
    for (std::size_t peer = 0; peer < latency_us.size(); ++peer) {
        row.links.push_back({latency_us[peer],
                             std::binary_search(part.branches.begin(), part.branches.end(),
                                                static_cast<int>(peer))});
    }
    return row;
}

void add_agent(HostRow::Head& head, const std::optional<agent::Endpoint>& endpoint) {
    const std::optional<agent::Key> key = agent::random_key();
    if (endpoint && key) {
        head.has_agent = 1;
        head.contact = endpoint->contact();
        head.key = *key;
    }
}

// What the leaders find out: all rows as bytes, or nothing if the tree does not reach every host.
std::vector<std::byte> measure_as_leader(MPI_Comm comm, const Hosts& hosts,
                                         const Settings& settings, Measured& result) {
    Mailbox mailbox(comm, hosts, setup_tag);
    Stopwatch watch;
    const std::vector<double> latency_us =
        probe_links(mailbox, hosts, {settings.probe_count, settings.probe_timeout_ms});
    result.cost.probe_ms = watch.lap_ms();
    const TreePart part = build_spanning_tree(mailbox, hosts, latency_us);
    result.cost.ghs_ms = watch.lap_ms();
    if (part.hosts_in_tree < hosts.count()) {
        return {};
    }
    HostRow row = make_row(hosts.my_host(), latency_us, part);
    row.head.letters_left = mailbox.letters_left() ? 1 : 0;
    add_agent(row.head, result.endpoint);
    std::vector<std::byte> all = gather_over_tree(mailbox, part.branches, to_bytes(row));
    result.cost.gather_ms = watch.lap_ms();
    return all;
}

void share_on_host(const Hosts& hosts, std::vector<std::byte>& rows) {
    if (hosts.host_comm == MPI_COMM_NULL) {
        return;
    }
    int length = static_cast<int>(rows.size());
    const Handle host_comm = as_word(hosts.host_comm);
    native().bcast(&length, 1, as_word(MPI_INT), 0, host_comm);
    rows.resize(static_cast<std::size_t>(length));
    native().bcast(rows.data(), length, as_word(MPI_BYTE), 0, host_comm);
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

void take_rows(Measured& result) {
    const int hosts = static_cast<int>(result.rows.size());
    Topology& topology = result.topology;
    topology.network = Network(hosts);
    for (int from = 0; from < hosts; ++from) {
        const HostRow& row = result.rows[static_cast<std::size_t>(from)];
        result.cost.ghs_messages += row.head.ghs_messages;
        result.letters_left = result.letters_left || row.head.letters_left != 0;
        for (int to = 0; to < hosts; ++to) {
            const HostRow::Link& told = row.links[static_cast<std::size_t>(to)];
            Link link;
            link.latency_us = told.latency_us;
            topology.network.set_link(from, to, link);
            if (from < to && told.in_tree) {
                topology.spanning_tree.emplace_back(from, to);
            }
        }
    }
}

}  // namespace

void complete_network(Topology& topology, const Settings& settings, double socket_buffer_bytes) {
    for (int host = 0; host < topology.network.host_count(); ++host) {
        topology.network.set_host(host, assumed_costs);
    }
    topology.network.transport = transport_of(settings, socket_buffer_bytes);
    topology.site_of = discover_sites(topology.network);
}

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

Measured measure(MPI_Comm comm, const Hosts& hosts, const Settings& settings, bool with_endpoint) {
    Measured result;
    std::vector<std::byte> bytes;
    if (hosts.leading()) {
        if (with_endpoint) {
            result.endpoint = agent::Endpoint::open();
        }
        bytes = measure_as_leader(comm, hosts, settings, result);
    }
    share_on_host(hosts, bytes);
    auto rows = rows_of(bytes, hosts.count());
    result.letters_left = !rows;
    if (rows) {
        result.rows = std::move(*rows);
        // In the order of hosts, which on the wire differs from host to host.
        std::vector<std::byte> ordered;
        for (const HostRow& row : result.rows) {
            const std::vector<std::byte> one = to_bytes(row);
            ordered.insert(ordered.end(), one.begin(), one.end());
        }
        result.id = std::max<std::uint64_t>(fnv1a(ordered), 1);
        take_rows(result);
    }
    return result;
}

}  // namespace mutirao::mpi
