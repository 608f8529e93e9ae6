#include "mpi/adaptation/network_follower.h"

#include <time.h>

#include <algorithm>

#include "mpi/stopwatch.h"

namespace mutirao::mpi {
namespace {

// So many looks for words in an epoch: calls are the faster the longer, in calls, an epoch is, and
// a look costs about as much as a call inside one host.
constexpr std::uint64_t looks_per_epoch = 32;

// The decider sends its words to so many hosts itself, unless a detour is so many times shorter.
constexpr int most_told_straight = 128;
constexpr double detour_worth = 1.5;

void rest(int& idle_polls) {
    constexpr int spins = 200;
    if (++idle_polls >= spins) {
        const timespec pause{0, 20'000};
        nanosleep(&pause, nullptr);
    }
}

// When what leaves the root now is at each host.
std::vector<double> arrival_us(const Tree& tree, const Network& network) {
    std::vector<double> at_us(static_cast<std::size_t>(tree.size()), 0.0);
    std::vector<int> reached{tree.root};
    for (std::size_t next = 0; next < reached.size(); ++next) {
        const int host = reached[next];
        for (const int child : tree.children[static_cast<std::size_t>(host)]) {
            at_us[static_cast<std::size_t>(child)] =
                at_us[static_cast<std::size_t>(host)] + network.link(host, child).latency_us;
            reached.push_back(child);
        }
    }
    return at_us;
}

}  // namespace

NetworkFollower::NetworkFollower(MPI_Comm comm, const Hosts& hosts, Record& record,
                                 std::optional<Outlook> outlook)
    : post_(comm, hosts), hosts_(hosts), record_(record), outlook_(std::move(outlook)) {
    if (outlook_) {
        told_ = record_.topology;
        choose_route();
    }
}

bool NetworkFollower::look(std::uint64_t call) {
    if (outlook_ && decider_.due(call)) {
        decide(call);
    }
    receive();
    bool changed = false;
    while (!follower_.within(call)) {
        std::optional<Epoch> epoch = follower_.advance();
        if (!epoch) {
            wait();
            continue;
        }
        changed = begin(*epoch) || changed;
    }
    next_look_ = call + std::max<std::uint64_t>(follower_.calls_per_epoch() / looks_per_epoch, 1);
    return changed;
}

void NetworkFollower::decide(std::uint64_t call) {
    std::optional<Epoch> epoch = decider_.enter(call, now_us(), travel_us_);
    if (!epoch) {
        return;
    }
    if (std::optional<Topology> looked = outlook_->look(told_)) {
        untold_ = std::move(looked);
    }
    if (untold_) {
        epoch->change = difference(told_, *untold_);
        apply(epoch->change, told_);
        choose_route();  // already these words go round what got worse
        if (epoch->change.links.size() < most_changed_links) {
            untold_.reset();
        }
    }
    epoch->parent_of_host = parent_of_host_;
    post_.send(*epoch);
    follower_.hear(std::move(*epoch));
}

// The quickest way to every host, but straight to it where that takes little longer: whoever hands
// words on must be inside a call to do so. Straight to all where some cannot be reached at all.
void NetworkFollower::choose_route() {
    const int here = hosts_.my_host();
    std::optional<Tree> tree = shortest_path_tree(told_.network, here, 0);
    if (!tree) {
        parent_of_host_.assign(static_cast<std::size_t>(hosts_.count()), here);
        parent_of_host_[static_cast<std::size_t>(here)] = -1;
        return;
    }
    const std::vector<double> shortest_us = arrival_us(*tree, told_.network);
    double slowest_us = 0;
    for (int host = 0; host < hosts_.count() && hosts_.count() <= most_told_straight; ++host) {
        const double straight_us = told_.network.link(here, host).latency_us;
        const auto index = static_cast<std::size_t>(host);
        if (host != here && straight_us <= detour_worth * shortest_us[index]) {
            tree->parent[index] = here;
            slowest_us = std::max(slowest_us, straight_us);
        }
    }
    travel_us_ = std::max(slowest_us, *std::max_element(shortest_us.begin(), shortest_us.end()));
    parent_of_host_ = std::move(tree->parent);
}

void NetworkFollower::receive() {
    for (Epoch& epoch : post_.receive()) {
        follower_.hear(std::move(epoch));
    }
}

void NetworkFollower::wait() {
    const double begun_us = now_us();
    int idle_polls = 0;
    do {
        receive();
        rest(idle_polls);
    } while (!follower_.knows_all_told());
    ++record_.adaptation.waits;
    record_.adaptation.waited_ms += (now_us() - begun_us) / 1000;
}

bool NetworkFollower::begin(const Epoch& epoch) {
    ++record_.adaptation.epochs;
    if (epoch.change.empty()) {
        return false;
    }
    take_up(record_, epoch.first_call, epoch.change);
    return true;
}

// The decider told an epoch ahead, and all ranks have entered the same calls: what was told and not
// yet heard is on its way. Unless a rank that had to hand it on has ended: MPICH over TCP may drop
// what a rank sent just before its MPI_Finalize.
bool NetworkFollower::finish() {
    constexpr double longest_us = 10e6;
    const double begun_us = now_us();
    int idle_polls = 0;
    while (next_look_ > 0 && !follower_.knows_all_told()) {
        if (now_us() - begun_us > longest_us) {
            return false;
        }
        receive();
        rest(idle_polls);
    }
    post_.finish();
    return true;
}

}  // namespace mutirao::mpi
