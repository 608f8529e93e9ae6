#include "mpi/job/job.h"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

#include "core/network/sites.h"
#include "core/text/bytes.h"
#include "mpi/base/environment.h"
#include "mpi/base/post.h"
#include "mpi/base/runtime.h"
#include "mpi/base/waiting.h"
#include "mpi/job/modex.h"
#include "mpi/watch/host_agent.h"
#include "mpi/watch/in_band.h"

namespace mutirao::mpi {
namespace {

std::uint64_t identity_of(const std::vector<Introduction>& all) {
    return std::max<std::uint64_t>(fnv1a(std::as_bytes(std::span(all))), 1);
}

Introduced introduce_this_rank(int world_rank) {
    const Settings& settings = runtime().settings;
    Introduced made{introduce(settings, runtime().settings_hash, world_rank), std::nullopt};
    if (!wants_agents(settings)) {
        return made;
    }
    made.endpoint = agent::Endpoint::open();
    const std::optional<agent::Key> shared = key_of_launcher(), key = shared ? shared : agent::random_key();
    if (made.endpoint && key) {
        made.said.has_agent = 1;
        made.said.contact = made.endpoint->contact();
        made.said.key = *key;
    }
    if (const auto daemon = find_daemon(settings)) {
        made.said.daemon_job = daemon->job;
        made.said.daemon_host = daemon->host;
    }
    return made;
}

std::shared_ptr<NetworkSource> start_source(const std::vector<Introduction>& all, const World& world, std::uint64_t id,
                                            std::optional<agent::Endpoint> endpoint) {
    const Settings& settings = runtime().settings;
    if (world.host_count() == 1) {
        return settings.acts_on_one_host(world.is_crowded(0)) ? std::make_shared<OneHost>() : nullptr;
    }
    if (!wants_agents(settings)) {
        return nullptr;
    }
    if (world.has_daemons) {
        return std::make_shared<HostAgent>(agent::daemon_segment_name());
    }
    for (int host = 0; host < world.host_count(); ++host) {
        if (all[static_cast<std::size_t>(world.leader_of(host))].has_agent == 0) {
            return nullptr;
        }
    }
    return world.leads(world.my_rank) ? std::make_shared<HostAgent>(std::move(*endpoint), make_job(all, world, settings, id))
                                      : std::make_shared<HostAgent>(agent::segment_name(id, world.my_host()));
}

}  // namespace

Introducing::Introducing(MPI_Comm comm, Job& job)
    : comm_(comm), job_(job), group_(std::make_shared<Group>(comm)), pending_(tell_all()) {}

// As the vote before, whose connections are there. An allgather connects all pairs, which takes Open MPI 11 s among six
// sites (docs/results.md).
Pending Introducing::tell_all() {
    Introduction mine;
    if (comm_ == MPI_COMM_WORLD) {
        mine = job_.introduction();
    } else {
        Introduced made = introduce_this_rank(job_.my_rank());
        mine = made.said;
        memory_->endpoint = std::move(made.endpoint);
    }
    constexpr std::size_t words_each = sizeof(Introduction) / sizeof(std::uint64_t);
    static_assert(sizeof(Introduction) == words_each * sizeof(std::uint64_t) &&
                  std::is_trivially_copyable_v<Introduction>);
    std::vector<Introduction>& all = memory_->all;
    all.resize(static_cast<std::size_t>(size_of(comm_)));
    std::memset(static_cast<void*>(all.data()), 0, all.size() * sizeof mine);
    all[static_cast<std::size_t>(rank_in(comm_))] = mine;
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Iallreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size() * words_each), MPI_UINT64_T, MPI_BOR, comm_,
                    &request);
    return {comm_, request, memory_};
}

std::shared_ptr<Peers> Introducing::take() {
    return comm_ == MPI_COMM_WORLD
               ? job_.whole(memory_->all, false)
               : std::make_shared<Peers>(group_, memory_->all, rank_in(comm_), std::move(memory_->endpoint));
}

Peers::Peers(std::shared_ptr<const Group> group, const std::vector<Introduction>& all, int my_rank,
             std::optional<agent::Endpoint> endpoint)
    : group_(std::move(group)), id_(identity_of(all)), world_(world_of(all, my_rank)) {
    if (world_.native_reason.empty()) {
        source_ = start_source(all, world_, id_, std::move(endpoint));
    }
}

