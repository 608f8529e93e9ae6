// An epoch as bytes: number (4), first call (8), next epoch's first call (8), the parents of hosts
// after their number (4 each, all ones for the decider's), the change. A change: changed links after
// their number (low 4, high 4, latency as IEEE 754 bits 8), tree links after their number (low 4,
// high 4; all ones for the number: no new tree).
#include "core/epochs/epochs.h"
#include "core/text/bytes.h"

namespace mutirao {
namespace {

constexpr std::uint32_t absent = 0xffff'ffff;

void put_count(ByteWriter& out, std::size_t count) { out.put(count, 4); }

bool is_pair(int low, int high, int host_count) { return low >= 0 && low < high && high < host_count; }

// Lists are no longer than what is left of the message, whatever they claim.
bool fits(std::uint64_t count, std::size_t item_bytes, const ByteReader& in) {
    return count * item_bytes <= in.left();
}

bool take_parents(ByteReader& in, int host_count, Epoch& epoch) {
    const std::uint64_t count = in.take(4);
    if (count != static_cast<std::uint64_t>(host_count) || !fits(count, 4, in)) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
        const int parent = in.take_int();
        if (parent < -1 || parent >= host_count) return false;
        epoch.parent_of_host.push_back(parent);
    }
    return true;
}

bool take_links(ByteReader& in, int host_count, NetworkChange& change) {
    const std::uint64_t count = in.take(4);
    if (count > most_changed_links || !fits(count, 16, in)) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
        NetworkChange::Link link;
        link.low = in.take_int();
        link.high = in.take_int();
        link.latency_us = in.take_double();
        if (!is_pair(link.low, link.high, host_count) || !(link.latency_us >= 0)) return false;
        change.links.push_back(link);
    }
    return true;
}

bool take_tree(ByteReader& in, int host_count, NetworkChange& change) {
    const std::uint64_t count = in.take(4);
    if (count == absent) return true;
    if (count >= static_cast<std::uint64_t>(host_count) || !fits(count, 8, in)) return false;
    EdgeList edges;
    for (std::uint64_t i = 0; i < count; ++i) {
        const int low = in.take_int();
        const int high = in.take_int();
        if (!is_pair(low, high, host_count)) return false;
        edges.emplace_back(low, high);
    }
    change.spanning_tree = std::move(edges);
    return true;
}

void put_change(ByteWriter& out, const NetworkChange& change) {
    put_count(out, change.links.size());
    for (const NetworkChange::Link& link : change.links) {
        out.put_int(link.low);
        out.put_int(link.high);
        out.put_double(link.latency_us);
    }
    put_count(out, change.spanning_tree ? change.spanning_tree->size() : absent);
    for (const auto& [low, high] : change.spanning_tree.value_or(EdgeList{})) {
        out.put_int(low);
        out.put_int(high);
    }
}

bool take_change(ByteReader& in, int host_count, NetworkChange& change) {
    return take_links(in, host_count, change) && take_tree(in, host_count, change);
}

}  // namespace

std::vector<std::byte> encode(const NetworkChange& change) {
    ByteWriter out;
    put_change(out, change);
    return std::move(out).take();
}

std::optional<NetworkChange> decode_change(std::span<const std::byte> bytes, int host_count) {
    ByteReader in(bytes);
    NetworkChange change;
    if (!take_change(in, host_count, change) || !in.ended_well()) return std::nullopt;
    return change;
}

std::vector<std::byte> encode(const Epoch& epoch) {
    ByteWriter out;
    out.put(epoch.number, 4);
    out.put(epoch.first_call, 8);
    out.put(epoch.next_first_call, 8);
    put_count(out, epoch.parent_of_host.size());
    for (const int parent : epoch.parent_of_host) out.put_int(parent);
    put_change(out, epoch.change);
    return std::move(out).take();
}

std::optional<Epoch> decode_epoch(std::span<const std::byte> bytes, int host_count) {
    ByteReader in(bytes);
    Epoch epoch;
    epoch.number = static_cast<std::uint32_t>(in.take(4));
    epoch.first_call = in.take(8);
    epoch.next_first_call = in.take(8);
    const bool well =
        take_parents(in, host_count, epoch) && take_change(in, host_count, epoch.change);
    if (!well || !in.ended_well() || epoch.next_first_call <= epoch.first_call) return std::nullopt;
    return epoch;
}

}  // namespace mutirao
