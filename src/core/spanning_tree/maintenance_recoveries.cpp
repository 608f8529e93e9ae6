#include "core/spanning_tree/maintenance_recoveries.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/text/invariant.h"

namespace mutirao::maintenance {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// A forest hung from one host of each of its trees, so that paths are found by climbing.
class HungForest {
  public:
    explicit HungForest(std::vector<Weight> links) : links_(std::move(links)) { hang(); }

    const std::vector<Weight>& links() const { return links_; }

    /// Where the worst link of the path between the ends of `closing` stands; none if there is no
    /// path.
    std::size_t worst_of_cycle(const Weight& closing) const {
        std::size_t a = static_cast<std::size_t>(closing.low);
        std::size_t b = static_cast<std::size_t>(closing.high);
        if (std::max(a, b) >= places_.size()) return none;
        std::size_t worst = none;
        while (a != b) {
            std::size_t& lower = places_[a].depth < places_[b].depth ? b : a;
            const Place& place = places_[lower];
            if (place.link == none) return none;
            if (worst == none || links_[worst] < links_[place.link]) worst = place.link;
            lower = place.above;
        }
        return worst;
    }

    void replace(std::size_t link, const Weight& by) {
        links_[link] = by;
        hang();
    }

  private:
    struct Place {
        int depth = -1;           ///< -1: not hung yet
        std::size_t above = none;  ///< the host above
        std::size_t link = none;   ///< and the link to it
    };

    void hang() {
        int hosts = 0;
        for (const Weight& link : links_) hosts = std::max(hosts, link.high + 1);
        std::vector<std::vector<std::size_t>> links_of(static_cast<std::size_t>(hosts));
        for (std::size_t i = 0; i < links_.size(); ++i) {
            links_of[static_cast<std::size_t>(links_[i].low)].push_back(i);
            links_of[static_cast<std::size_t>(links_[i].high)].push_back(i);
        }
        places_.assign(links_of.size(), Place{});
        for (std::size_t top = 0; top < places_.size(); ++top)
            if (places_[top].depth < 0) hang_from(top, links_of);
    }

    void hang_from(std::size_t top, const std::vector<std::vector<std::size_t>>& links_of) {
        places_[top].depth = 0;
        std::vector<std::size_t> hung{top};
        for (std::size_t next = 0; next < hung.size(); ++next) {
            const std::size_t host = hung[next];
            for (const std::size_t i : links_of[host]) {
                if (i == places_[host].link) continue;
                const auto low = static_cast<std::size_t>(links_[i].low);
                const std::size_t other =
                    low == host ? static_cast<std::size_t>(links_[i].high) : low;
                if (places_[other].depth >= 0)
                    broken_invariant("tree links close a cycle at", links_[i].low, links_[i].high);
                places_[other] = {places_[host].depth + 1, host, i};
                hung.push_back(other);
            }
        }
    }

    std::vector<Weight> links_;
    std::vector<Place> places_;  ///< by host
};

}  // namespace

void sort_by_ends(std::vector<Weight>& links) {
    std::ranges::sort(links, {}, [](const Weight& link) { return std::pair(link.low, link.high); });
}

// A link that is in the tree already is the whole path between its ends: no lighter than itself.
std::vector<Weight> with_recoveries(std::vector<Weight> tree,
                                    const std::vector<Weight>& recovered) {
    if (recovered.empty()) return tree;
    HungForest forest(std::move(tree));
    for (const Weight& link : recovered) {
        const std::size_t worst = forest.worst_of_cycle(link);
        if (worst != none && link < forest.links()[worst]) forest.replace(worst, link);
    }
    std::vector<Weight> links = forest.links();
    sort_by_ends(links);
    return links;
}

}  // namespace mutirao::maintenance
