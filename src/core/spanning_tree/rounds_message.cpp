#include "core/spanning_tree/rounds_message.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/text/invariant.h"

namespace mutirao::rounds {

LinkTable::LinkTable(int host_count) : host_count_(host_count) {
    if (host_count < 0 || host_count > most_hosts)
        broken_invariant("hosts of at most", host_count, most_hosts);
    const auto hosts = static_cast<std::size_t>(host_count);
    states_.resize(hosts * (hosts - std::min<std::size_t>(hosts, 1)) / 2);
}

std::size_t LinkTable::index(int a, int b) const {
    const auto [low, high] = std::minmax(a, b);
    if (low < 0 || low == high) broken_invariant("link between hosts", a, b);
    if (high >= host_count_) broken_invariant("host of how many", high, host_count_);
    const auto row = static_cast<std::size_t>(low);
    const auto hosts = static_cast<std::size_t>(host_count_);
    return row * (2 * hosts - row - 1) / 2 + static_cast<std::size_t>(high - low - 1);
}

HostSet LinkTable::component(int host) const {
    HostSet found{host};
    std::vector<int> reached{host};
    for (std::size_t next = 0; next < reached.size(); ++next) {
        for (int other = 0; other < host_count_; ++other) {
            if (found.contains(other) || !at(reached[next], other).usable()) continue;
            found.insert(other);
            reached.push_back(other);
        }
    }
    return found;
}

void LinkTable::keep_only(const HostSet& hosts) {
    for_each([&](int low, int high, const LinkState&) {
        if (!hosts.contains(low) || !hosts.contains(high)) set(low, high, {});
    });
}

std::vector<double> LinkTable::latencies_us() const {
    const auto hosts = static_cast<std::size_t>(host_count_);
    std::vector<double> matrix(hosts * hosts, 0.0);
    for_each([&](int low, int high, const LinkState& state) {
        const auto a = static_cast<std::size_t>(low);
        const auto b = static_cast<std::size_t>(high);
        matrix[a * hosts + b] = matrix[b * hosts + a] = state.latency_us;
    });
    return matrix;
}

std::vector<Message> split(const Message& whole) {
    const std::size_t count = whole.links.size();
    const std::size_t parts =
        std::max<std::size_t>(1, (count + links_per_message - 1) / links_per_message);
    Message head = whole;
    head.links.clear();
    std::vector<Message> pieces(parts, head);
    for (std::size_t part = 0; part < parts; ++part) {
        Message& piece = pieces[part];
        const auto first = std::next(whole.links.begin(),
                                     static_cast<std::ptrdiff_t>(part * links_per_message));
        const auto length = std::min(links_per_message, count - part * links_per_message);
        piece.links.assign(first, std::next(first, static_cast<std::ptrdiff_t>(length)));
        if (part > 0) piece.tree.clear();
        if (whole.kind == Kind::news) continue;
        piece.part = static_cast<int>(part);
        piece.parts = static_cast<int>(parts);
    }
    return pieces;
}

std::optional<Message> Parts::add(const Message& part) {
    const auto parts = static_cast<std::size_t>(part.parts);
    if (!pieces_.empty() && part.id < id_) return std::nullopt;
    if (part.id != id_ || pieces_.size() != parts) pieces_.assign(parts, std::nullopt);
    id_ = part.id;
    pieces_[static_cast<std::size_t>(part.part)] = part;
    const auto is_here = [](const std::optional<Message>& piece) { return piece.has_value(); };
    if (!std::ranges::all_of(pieces_, is_here)) return std::nullopt;
    Message whole = std::move(*pieces_.front());
    for (std::size_t i = 1; i < parts; ++i) {
        const std::vector<LinkNews>& more = pieces_[i]->links;
        whole.links.insert(whole.links.end(), more.begin(), more.end());
    }
    whole.part = 0;
    whole.parts = 1;
    pieces_.clear();
    return whole;
}

}  // namespace mutirao::rounds
