#include "agent/published.h"

#include "core/text/bytes.h"

namespace mutirao::agent {
namespace {

constexpr std::size_t fixed_bytes = 64;
constexpr std::size_t edge_bytes = 8;
constexpr std::size_t speed_bytes = 24;

template <class Codec>
void tree_fields(Codec& codec, Coded<Codec, EdgeList>& tree, int host_count) {
    codec.list(tree, 4, static_cast<std::size_t>(host_count), [&](auto& edge) {
        codec.number(edge.first, 4);
        codec.number(edge.second, 4);
        codec.require(0 <= edge.first && edge.first < edge.second && edge.second < host_count);
    });
}

template <class Codec>
void matrix_fields(Codec& codec, Coded<Codec, std::vector<double>>& matrix, int host_count) {
    const auto hosts = static_cast<std::size_t>(host_count);
    codec.items(matrix, hosts * hosts, [&](auto& value) { codec.real(value); });
}

}  // namespace

template <class Codec>
void fields(Codec& codec, Coded<Codec, NetworkView>& view, Coded<Codec, Version>& version, int hosts) {
    codec.number(view.changes, 8);
    codec.number(view.unknown_links, 4);
    codec.number(view.version, 4);
    codec.number(view.version_hash, 8);
    codec.number(version.number, 4);
    codec.number(version.hash, 8);
    tree_fields(codec, view.tree, hosts);
    tree_fields(codec, version.tree, hosts);
    matrix_fields(codec, view.latency_us, hosts);
    matrix_fields(codec, view.last_known_us, hosts);
    matrix_fields(codec, version.latency_us, hosts);
    matrix_fields(codec, view.bandwidth_bytes_per_us, hosts);
    codec.items(view.host_speeds, static_cast<std::size_t>(hosts), [&](auto& each) {
        codec.real(each.copy_bytes_per_us);
        codec.real(each.reduce_bytes_per_us);
        codec.real(each.message_us);
    });
}

std::vector<std::byte> encode(const NetworkView& view, const Version& version) {
    ByteWriter writer;
    fields(writer, view, version, view.host_count);
    return std::move(writer).take();
}

std::optional<Published> decode_published(std::span<const std::byte> bytes, int host_count) {
    ByteReader reader(bytes);
    Published published;
    published.view.host_count = published.version.host_count = host_count;
    fields(reader, published.view, published.version, host_count);
    return reader.ended_well() ? std::optional(std::move(published)) : std::nullopt;
}

std::size_t most_published_bytes(int host_count) {
    const auto hosts = static_cast<std::size_t>(host_count);
    return fixed_bytes + hosts * (2 * edge_bytes + speed_bytes) + 4 * hosts * hosts * sizeof(double);
}

}  // namespace mutirao::agent
