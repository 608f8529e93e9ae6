#include "core/algorithms/locality_tree.h"

#include <algorithm>

#include "core/algorithms/over_placement.h"

namespace mutirao {

namespace {

class LocalityTree {
  public:
    explicit LocalityTree(const Request& request)
        : placement_(given_placement(request)), root_(request.root), radix_(request.parameters.radix),
          working_(placement_.rank_count()) {
        for (int host = 0; host < hosts(); ++host) working_ = std::min(working_, ranks_on(host));
    }

    TreePlace place(int rank) const {
        const int host = placement_.host_of(rank);
        const int position = position_of(rank);
        TreePlace place = k_nomial_place(position, ranks_on(host), 2);
        if (place.parent >= 0) place.parent = rank_at(host, place.parent);
        for (int& child : place.children) child = rank_at(host, child);

        const long long own = counted(host);
        const long long served = static_cast<long long>(working_) * radix_;
        for (long long having = 1; having < hosts(); having *= served + 1) {
            if (own >= having && own < having * (served + 1) && position == 0) {
                const long long turn = own / having - 1;
                place.parent = rank_at(real(own % having), static_cast<int>(turn / radix_));
            }
            if (own >= having || position >= working_) continue;
            for (int i = 1; i <= radix_; ++i) {
                const long long other = own + having * (position * radix_ + i);
                if (other < hosts()) place.children.push_back(rank_at(real(other), 0));
            }
        }
        return place;
    }

  private:
    int hosts() const { return placement_.host_count(); }
    int ranks_on(int host) const { return static_cast<int>(placement_.ranks_of(host).size()); }
    /// From the root's host on.
    int counted(int host) const {
        return (host - placement_.host_of(root_) + hosts()) % hosts();
    }
    int real(long long host) const {
        return static_cast<int>((host + placement_.host_of(root_)) % hosts());
    }
    /// From the rank on that is reached from outside.
    int position_of(int rank) const {
        const int host = placement_.host_of(rank);
        const int first = placement_.position_of(placement_.leader(host, root_));
        return virtual_rank(placement_.position_of(rank), first, ranks_on(host));
    }
    int rank_at(int host, int position) const {
        const int first = placement_.position_of(placement_.leader(host, root_));
        const auto real_position = real_rank(position, first, ranks_on(host));
        return placement_.ranks_of(host)[static_cast<std::size_t>(real_position)];
    }

    const Placement& placement_;
    int root_;
    int radix_;
    int working_;  ///< ranks of each host that serve others
};

}  // namespace

TreePlace locality_place(const Request& request) { return LocalityTree(request).place(request.rank); }

}  // namespace mutirao