void Peers::say_who() const {
    say(1, extent_of(world_));
    if (!world_.native_reason.empty() && !world_.at_odds) {
        say(1, "the MPI library takes all calls: " + world_.native_reason);
    } else if (!world_.native_reason.empty() && world_.my_rank == 0) {
        std::fprintf(stderr, "mutirao: %s; the MPI library takes all calls\n", world_.native_reason.c_str());
    } else if (world_.native_reason.empty()) {
        say(3, "on host " + std::to_string(world_.my_host()) + ", " +
                   (source_ ? source_->about() : "where nobody watches the network"));
    }
}

// Of the whole job some time is given to begin with; elsewhere calls have to earn it.
std::shared_ptr<Ledger> Peers::ledger_of(MPI_Comm comm) const {
    constexpr double opening_us = 100'000;
    const std::vector<int> ranks = ranks_in(Group(comm), *group_);
    const std::lock_guard lock(ledgers_mutex_);
    std::erase_if(ledgers_, [](const auto& each) { return each.second.expired(); });
    std::weak_ptr<Ledger>& known = ledgers_[ranks];
    std::shared_ptr<Ledger> ledger = known.lock();
    if (!ledger) {
        const bool whole = static_cast<int>(ranks.size()) == size_of(MPI_COMM_WORLD);
        known = ledger = std::make_shared<Ledger>(whole ? opening_us : 0);
    }
    return ledger;
}

// Consecutive slots, from a place that spreads different communicators over all of them.
std::size_t Slots::place(std::uint64_t who, int choice) const {
    return (who % taken_.size() + static_cast<std::size_t>(choice)) % taken_.size();
}

std::uint64_t Slots::offer(std::uint64_t who) {
    const std::lock_guard lock(mutex_);
    std::uint64_t offered = 0;
    for (int choice = 0; choice < choices && static_cast<std::size_t>(choice) < taken_.size() &&
                         std::popcount(offered) < most_offered;
         ++choice) {
        const std::size_t slot = place(who, choice);
        if (!taken_[slot]) {
            taken_[slot] = true;
            offered |= std::uint64_t{1} << choice;
        }
    }
    return offered;
}

int Slots::settle(std::uint64_t who, std::uint64_t offered, std::uint64_t agreed) {
    const std::lock_guard lock(mutex_);
    const int chosen = agreed == 0 ? -1 : std::countr_zero(agreed);
    for (int choice = 0; choice < choices; ++choice) {
        if ((offered >> choice & 1) != 0 && choice != chosen) {
            taken_[place(who, choice)] = false;
        }
    }
    return chosen < 0 ? -1 : static_cast<int>(place(who, chosen));
}

void Slots::give_back(int slot) {
    const std::lock_guard lock(mutex_);
    taken_[static_cast<std::size_t>(slot)] = false;
}

// --- twins -------------------------------------------------------------------------------------------------

