#include "core/selection/ownership.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "core/algorithms/algorithm.h"
#include "core/network/tree.h"
#include "core/schedule/connections.h"

namespace mutirao {
namespace {

class Ownership {
  public:
    Ownership(const Network& network, const Placement& placement, const std::vector<int>& group_of, std::size_t length_bytes)
        : transport_(network.transport), length_bytes_(static_cast<double>(length_bytes)),
          sizes_(static_cast<std::size_t>(*std::ranges::max_element(group_of) + 1)), ways_us_(sizes_.size() * sizes_.size()),
          owned_(sizes_.size()), streams_(ways_us_.size()) {
        transport_.bbr = false;
        transport_.initial_window_bytes = Transport::ten_packets_bytes;
        for (std::size_t from = 0; from < group_of.size(); ++from) {
            const auto group = static_cast<std::size_t>(group_of[from]);
            sizes_[group] += static_cast<int>(placement.ranks_of(static_cast<int>(from)).size());
            for (std::size_t to = 0; to < group_of.size(); ++to) {
                double& way_us = ways_us_[at(group, static_cast<std::size_t>(group_of[to]))];
                way_us = std::max(way_us, network.link(static_cast<int>(from), static_cast<int>(to)).latency_us);
            }
        }
    }

    std::vector<int> found() {
        for (int part = 0; part < owned_parts; ++part) give_best_one();
        for (int parts = owned_parts / 8; parts > 0;) {
            if (!shift_best(parts)) parts /= 2;
        }
        return owned_;
    }

  private:
    std::size_t groups() const { return sizes_.size(); }
    std::size_t at(std::size_t from, std::size_t to) const { return from * groups() + to; }
    double way_us(std::size_t from, std::size_t to) const { return ways_us_[at(from, to)]; }

    /// Of alike groups the one that has least a rank.
    void give_best_one() {
        std::size_t best = 0;
        std::pair least{std::numeric_limits<double>::infinity(), 0.0};
        for (std::size_t group = 0; group < groups(); ++group) {
            ++owned_[group];
            const std::pair with_it{last_us(), owned_[group] / static_cast<double>(sizes_[group])};
            --owned_[group];
            if (with_it < least) std::tie(least, best) = std::pair{with_it, group};
        }
        ++owned_[best];
    }
    /// From one group to another, as far as it has so many; false: nothing is won by that.
    bool shift_best(int parts) {
        double least_us = last_us();
        std::optional<std::vector<int>> best;
        for (std::size_t from = 0; from < groups(); ++from) {
            const int moved = std::min(parts, owned_[from]);
            for (std::size_t to = 0; to < groups(); ++to) {
                if (moved == 0 || to == from) continue;
                owned_[from] -= moved;
                owned_[to] += moved;
                if (const double us = last_us(); us < least_us) {
                    least_us = us;
                    best = owned_;
                }
                owned_[from] += moved;
                owned_[to] -= moved;
            }
        }
        if (best) owned_ = *best;
        return best.has_value();
    }

    /// When the last group has heard of all, and the last owner may go on.
    double last_us() {
        std::ranges::fill(streams_, TcpStream());
        std::vector<double> there_us(streams_.size()), combined_us(groups());
        for_each_way([&](std::size_t owner, std::size_t other) {
            there_us[at(other, owner)] = carried_us(other, owner, shared_bytes(owner, other), begins_us(other));
            combined_us[owner] = std::max(combined_us[owner], there_us[at(other, owner)]);
        });
        if (transport_.connects_one_by_one()) {
            for_each_way([&](std::size_t owner, std::size_t other) {
                carried_us(owner, other, 1, there_us[at(other, owner)]);  // the acknowledgement, a packet whatever its length
            });
        }
        double last_us = 0;
        for_each_way([&](std::size_t owner, std::size_t other) {
            const std::size_t bytes = shared_bytes(owner, other);
            const double told_us = carried_us(owner, other, bytes, combined_us[owner]);
            const double answered_us = awaits_answer(bytes) ? way_us(other, owner) : 0;
            last_us = std::max(last_us, told_us + std::max(way_us(other, other), answered_us));
        });
        return last_us;
    }
    /// The sender stays until the receiver has it, unless it leaves behind what it sent.
    bool awaits_answer(std::size_t bytes) const {
        return transport_.connects_one_by_one() && bytes > transport_.detached_bytes;
    }
    /// From each group that owns something to each other one.
    void for_each_way(const auto& call) const {
        for (std::size_t owner = 0; owner < groups(); ++owner) {
            for (std::size_t other = 0; other < groups(); ++other) {
                if (owned_[owner] > 0 && other != owner) call(owner, other);
            }
        }
    }
    /// When the ranks of a group have combined among themselves what they send to others, each as much.
    double begins_us(std::size_t group) const {
        const auto bytes = static_cast<std::size_t>(length_bytes_ / sizes_[group]);
        return transport_.held_back_us(bytes, 2 * way_us(group, group)) + way_us(group, group);
    }
    /// Of what a group owns, what each pair of ranks carries, as far as there are pairs. Long messages go in pieces, each
    /// with packets of its own.
    std::size_t shared_bytes(std::size_t owner, std::size_t other) const {
        const auto bytes = static_cast<std::size_t>(length_bytes_ * owned_[owner] / owned_parts / sizes_[owner] /
                                                    std::min(sizes_[other], most_useful_spread));
        const std::size_t of_a_piece = Transport::packets(Transport::unasked_bytes + transport_.header_bytes);
        return bytes / Transport::unasked_bytes * of_a_piece * Transport::packet_bytes + bytes % Transport::unasked_bytes;
    }
    /// When they are there, if they can leave at `ready_us`.
    double carried_us(std::size_t from, std::size_t to, std::size_t bytes, double ready_us) {
        TcpStream& stream = streams_[at(from, to)];
        const double trip_us = way_us(from, to) + way_us(to, from);
        const double left_us = std::max(ready_us, stream.opens_us(bytes, ready_us, trip_us, transport_));
        stream.left(left_us);
        return left_us + way_us(from, to);
    }

    Transport transport_;
    const double length_bytes_;
    std::vector<int> sizes_;       ///< in ranks
    std::vector<double> ways_us_;  ///< the farthest from one group to another, or inside one
    std::vector<int> owned_;
    std::vector<TcpStream> streams_;  ///< from a rank of one group to one of another
};

}  // namespace

std::vector<int> owned_by_distance(const Network& network, const Placement& placement, const std::vector<int>& group_of,
                                   std::size_t length_bytes) {
    const std::size_t groups = group_of.empty() ? 0 : static_cast<std::size_t>(*std::ranges::max_element(group_of)) + 1;
    if (groups < 2 || groups > most_owning_groups) return {};
    return Ownership(network, placement, group_of, length_bytes).found();
}

}  // namespace mutirao
