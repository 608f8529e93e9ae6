#include "mpi/communicator/host_row.h"

#include <cstring>
#include <type_traits>

namespace mutirao::mpi {
namespace {

static_assert(std::is_trivially_copyable_v<HostRow::Head>);
static_assert(sizeof(HostRow::Head) == 2 * sizeof(int) + 2 * sizeof(std::uint32_t) +
                                           sizeof(agent::Contact) + sizeof(agent::Key));

struct PackedLink {
    double latency_us;
    double in_tree;
};

std::size_t row_bytes(int hosts) {
    return sizeof(HostRow::Head) + static_cast<std::size_t>(hosts) * sizeof(PackedLink);
}

}  // namespace

std::vector<std::byte> to_bytes(const HostRow& row) {
    std::vector<std::byte> bytes(row_bytes(static_cast<int>(row.links.size())));
    std::memcpy(bytes.data(), &row.head, sizeof row.head);
    std::byte* at = bytes.data() + sizeof row.head;
    for (const HostRow::Link& link : row.links) {
        const PackedLink packed{link.latency_us, link.in_tree ? 1.0 : 0.0};
        std::memcpy(at, &packed, sizeof packed);
        at += sizeof packed;
    }
    return bytes;
}

std::optional<std::vector<HostRow>> rows_of(std::span<const std::byte> bytes, int hosts) {
    const auto count = static_cast<std::size_t>(hosts);
    if (bytes.size() != count * row_bytes(hosts)) {
        return std::nullopt;
    }
    std::vector<HostRow> rows(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::byte* at = bytes.data() + i * row_bytes(hosts);
        HostRow row;
        std::memcpy(&row.head, at, sizeof row.head);
        at += sizeof row.head;
        for (std::size_t to = 0; to < count; ++to) {
            PackedLink packed{};
            std::memcpy(&packed, at, sizeof packed);
            at += sizeof packed;
            row.links.push_back({packed.latency_us, packed.in_tree != 0});
        }
        if (row.head.host < 0 || row.head.host >= hosts ||
            !rows[static_cast<std::size_t>(row.head.host)].links.empty()) {
            return std::nullopt;
        }
        rows[static_cast<std::size_t>(row.head.host)] = std::move(row);
    }
    return rows;
}

}  // namespace mutirao::mpi
