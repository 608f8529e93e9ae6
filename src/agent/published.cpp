#include "agent/published.h"

#include "core/text/bytes.h"

namespace mutirao::agent {
namespace {

constexpr std::size_t fixed_bytes = 64;
constexpr std::size_t edge_bytes = 8;
constexpr std::size_t speed_bytes = 24;

void put_tree(ByteWriter& writer, const EdgeList& tree) {
    writer.put(tree.size(), 4);
    for (const auto& [low, high] : tree) {
        writer.put(static_cast<std::uint64_t>(low), 4);
        writer.put(static_cast<std::uint64_t>(high), 4);
    }
}

std::optional<EdgeList> take_tree(ByteReader& reader, int host_count) {
    const auto edges = static_cast<std::size_t>(reader.take(4));
    if (edges > static_cast<std::size_t>(host_count)) return std::nullopt;
    EdgeList tree;
    for (std::size_t i = 0; i < edges; ++i) {
        const auto low = reader.take(4);
        const auto high = reader.take(4);
        if (low >= high || high >= static_cast<std::uint64_t>(host_count)) return std::nullopt;
        tree.emplace_back(static_cast<int>(low), static_cast<int>(high));
    }
    return tree;
}

void put_matrix(ByteWriter& writer, const std::vector<double>& matrix) {
    for (const double value : matrix) writer.put_double(value);
}

std::vector<double> take_matrix(ByteReader& reader, int host_count) {
    const auto hosts = static_cast<std::size_t>(host_count);
    std::vector<double> matrix(hosts * hosts);
    for (double& value : matrix) value = reader.take_double();
    return matrix;
}

}  // namespace

std::vector<std::byte> encode(const NetworkView& view, const Version& version) {
    ByteWriter writer;
    writer.put(view.changes, 8);
    writer.put(static_cast<std::uint64_t>(view.unknown_links), 4);
    writer.put(view.version, 4);
    writer.put(view.version_hash, 8);
    writer.put(version.number, 4);
    writer.put(version.hash, 8);
    put_tree(writer, view.tree);
    put_tree(writer, version.tree);
    put_matrix(writer, view.latency_us);
    put_matrix(writer, view.last_known_us);
    put_matrix(writer, version.latency_us);
    put_matrix(writer, view.bandwidth_bytes_per_us);
    for (const HostSpeed& each : view.host_speeds) {
        writer.put_double(each.copy_bytes_per_us);
        writer.put_double(each.reduce_bytes_per_us);
        writer.put_double(each.message_us);
    }
    return std::move(writer).take();
}

std::optional<Published> decode_published(std::span<const std::byte> bytes, int host_count) {
    ByteReader reader(bytes);
    Published published;
    published.view.host_count = host_count;
    published.version.host_count = host_count;
    published.view.changes = reader.take(8);
    published.view.unknown_links = static_cast<int>(reader.take(4));
    published.view.version = static_cast<std::uint32_t>(reader.take(4));
    published.view.version_hash = reader.take(8);
    published.version.number = static_cast<std::uint32_t>(reader.take(4));
    published.version.hash = reader.take(8);
    auto newest = take_tree(reader, host_count);
    auto complete = take_tree(reader, host_count);
    if (!newest || !complete) return std::nullopt;
    published.view.tree = std::move(*newest);
    published.version.tree = std::move(*complete);
    published.view.latency_us = take_matrix(reader, host_count);
    published.view.last_known_us = take_matrix(reader, host_count);
    published.version.latency_us = take_matrix(reader, host_count);
    published.view.bandwidth_bytes_per_us = take_matrix(reader, host_count);
    published.view.host_speeds.resize(static_cast<std::size_t>(host_count));
    for (HostSpeed& each : published.view.host_speeds) {
        each.copy_bytes_per_us = reader.take_double();
        each.reduce_bytes_per_us = reader.take_double();
        each.message_us = reader.take_double();
    }
    return reader.ended_well() ? std::optional(std::move(published)) : std::nullopt;
}

std::size_t most_published_bytes(int host_count) {
    const auto hosts = static_cast<std::size_t>(host_count);
    return fixed_bytes + hosts * (2 * edge_bytes + speed_bytes) + 4 * hosts * hosts * sizeof(double);
}

}  // namespace mutirao::agent
