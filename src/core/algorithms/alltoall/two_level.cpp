// Each rank of a host gets from its neighbours what they have for the hosts that it speaks for, exchanges it with
// the rank that speaks for its own host there, and hands round what came. In the paper one or several leaders of a
// host gather for all hosts; to share out the hosts keeps all ranks and as many messages busy. Inside a host
// blocks go straight to their ranks.
//
// Cost, H hosts of m ranks, blocks of n bytes: depth 3; a host sends H - 1 messages of m^2 n bytes over the
// network, which linear sends in m^2 messages each. Inside, a rank sends about 2 (H - 1) + m messages. Blocks for
// other hosts are copied where ranks of a host are not numbered one after another, and once more to be sorted for
// the receivers. Scratch for 2 p / m times m^2 blocks, over a host's m ranks. With one rank a host it is linear.
// Blocks must be equal.
#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/over_placement.h"

namespace mutirao {
namespace {

class TwoLevel {
  public:
    explicit TwoLevel(const Request& request)
        : request_(request),
          placement_(given_placement(request)),
          packing_(flow_, request.length_bytes),
          host_(placement_.host_of(request.rank)),
          neighbours_(placement_.ranks_of(host_)) {}

    // Everything is on its way out before anything is awaited: messages between two ranks keep
    // their order, and one that waits for another host would hold up those behind it.
    Schedule run() && {
        exchange_inside();
        const int hosts = placement_.host_count();
        for (int distance = 1; distance < hosts; ++distance) {
            send_to((host_ + distance) % hosts);
        }
        for (int distance = 1; distance < hosts; ++distance) {
            receive_from((host_ + hosts - distance) % hosts);
        }
        return std::move(flow_).take();
    }

  private:
    /// The rank of `host` that deals with what goes to and comes from another one.
    int speaker(int host, int other) const {
        const int hosts = placement_.host_count();
        const int distance = (other - host - 1 + hosts) % hosts;
        return placement_.beside(placement_.ranks_of(host).front(), distance);
    }
    bool alone() const { return neighbours_.size() == 1; }
    std::vector<Region> blocks_of(Buffer buffer, int host) const {
        std::vector<Region> blocks;
        for (const int rank : placement_.ranks_of(host)) {
            blocks.push_back(nth_block(buffer, rank, request_.length_bytes));
        }
        return blocks;
    }

    void exchange_inside() {
        const auto block_of = [&](Buffer buffer, int rank) { return nth_block(buffer, rank, request_.length_bytes); };
        const int size = static_cast<int>(neighbours_.size());
        flow_.copy(block_of(Buffer::input, request_.rank), block_of(Buffer::output, request_.rank));
        for (int distance = 1; distance < size; ++distance) {
            const int to = placement_.beside(request_.rank, distance);
            const int from = placement_.beside(request_.rank, size - distance);
            flow_.send(to, block_of(Buffer::input, to));
            flow_.receive(from, block_of(Buffer::output, from));
        }
    }

    void send_to(int host) {
        const std::vector<Region> own = blocks_of(Buffer::input, host);
        const int mine = speaker(host_, host);
        if (mine != request_.rank || alone()) {
            flow_.send(alone() ? speaker(host, host_) : mine, packing_.packed(own));
            return;
        }
        const Region all = packing_.room(neighbours_.size() * own.size());
        for (std::size_t i = 0; i < neighbours_.size(); ++i) {
            const Region row{all.buffer,
                             all.offset_bytes + i * own.size() * request_.length_bytes,
                             own.size() * request_.length_bytes};
            if (neighbours_[i] == request_.rank) {
                packing_.pack(own, row);
            } else {
                flow_.receive(neighbours_[i], row);
            }
        }
        flow_.send(speaker(host, host_), all);
    }

    void receive_from(int host) {
        const std::vector<Region> own = blocks_of(Buffer::output, host);
        const int mine = speaker(host_, host);
        if (mine != request_.rank || alone()) {
            packing_.receive(alone() ? speaker(host, host_) : mine, own);
            return;
        }
        const Region all = packing_.room(neighbours_.size() * own.size());
        flow_.receive(speaker(host, host_), all);
        for (std::size_t i = 0; i < neighbours_.size(); ++i) {
            std::vector<Region> column;
            for (std::size_t source = 0; source < own.size(); ++source) {
                column.push_back(packing_.block(all, source * neighbours_.size() + i));
            }
            if (neighbours_[i] != request_.rank) {
                flow_.send(neighbours_[i], packing_.packed(column));
                continue;
            }
            for (std::size_t source = 0; source < own.size(); ++source) {
                flow_.copy(column[source], own[source]);
            }
        }
    }

    const Request& request_;
    const Placement& placement_;
    Dataflow flow_;
    Packing packing_;
    int host_;
    std::span<const int> neighbours_;  ///< the ranks of the own host
};

Schedule alltoall_two_level(const Request& request) {
    if (request.length_bytes == 0) return {};
    return TwoLevel(request).run();
}

}  // namespace

std::vector<Algorithm> alltoall_two_level_rows() {
    using enum Collective;
    return {
        {.collective = alltoall, .name = "two_level",
         .summary = "one message between two hosts, by ranks that each speak for some of the others",
         .source = "Kinkead et al. 2025, arXiv:2601.17606",
         .build = alltoall_two_level},
    };
}

}  // namespace mutirao
