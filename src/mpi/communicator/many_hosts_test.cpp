// What one rank of a very large job keeps for its communicators, in memory and without MPI: 1,000 hosts
// with 8 ranks each and 32 communicators.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <new>
#include <random>

#include "core/network/tree.h"
#include "mpi/base/test_mpi.h"
#include "mpi/communicator/ruling_table.h"
#include "mpi/decide/docket.h"

namespace {

std::size_t living_bytes = 0;

void* counted_if_any(std::size_t bytes) noexcept {
    void* const memory = std::malloc(bytes);
    if (memory != nullptr) living_bytes += malloc_usable_size(memory);
    return memory;
}

void* counted(std::size_t bytes) {
    void* const memory = counted_if_any(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void uncounted(void* memory) noexcept {
    living_bytes -= malloc_usable_size(memory);
    std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
// What std::stable_sort takes its room by.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted_if_any(bytes); }
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete[](void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { uncounted(memory); }
void operator delete[](void* memory, std::size_t) noexcept { uncounted(memory); }

namespace mutirao::mpi {
namespace {

constexpr int hosts = 1000;
constexpr int ranks_per_host = 8;
constexpr int communicators = 12;
constexpr std::size_t limit_bytes = std::size_t{14} << 20;  // 12 of them are links; 32 communicators take 16
constexpr CallShape shapes[] = {{.root = 0, .length_bytes = 24}, {.root = 0, .length_bytes = 65536}};

/// Sites of 20 hosts, some milliseconds apart, as their agents would tell it.
class MadeUpNetwork final : public NetworkSource {
  public:
    std::optional<NetworkView> newer_than(std::uint64_t seen) override {
        if (seen == 1) return std::nullopt;
        NetworkView view;
        view.changes = 1;
        view.host_count = hosts;
        view.latency_us.assign(std::size_t{hosts} * hosts, 0);
        view.bandwidth_bytes_per_us.assign(view.latency_us.size(), 0);
        std::mt19937 random(1);
        for (std::size_t low = 0; low < hosts; ++low) {
            for (std::size_t high = low + 1; high < hosts; ++high) {
                const bool near = low / 20 == high / 20;
                const double latency_us = (near ? 30 : 2000 + 100.0 * (low / 20 ^ high / 20)) +
                                          static_cast<double>(random() % 1000) / 1000;
                for (const std::size_t place : {low * hosts + high, high * hosts + low}) {
                    view.latency_us[place] = latency_us;
                    view.bandwidth_bytes_per_us[place] = near ? 1000 : 100;
                }
            }
        }
        view.last_known_us = view.latency_us;
        return view;
    }
};

/// Of all ranks; of those on every other host; of the first on each host. Rank 0 is first in each.
Members some_members(int number, const World& world) {
    Members members;
    for (int rank = 0; rank < world.rank_count(); ++rank) {
        const bool in_it = number % 4 < 2    ? true
                           : number % 4 == 2 ? rank / ranks_per_host % 2 == 0
                                             : rank % ranks_per_host == 0;
        if (rank == world.my_rank) members.my_rank = static_cast<int>(members.twin_rank_of.size());
        if (in_it) members.twin_rank_of.push_back(rank);
    }
    members.twin_rank_of.shrink_to_fit();
    members.place(world);
    return members;
}

struct Held {
    Members members;
    std::shared_ptr<Record> record = std::make_shared<Record>();
    std::unique_ptr<Docket> docket;
    std::unique_ptr<RulingTable> table;
};

std::unique_ptr<Docket> docket_of(const Held& held, const std::shared_ptr<Lookout>& lookout, Trials trials) {
    Docket::Subject subject;
    subject.placement = held.members.placement;
    subject.source_host_of = held.members.world_host_of;
    subject.lookout = lookout;
    subject.settings.trials = trials;
    subject.record = held.record;
    subject.ledger = std::make_shared<Ledger>(0);
    auto docket = std::make_unique<Docket>(std::move(subject));
    for (const CallShape& shape : shapes) docket->want(shape, 8);
    while (docket->work()) {
    }
    return docket;
}

void obey(Held& held, const std::vector<Ruling>& rulings) {
    held.table = std::make_unique<RulingTable>(held.members, *held.record, true);
    for (const Ruling& ruling : rulings) held.table->take(ruling, 16, {}, {});
    for (const CallShape& shape : shapes) held.table->find(shape, 16);
}

TEST(ManyHosts, ARankKeepsLittleForEachOfItsCommunicators) {
    const std::size_t before = living_bytes;
    const World world = test::world_with(hosts, ranks_per_host);
    const auto lookout = std::make_shared<Lookout>(std::make_shared<MadeUpNetwork>(), 0,
                                                   Settings{}, SocketLimits{1e5});
    std::vector<Held> deciders(communicators);
    std::vector<std::vector<Ruling>> rulings;
    for (int number = 0; number < communicators; ++number) {
        Held& held = deciders[static_cast<std::size_t>(number)];
        held.members = some_members(number, world);
        // As rank 0 decides, which keeps in mind all that may be tried; ruled is what is predicted to be best.
        held.docket = docket_of(held, lookout, Trials::on);
        if (number < 4) {
            rulings.push_back(docket_of(held, lookout, Trials::off)->take_fresh(8, {}));
            EXPECT_FALSE(rulings.back().empty());
        }
        obey(held, rulings[static_cast<std::size_t>(number % 4)]);
    }
    const std::size_t of_decider = living_bytes - before;
    deciders.clear();

    const std::size_t between = living_bytes;
    const World another = test::world_with(hosts, ranks_per_host, ranks_per_host * (hosts - 2));
    std::vector<Held> others(communicators);
    for (int number = 0; number < communicators; ++number) {
        Held& held = others[static_cast<std::size_t>(number)];
        held.members = some_members(number, another);
        obey(held, rulings[static_cast<std::size_t>(number % 4)]);
    }
    const std::size_t of_another = living_bytes - between;

    std::printf("1,000 hosts, 8 ranks each, 12 communicators: %.1f MiB on the rank that decides for all,"
                " %.1f MiB on another\n",
                static_cast<double>(of_decider) / (1 << 20),
                static_cast<double>(of_another) / (1 << 20));
    EXPECT_LE(of_decider, limit_bytes);
    EXPECT_LE(of_another, limit_bytes);
}

}  // namespace
}  // namespace mutirao::mpi