namespace {

/// As long as it lives, errors are returned, whatever the program wants of its communicator.
class ErrorsReturned {
  public:
    explicit ErrorsReturned(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_get_errhandler(comm_, &before_);
        PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
    ~ErrorsReturned() {
        PMPI_Comm_set_errhandler(comm_, before_);
        PMPI_Errhandler_free(&before_);
    }
    ErrorsReturned(const ErrorsReturned&) = delete;
    ErrorsReturned& operator=(const ErrorsReturned&) = delete;

  private:
    MPI_Comm comm_;
    MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

int largest_tag() {
    int* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
    constexpr int guaranteed = 32767;
    return found != 0 ? *value : guaranteed;
}

std::size_t left_behind_limit() {
    return may_leave_sends_behind() ? static_cast<std::size_t>(limits_of_this_host().buffer_bytes) : 0;
}

}  // namespace

// By its group and not as a duplicate, which would run the program's attribute callbacks.
std::shared_ptr<Twin> Twin::make(MPI_Comm comm, std::shared_ptr<Peers> peers, std::uint64_t number) {
    const ErrorsReturned errors_returned(comm);
    MPI_Comm made = MPI_COMM_NULL;
    const int error = PMPI_Comm_create(comm, Group(comm), &made);
    if (error != MPI_SUCCESS || made == MPI_COMM_NULL) {
        return nullptr;
    }
    return std::shared_ptr<Twin>(new Twin(made, std::move(peers), number));
}

Twin::Twin(MPI_Comm comm, std::shared_ptr<Peers> peers, std::uint64_t number)
    : comm_(comm), group_(comm), peers_(std::move(peers)), slots_(slot_count(largest_tag())),
      left_behind_(left_behind_limit()) {
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    Members members = members_of(comm_, peers_->group(), peers_->world());
    // Threads may make two of the same ranks at once.
    id_ = std::max<std::uint64_t>(fnv1a(std::as_bytes(std::span(&number, 1))) ^
                                      fnv1a(std::as_bytes(std::span(members.twin_rank_of))) ^ peers_->id(), 1);
    world_ = std::move(members);
    source_ = peers_->source();
    if (wants_in_band(runtime().settings) && world_.host_count() > 1) {
        std::iota(world_.source_host.begin(), world_.source_host.end(), 0);
        if (world_.leads(world_.my_rank)) {
            source_ = std::make_shared<InBandSource>(comm_, Slot(0).in_band(), world_, runtime().settings);
        }
    }
}

// A rank may send to another up to the end of its last call, when the other may be no more. Open MPI's
// MPI_Finalize waits for all; MPICH's does not, and over libfabric tries for ever to reach who has left.
void Twin::begin_farewell() {
    if (wants_in_band(runtime().settings)) {
        stop_measuring();  // by messages, of which some may be under way
    }
    left_behind_.wait();
    if (carrier() != Carrier::other) {
        PMPI_Ibarrier(comm_, &farewell_);
    }
}

void Twin::end_farewell() {
    Patience patience;
    for (int done = 0; done == 0; patience.rest()) {
        PMPI_Test(&farewell_, &done, MPI_STATUS_IGNORE);
    }
    // Announcements that nobody needs any more.
    while (carrier() == Carrier::ucx && take_message(comm_, MPI_ANY_TAG)) {
    }
}

// --- the job -----------------------------------------------------------------------------------------------

namespace {

std::string& reason() {
    // Lives as long as the process: MPI_Finalize may be called by a destructor or a function of atexit().
    static auto& why = *new std::string(
        "MPI_Init was not seen: a program of sessions only, or an initialisation that bypassed preloading");
    return why;
}

/// Whoever launched the job says so where the setting `enabled` is off on all ranks: then nobody need be asked.
bool is_off_everywhere() {
    const char* const said = std::getenv("MUTIRAO_LAUNCH");
    return !runtime().settings.enabled && said != nullptr && std::strcmp(said, "off") == 0;
}

// Asked before any communication; equal on all ranks.
std::string obstacle() {
    MPI_Comm parent = MPI_COMM_NULL;
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
    return size_of(MPI_COMM_WORLD) == 1 ? "one rank" : "";
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

void complete_all(std::list<Pending>& some) {
    for (Patience patience; !some.empty(); patience.rest()) {
        some.remove_if(std::mem_fn(&Pending::complete));
    }
}

bool complete(const NetworkView& view) {
    return view.unknown_links == 0 &&
           view.tree.size() + 1 == static_cast<std::size_t>(view.host_count);
}

}  // namespace

// The communicator of this rank alone is made here, without a message: in a later call threads of several ranks, which
// make communicators of their own, could wait for each other. MPI_COMM_SELF keeps the handler that nobody set: with any,
// MPICH would no longer ask that of MPI_COMM_WORLD about errors of no communicator.
Job::Job(double init_ms) : my_rank_(rank_in(MPI_COMM_WORLD)), init_us_(1000 * init_ms) {
    if (PMPI_Comm_create(MPI_COMM_SELF, Group(MPI_COMM_SELF), &quiet_) == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(quiet_, MPI_ERRORS_RETURN);
    } else {
        quiet_ = MPI_COMM_SELF;
    }
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
    } else if (runtime().settings.enabled) {
        publish([made]() -> const Introduction& { return made->introduction(); });
    }
    made->begun_us_ = now_us();
    current_.store(made, std::memory_order_release);
}

// Collective over MPI_COMM_WORLD: who wants calls to wait for each other has MPI_Init wait, too.
void Job::wait_in_init() {
    const Stopwatch stopwatch;
    Introducing introducing(MPI_COMM_WORLD, *this);
    introducing.pending().wait();
    const std::shared_ptr<Peers> all = introducing.take();
    add(all);
    if (all->world().native_reason.empty()) {
        const std::shared_ptr<Twin> twin = make_twin(MPI_COMM_WORLD, all, 0);
        if (twin && runtime().settings.waits_at_start()) {
            wait_for_network(*twin);
        }
    }
    cost_.waited_ms = stopwatch.elapsed_ms() - cost_.twin_ms;
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
    complete_all(adopted_);
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
    const std::lock_guard lock(retired_->whole_mutex_);
    retired_->is_over_ = true;
    if (retired_->whole_) {
        retired_->whole_->stop_measuring();
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

const Introduction& Job::introduction() {
    const std::lock_guard lock(whole_mutex_);
    if (!introduced_) {
        introduced_ = introduce_this_rank(my_rank_);
    }
    return introduced_->said;
}

std::shared_ptr<Peers> Job::whole(const std::vector<Introduction>& all, bool by_launcher) {
    const std::lock_guard lock(whole_mutex_);
    if (!whole_ && !is_over_) {
        whole_ = std::make_shared<Peers>(all_, all, my_rank_, std::move(introduced_->endpoint));
        told_by_launcher_ = by_launcher;
    }
    return whole_;
}

// The agents begin to measure while the program is still in its first call.
void Job::ask_launcher() {
    fetch_modex_ahead([this](const std::vector<Introduction>& all) {
        whole(all, true);
    });
}

bool Job::meets_by_launcher() {
    if (told_by_launcher_) {
        add(whole_);
    }
    return may_be_told();
}

std::shared_ptr<Group> Job::begin_meeting(MPI_Comm comm) {
    const std::lock_guard lock(mutex_);
    std::erase_if(meetings_, [](const auto& each) { return each.expired(); });
    auto begun = std::make_shared<Group>(comm);
    for (const std::weak_ptr<Group>& each : meetings_) {
        if (const std::shared_ptr<Group> other = each.lock(); other && holds(*other, *begun)) {
            return nullptr;
        }
    }
    meetings_.push_back(begun);
    return begun;
}

bool Job::has_room_for_twin() {
    const std::lock_guard lock(mutex_);
    return twins_.size() < most_twins;
}

void Job::add(std::shared_ptr<Peers> peers) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(peers_, peers) != peers_.end()) {
        return;
    }
    peers->say_who();
    std::erase_if(peers_, [&](const auto& each) {  // whom the launcher has not told to all of them
        return each->world().rank_count() == peers->world().rank_count() && holds(each->group(), peers->group());
    });
    if (begun_us_ > 0 && cost_.introduced_ms == 0) {
        cost_.introduced_ms = (peers->met_us() - begun_us_) / 1000;
        cost_.by_launcher = told_by_launcher_;
    }
    peers_.push_back(std::move(peers));
}

void Job::waited_in_call(double ms) {
    const std::lock_guard lock(mutex_);
    cost_.agreed_ms += ms;
}

std::shared_ptr<Twin> Job::make_twin(MPI_Comm comm, const std::shared_ptr<Peers>& peers, std::uint64_t number) {
    const Stopwatch stopwatch;
    std::shared_ptr<Twin> twin = Twin::make(comm, peers, number);
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
    const int here = twin.world().source_host[static_cast<std::size_t>(twin.world().my_host())];
    NetworkSource* const source = twin.source().get();
    Background* const background = source != nullptr ? source->background() : nullptr;
    const auto go_on = [&](Patience& patience) {
        if (background != nullptr) {
            background->progress();
        }
        patience.rest();
    };
    Patience patience;
    std::uint64_t seen = 0;
    while (source != nullptr && now_us() < until_us) {
        if (const auto view = source->newer_than(seen)) {
            seen = view->changes;
            if (complete(*view)) {
                const std::optional<Topology> topology = topology_of(*view, here);
                const bool knows_all =
                    topology && knows_bandwidths(topology->network, discover_sites(topology->network));
                if (background != nullptr || knows_all) {
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
        adopted_.push_back(pending);
        adopted_.back().keep_communicator();
    }
}

// All ranks of the communicator come to where it is freed, and have begun all this before.
void Job::complete_on([[maybe_unused]] MPI_Comm comm) {
#if defined(OPEN_MPI)
    if (carrier() != Carrier::ucx) {
        return;
    }
    std::list<Pending> there;
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
        for (auto next = adopted_.begin(); next != adopted_.end();) {
            if (const auto each = next++; each->comm() == comm) {
                there.splice(there.end(), adopted_, each);
            }
        }
    }
    complete_all(there);
#endif
}

// Without the lock while MPI is asked: a communicator may end in that, and have something to adopt.
void Job::progress() {
    std::list<Pending> asked;
    {
        const std::unique_lock lock(adopted_mutex_, std::try_to_lock);
        if (!lock || adopted_.empty() || asking_ != std::thread::id()) {
            return;
        }
        asked.swap(adopted_);
        asking_ = std::this_thread::get_id();
    }
    asked.remove_if(std::mem_fn(&Pending::complete));
    const std::lock_guard lock(adopted_mutex_);
    adopted_.splice(adopted_.end(), asked);
    asking_ = {};
}

}  // namespace mutirao::mpi
