#include "mpi/job/job.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "agent/sensors/bandwidth.h"
#include "mpi/base/environment.h"
#include "mpi/base/native.h"
#include "mpi/base/runtime.h"
#include "mpi/base/waiting.h"

namespace mutirao::mpi {
namespace {

std::string& reason() {
    static std::string why = "MPI_Init was not seen: a program of sessions only, or an initialisation "
                             "that bypassed preloading";
    return why;
}

/// Whoever launched the job says so where the setting `enabled` is off on all ranks: then nobody need be asked.
bool is_off_everywhere() {
    const char* const said = std::getenv("MUTIRAO_LAUNCH");
    return !runtime().settings.enabled && said != nullptr && std::strcmp(said, "off") == 0;
}

// Asked before any communication; equal on all ranks.
std::string obstacle() {
    int ranks = 1;
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        return "spawned processes";
    }
    if (is_fault_tolerant()) {
        return "fault tolerance is switched on";
    }
    if (is_off_everywhere()) {
        return "switched off";
    }
    return ranks == 1 ? "one rank" : "";
}

bool holds(MPI_Group all, MPI_Group some) {
    int size = 0;
    PMPI_Group_size(some, &size);
    std::vector<int> own(static_cast<std::size_t>(size)), found(own.size());
    std::iota(own.begin(), own.end(), 0);
    return PMPI_Group_translate_ranks(some, size, own.data(), all, found.data()) == MPI_SUCCESS &&
           std::find(found.begin(), found.end(), MPI_UNDEFINED) == found.end();
}

/// The largest; of equal ones that with the least identifier, so that all who have them take the same.
template <typename Circle>
std::shared_ptr<Circle> best_of(const std::vector<std::shared_ptr<Circle>>& all, MPI_Group group) {
    std::shared_ptr<Circle> best;
    for (const auto& each : all) {
        const auto goes_before = [&] {
            const int ranks = each->world().rank_count(), its = best->world().rank_count();
            return ranks > its || (ranks == its && each->id() < best->id());
        };
        if (holds(each->group(), group) && (!best || goes_before())) {
            best = each;
        }
    }
    return best;
}

bool complete(const NetworkView& view) {
    return view.unknown_links == 0 &&
           view.tree.size() + 1 == static_cast<std::size_t>(view.host_count);
}

/// Between all sites; agents measure that once there is a tree.
bool knows_bandwidth(const NetworkView& view) {
    const auto hosts = static_cast<std::size_t>(view.host_count);
    const std::vector<int> site_of = agent::sites_of(view.latency_us, view.host_count);
    for (std::size_t a = 0; a < hosts; ++a) {
        for (std::size_t b = 0; b < hosts; ++b) {
            const bool known = !view.bandwidth_bytes_per_us.empty() &&
                               view.bandwidth_bytes_per_us[a * hosts + b] > 0;
            if (site_of[a] != site_of[b] && !known) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

// The communicator of this rank alone is made here, without a message: in a later call threads of several ranks, which
// make communicators of their own, could wait for each other.
Job::Job(double init_ms) : init_us_(1000 * init_ms) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &my_rank_);
    const ErrorsReturned errors_returned(MPI_COMM_SELF);
    MPI_Group self = MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_SELF, &self);
    if (PMPI_Comm_create(MPI_COMM_SELF, self, &quiet_) == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(quiet_, MPI_ERRORS_RETURN);
    } else {
        quiet_ = MPI_COMM_SELF;
    }
    PMPI_Group_free(&self);
}

const std::string& Job::why_native() { return reason(); }

void Job::begin(double init_ms) {
    say_what_is_loaded();
    reason() = obstacle();
    if (!reason().empty()) {
        say(1, "the MPI library takes all calls: " + reason());
        return;
    }
    auto* const made = new Job(init_ms);  // lives as long as the process: MPI may call back very late
    if (runtime().settings.waits_for_ranks()) {
        made->wait_in_init();
    }
    made->begun_us_ = now_us();
    current_.store(made, std::memory_order_release);
}

// Collective over MPI_COMM_WORLD: who wants calls to wait for each other has MPI_Init wait, too.
void Job::wait_in_init() {
    Stopwatch stopwatch;
    std::shared_ptr<Peers> all;
    {
        const LongWaitNotice notice(missing_preload_line(my_rank_));
        Introducing introducing(MPI_COMM_WORLD);
        for (Patience patience; !introducing.pending().complete();) {
            patience.rest();
        }
        add(all = introducing.take());
    }
    cost_.waited_ms = stopwatch.lap_ms();
    if (!all->world().native_reason.empty()) {
        return;
    }
    const std::shared_ptr<Twin> twin = make_twin(MPI_COMM_WORLD, all);
    stopwatch.lap_ms();
    if (twin && runtime().settings.waits_at_start()) {
        wait_for_network(*twin);
    }
    cost_.waited_ms += stopwatch.lap_ms();
}

bool Job::has_lasted() const {
    constexpr double times_init = 6, most_us = 30e6;
    return now_us() - begun_us_ > std::min(times_init * init_us_, most_us);
}

Job* Job::retire() {
    Job* const job = current_.exchange(nullptr);
    if (job != nullptr) {
        reason() = "MPI has been finalised";
        retired_ = job;
    }
    return job;
}

// All ranks have started the collectives that are still under way, and all who have a twin come to MPI_Finalize.
void Job::finish() {
    const Stopwatch stopwatch;
    for (const auto& twin : twins_) {
        twin->begin_farewell();
    }
    while (!adopted_.empty()) {
        PMPI_Wait(&adopted_.front().request, MPI_STATUS_IGNORE);
        adopted_.pop_front();
    }
    for (const auto& twin : twins_) {
        twin->end_farewell();
    }
    cost_.finalize_ms = stopwatch.elapsed_ms();
}

// An agent that ended earlier would be news to the others, whose ranks may still be at work.
void Job::stop_measuring() {
    if (retired_ == nullptr) {
        return;
    }
    for (const auto& twin : retired_->twins_) {
        twin->stop_measuring();
    }
    for (const auto& peers : retired_->peers_) {
        peers->stop_measuring();
    }
}

std::shared_ptr<Peers> Job::peers_of(MPI_Group group) {
    const std::lock_guard lock(mutex_);
    return best_of(peers_, group);
}

std::shared_ptr<Twin> Job::twin_of(MPI_Group group) {
    const std::lock_guard lock(mutex_);
    return best_of(twins_, group);
}

bool Job::has_room_for_peers() {
    const std::lock_guard lock(mutex_);
    return peers_.size() < most_twins;
}

std::shared_ptr<Meeting> Job::begin_meeting(MPI_Group group) {
    const std::lock_guard lock(mutex_);
    std::erase_if(meetings_, [](const auto& each) { return each.expired(); });
    for (const std::weak_ptr<Meeting>& each : meetings_) {
        if (const std::shared_ptr<Meeting> other = each.lock(); other && holds(other->group(), group)) {
            return nullptr;
        }
    }
    auto begun = std::make_shared<Meeting>(group);
    meetings_.push_back(begun);
    return begun;
}

bool Job::has_room_for_twin() {
    const std::lock_guard lock(mutex_);
    return twins_.size() < most_twins;
}

void Job::add(std::shared_ptr<Peers> peers) {
    const std::lock_guard lock(mutex_);
    peers_.push_back(std::move(peers));
    if (begun_us_ > 0 && cost_.introduced_ms == 0) {
        cost_.introduced_ms = (now_us() - begun_us_) / 1000;
    }
}

void Job::waited_in_call(double ms) {
    const std::lock_guard lock(mutex_);
    cost_.agreed_ms += ms;
}

std::shared_ptr<Twin> Job::make_twin(MPI_Comm comm, const std::shared_ptr<Peers>& peers) {
    const Stopwatch stopwatch;
    std::shared_ptr<Twin> twin = Twin::make(comm, peers);
    const std::lock_guard lock(mutex_);
    cost_.twin_ms += stopwatch.elapsed_ms();
    if (twin) {
        twins_.push_back(twin);
    }
    return twin;
}

// Until this host knows every link, the tree and what lies between sites, and so do all the others; but no
// longer than silent links are waited for, and bandwidths that may never be known.
void Job::wait_for_network(Twin& twin) {
    const Settings& settings = runtime().settings;
    constexpr double for_bandwidth_us = 6e6;
    double until_us = now_us() + 2e3 * settings.probe_timeout_ms + 5e6;
    bool has_tree = false;
    NetworkSource* const source = twin.source().get();
    Background* const background = source != nullptr ? source->background() : nullptr;
    const auto go_on = [&](Patience& patience) {
        if (background != nullptr) {
            background->progress();
        }
        patience.rest();
    };
    Patience patience;
    const bool watches = source != nullptr && (background != nullptr || source->readable_here());
    std::uint64_t seen = 0;
    while (watches && now_us() < until_us) {
        if (const auto view = source->newer_than(seen)) {
            seen = view->changes;
            if (complete(*view)) {
                if (background != nullptr || knows_bandwidth(*view)) {
                    break;
                }
                if (!std::exchange(has_tree, true)) {
                    until_us = now_us() + for_bandwidth_us;
                }
            }
        }
        go_on(patience);
    }
    MPI_Request everybody = MPI_REQUEST_NULL;
    PMPI_Ibarrier(twin.comm(), &everybody);
    for (int done = 0; done == 0; PMPI_Test(&everybody, &done, MPI_STATUS_IGNORE)) {
        go_on(patience);
    }
}

void Job::adopt(Pending& pending) {
    if (!pending.complete()) {
        const std::lock_guard lock(adopted_mutex_);
        adopted_.push_back({pending.comm(), pending.request(), pending.give_up()});
    }
}

// All ranks of the communicator come to where it is freed, and have begun all this before.
void Job::complete_on([[maybe_unused]] MPI_Comm comm) {
#if defined(OPEN_MPI)
    if (carrier() != Carrier::ucx) {
        return;
    }
    std::list<Adopted> there;
    {
        std::unique_lock lock(adopted_mutex_);
        const auto asked_elsewhere = [this] {
            return asking_ != std::thread::id() && asking_ != std::this_thread::get_id();
        };
        for (Patience patience; asked_elsewhere();) {
            lock.unlock();
            patience.rest();
            lock.lock();
        }
        for (auto each = adopted_.begin(); each != adopted_.end();) {
            const auto next = std::next(each);
            if (each->comm == comm) {
                there.splice(there.end(), adopted_, each);
            }
            each = next;
        }
    }
    for (Adopted& each : there) {
        PMPI_Wait(&each.request, MPI_STATUS_IGNORE);
    }
#endif
}

// Without the lock while MPI is asked: a communicator may end in that, and have something to adopt.
void Job::progress() {
    std::list<Adopted> asked;
    {
        const std::unique_lock lock(adopted_mutex_, std::try_to_lock);
        if (!lock || adopted_.empty() || asking_ != std::thread::id()) {
            return;
        }
        asked.swap(adopted_);
        asking_ = std::this_thread::get_id();
    }
    asked.remove_if([](Adopted& each) {
        int done = 0;
        PMPI_Test(&each.request, &done, MPI_STATUS_IGNORE);
        return done != 0;
    });
    const std::lock_guard lock(adopted_mutex_);
    adopted_.splice(adopted_.end(), asked);
    asking_ = {};
}

}  // namespace mutirao::mpi
