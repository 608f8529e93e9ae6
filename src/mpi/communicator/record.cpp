#include "mpi/communicator/record.h"

namespace mutirao::mpi {

void take_up(Record& record, std::uint64_t call, const Topology& newest) {
    constexpr std::size_t most_taken_up = 256;
    TakenUp taken;
    taken.call = call;
    taken.new_tree = newest.spanning_tree != record.topology.spanning_tree;
    const Network& before = record.topology.network;
    const int hosts = newest.network.host_count();
    for (int low = 0; low < hosts; ++low) {
        for (int high = low + 1; high < hosts && before.host_count() == hosts; ++high) {
            const double before_us = before.link(low, high).latency_us;
            const double after_us = newest.network.link(low, high).latency_us;
            if (before_us == after_us) {
                continue;
            }
            ++taken.links;
            if (taken.shown.size() < TakenUp::most_shown) {
                taken.shown.push_back({low, high, before_us, after_us});
            }
        }
    }
    const bool first = record.topology.spanning_tree.empty();
    record.topology = newest;
    if (first || (taken.links == 0 && !taken.new_tree)) {
        return;
    }
    std::deque<TakenUp>& all = record.adaptation.taken_up;
    all.push_back(std::move(taken));
    if (all.size() > most_taken_up) {
        all.pop_front();
    }
}

}  // namespace mutirao::mpi
