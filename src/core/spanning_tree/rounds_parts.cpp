#include "core/spanning_tree/rounds_parts.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mutirao::rounds {

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
    clear();
    return whole;
}

}  // namespace mutirao::rounds
