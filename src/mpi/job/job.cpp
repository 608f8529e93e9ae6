#include "mpi/job/job.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include "agent/bandwidth_plan.h"
#include "core/text/hash.h"
#include "mpi/executor/patience.h"
#include "mpi/job/surroundings.h"
#include "mpi/job/watch.h"
#include "mpi/rulings/host_agent.h"
#include "mpi/rulings/in_band.h"
#include "mpi/rulings/one_host.h"
#include "mpi/runtime.h"
#include "mpi/stopwatch.h"
#include "mpi/verbose.h"

namespace mutirao::mpi {
namespace {

std::string& reason() {
    static std::string why = "MPI_Init was not seen: a program of sessions only, or an initialisation "
                             "that bypassed preloading";
    return why;
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
    return ranks == 1 ? "one rank" : "";
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

int largest_tag(MPI_Comm comm) {
    int* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &found);
    constexpr int guaranteed = 32767;
    return found != 0 ? *value : guaranteed;
}

std::size_t left_behind_limit() {
    return may_leave_sends_behind() ? std::min(runtime().settings.detached_bytes,
                                               static_cast<std::size_t>(limits_of_this_host().buffer_bytes))
                                    : 0;
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

Job::Job(MPI_Comm twin)
    : twin_(twin),
      my_rank_(rank_in(twin)),
      slots_(slot_count(largest_tag(MPI_COMM_WORLD))),
      left_behind_(left_behind_limit()) {
    PMPI_Comm_set_errhandler(twin_, MPI_ERRORS_RETURN);
    PMPI_Comm_group(twin_, &world_group_);
    PMPI_Comm_size(twin_, &rank_count_);
}

const std::string& Job::why_native() { return reason(); }

void Job::begin() {
    runtime();  // writes the report at the end, also where there is no job
    say_what_is_loaded();
    reason() = obstacle();
    if (!reason().empty()) {
        say(1, "the MPI library takes all calls: " + reason());
        return;
    }
    const Stopwatch stopwatch;
    MPI_Comm twin = MPI_COMM_NULL;
    {
        const Watch watch(missing_preload_line(rank_in(MPI_COMM_WORLD)));
        if (PMPI_Comm_dup(MPI_COMM_WORLD, &twin) != MPI_SUCCESS) {
            reason() = "MPI_COMM_WORLD could not be duplicated";
            return;
        }
    }
    auto* const made = new Job(twin);  // lives as long as the process: MPI may call back very late
    made->cost_.twin_ms = stopwatch.elapsed_ms();
    made->start_introductions();
    if (runtime().settings.waits_for_ranks()) {
        const Stopwatch waiting;
        made->wait_for_introductions();
        if (runtime().settings.waits_at_start() && made->world_.native_reason.empty()) {
            made->wait_for_network();
        }
        made->cost_.waited_ms = waiting.elapsed_ms();
    }
    made->begun_us_ = now_us();
    current_.store(made, std::memory_order_release);
}

Job* Job::retire() {
    Job* const job = current_.exchange(nullptr);
    if (job != nullptr) {
        reason() = "MPI has been finalised";
        retired_ = job;
    }
    return job;
}

// All ranks have started the collectives that are still under way, and all come to MPI_Finalize.
void Job::finish() {
    left_behind_.wait();
    Patience patience;
    while (!world_ready_ && !introductions_.complete()) {
        patience.rest();
    }
    while (!adopted_.empty()) {
        PMPI_Wait(&adopted_.front().request, MPI_STATUS_IGNORE);
        adopted_.pop_front();
    }
    if (carrier() != Carrier::other) {
        wait_for_everybody();
    }
    if (carrier() == Carrier::ucx) {
        receive_what_is_left();
    }
}

// A rank may send to another up to the end of its last call, when the other may be no more. Open MPI's
// MPI_Finalize waits for all; MPICH's does not, and over libfabric tries for ever to reach who has left.
void Job::wait_for_everybody() {
    GridAllgather<std::byte> farewells;
    farewells.begin(std::byte{}, twin_, Slot(0).farewells());
    Patience patience;
    while (!farewells.complete()) {
        patience.rest();
    }
}

// Announcements that nobody needs any more.
void Job::receive_what_is_left() {
    std::vector<std::byte> unread;
    for (int here = 1; here != 0;) {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, twin_, &here, &message, &status);
        if (here != 0) {
            int length = 0;
            PMPI_Get_count(&status, MPI_BYTE, &length);
            unread.resize(static_cast<std::size_t>(length));
            PMPI_Mrecv(unread.data(), length, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        }
    }
}

// An agent that ended earlier would be news to the others, whose ranks may still be at work.
void Job::stop_measuring() {
    if (retired_ != nullptr) {
        retired_->lookout_.reset();
        retired_->source_.reset();
    }
}

void Job::start_introductions() {
    const Settings& settings = runtime().settings;
    Introduction mine = introduce(settings, runtime().settings_hash, my_rank_);
    if (wants_agents(settings)) {
        endpoint_ = agent::Endpoint::open();
        const std::optional<agent::Key> key = agent::random_key();
        if (endpoint_ && key) {
            mine.has_agent = 1;
            mine.contact = endpoint_->contact();
            mine.key = *key;
        }
        if (const auto daemon = find_daemon(settings)) {
            mine.daemon_job = daemon->job;
            mine.daemon_host = daemon->host;
        }
    }
    introductions_.begin(mine, twin_, Slot(0).introductions());
}

bool Job::look_for_introductions() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || world_ready_) {
        return world_ready_;
    }
    if (introductions_.complete()) {
        take_introductions();
    }
    return world_ready_;
}

void Job::wait_for_introductions() {
    Patience patience;
    const double begun = now_us();
    bool said = false;
    while (!introduced()) {
        patience.rest();
        if (!said && now_us() - begun > patience_s * 1e6) {
            std::fprintf(stderr, "%s\n", missing_preload_line(my_rank_).c_str());
            said = true;
        }
    }
}

void Job::take_introductions() {
    world_ = world_of(introductions_.all(), my_rank_);
    if (is_verbose(1)) {
        say(1, extent_of(world_));
    }
    if (world_.native_reason.empty()) {
        start_source();
        if (is_verbose(3)) {
            say(3, "on host " + std::to_string(world_.my_host()) + ", " +
                       (source_ ? source_->about() : "where nobody watches the network"));
        }
        if (source_) {
            const int host = world_.my_host();
            const int here = world_.daemon_host.empty()
                                 ? host
                                 : world_.daemon_host[static_cast<std::size_t>(host)];
            lookout_ = std::make_shared<Lookout>(source_, here, runtime().settings,
                                                 world_.sockets);
        }
    } else if (!world_.at_odds) {
        say(1, "the MPI library takes all calls: " + world_.native_reason);
    } else if (my_rank_ == 0) {
        std::fprintf(stderr, "mutirao: %s; the MPI library takes all calls\n",
                     world_.native_reason.c_str());
    }
    endpoint_.reset();
    introductions_.forget();
    cost_.introduced_ms = begun_us_ == 0 ? 0 : (now_us() - begun_us_) / 1000;
    world_ready_.store(true, std::memory_order_release);
}

void Job::start_source() {
    const Settings& settings = runtime().settings;
    if (world_.host_count() == 1) {
        if (settings.acts_on_one_host(world_.is_crowded(0))) {
            source_ = std::make_shared<OneHost>();
        }
        return;
    }
    if (wants_in_band(settings)) {
        source_ = std::make_shared<InBandSource>(twin_, Slot(0).in_band(), world_, settings);
        return;
    }
    if (!wants_agents(settings)) {
        return;
    }
    if (!world_.daemon_host.empty()) {
        source_ = std::make_shared<HostAgent>(agent::daemon_segment_name());
        return;
    }
    const bool everywhere = std::all_of(
        world_.leader_of_host.begin(), world_.leader_of_host.end(), [this](int leader) {
            return introductions_.all()[static_cast<std::size_t>(leader)].has_agent != 0;
        });
    if (!everywhere) {
        return;
    }
    const std::uint64_t id =
        std::max<std::uint64_t>(fnv1a(std::as_bytes(std::span(introductions_.all()))), 1);
    const int host = world_.my_host();
    source_ = world_.leads(my_rank_)
                  ? std::make_shared<HostAgent>(std::move(*endpoint_),
                                                make_job(introductions_.all(), world_, settings, id))
                  : std::make_shared<HostAgent>(agent::segment_name(id, host));
}

std::shared_ptr<NetworkSource> Job::source() const {
    return world_ready_.load(std::memory_order_acquire) ? source_ : nullptr;
}

void Job::saw(int twin_rank, double bytes_per_us) {
    const int host = world_.placement->host_of(twin_rank);
    if (const auto source = this->source(); source && host != world_.my_host()) {
        source->saw(host, bytes_per_us);
    }
}

std::shared_ptr<Lookout> Job::lookout() const {
    return world_ready_.load(std::memory_order_acquire) ? lookout_ : nullptr;
}

// Of the whole job some time is given to begin with; elsewhere calls have to earn it.
std::shared_ptr<Ledger> Job::ledger_of(const std::vector<int>& twin_ranks) {
    constexpr double opening_us = 100'000;
    const std::lock_guard lock(ledgers_mutex_);
    std::erase_if(ledgers_, [](const auto& each) { return each.second.expired(); });
    std::weak_ptr<Ledger>& known = ledgers_[twin_ranks];
    std::shared_ptr<Ledger> ledger = known.lock();
    if (!ledger) {
        const bool whole = static_cast<int>(twin_ranks.size()) == rank_count_;
        known = ledger = std::make_shared<Ledger>(whole ? opening_us : 0);
    }
    return ledger;
}

// Until this host knows every link, the tree and what lies between sites, and so do all the others; but no
// longer than silent links are waited for, and bandwidths that may never be known.
void Job::wait_for_network() {
    const Settings& settings = runtime().settings;
    constexpr double for_bandwidth_us = 6e6;
    double until_us = now_us() + 2e3 * settings.probe_timeout_ms + 5e6;
    bool has_tree = false;
    Background* const background = source_ ? source_->background() : nullptr;
    const auto go_on = [&](Patience& patience) {
        if (background != nullptr) {
            background->progress();
        }
        patience.rest();
    };
    Patience patience;
    const bool watches = source_ && (background != nullptr || source_->readable_here());
    std::uint64_t seen = 0;
    while (watches && now_us() < until_us) {
        if (const auto view = source_->newer_than(seen)) {
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
    PMPI_Ibarrier(twin_, &everybody);
    for (int done = 0; done == 0; PMPI_Test(&everybody, &done, MPI_STATUS_IGNORE)) {
        go_on(patience);
    }
}

void Job::adopt(MPI_Request request, std::shared_ptr<void> memory) {
    const std::lock_guard lock(adopted_mutex_);
    adopted_.push_back({request, std::move(memory)});
}

// Without the lock while MPI is asked: a communicator may end in that, and have something to adopt.
void Job::progress() {
    std::list<Adopted> asked;
    {
        const std::unique_lock lock(adopted_mutex_, std::try_to_lock);
        if (!lock || adopted_.empty()) {
            return;
        }
        asked.swap(adopted_);
    }
    asked.remove_if([](Adopted& each) {
        int done = 0;
        PMPI_Test(&each.request, &done, MPI_STATUS_IGNORE);
        return done != 0;
    });
    const std::lock_guard lock(adopted_mutex_);
    adopted_.splice(adopted_.end(), asked);
}

}  // namespace mutirao::mpi
