#include "mpi/communicator/record.h"

namespace mutirao::mpi {
namespace {

constexpr std::size_t most_taken_up = 256;

}  // namespace

void take_up(Record& record, std::uint64_t call, const NetworkChange& change) {
    TakenUp taken;
    taken.call = call;
    taken.links = change.links.size();
    taken.new_tree = change.spanning_tree.has_value();
    for (const NetworkChange::Link& link : change.links) {
        if (taken.shown.size() == TakenUp::most_shown) {
            break;
        }
        taken.shown.push_back({link.low, link.high,
                               record.topology.network.link(link.low, link.high).latency_us,
                               link.latency_us});
    }
    apply(change, record.topology);
    std::deque<TakenUp>& all = record.adaptation.taken_up;
    all.push_back(std::move(taken));
    if (all.size() > most_taken_up) {
        all.pop_front();
    }
}

}  // namespace mutirao::mpi
