#include "mpi/decide/docket.h"

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <list>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/system.h"
#include "core/network/sites.h"
#include "core/text/units.h"
#include "mpi/account/report.h"
#include "mpi/base/runtime.h"
#include "mpi/base/waiting.h"
#include "mpi/job/job.h"
#include "profile/profile_store.h"

namespace mutirao::mpi {

std::string nothing_to_choose(const World& ranks) {
    if (ranks.host_count() > 1) return {};
    const Settings& settings = runtime().settings;
    if (!settings.acts_on_one_host(false)) return "one host";
    return settings.acts_on_one_host(ranks.is_crowded(0)) ? "" : "one host, with more ranks than processors";
}

int choose_decider(const Members& members, const World& twin) {
    if (runtime().settings.agent != AgentPlace::in_band) {
        return 0;
    }
    const auto found = std::ranges::find_if(members.twin_rank_of, [&](int rank) { return twin.leads(rank); });
    return found == members.twin_rank_of.end()
               ? 0
               : static_cast<int>(found - members.twin_rank_of.begin());
}

bool reports_times(int rank, int root, int decider, int ranks) {
    constexpr int most_reporters = 32;
    const int stride = (ranks + most_reporters - 1) / most_reporters;
    return rank == root || (rank - decider) % stride == 0;
}

int reporters_among(int ranks, int root, int decider) {
    int count = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        count += reports_times(rank, root, decider, ranks) ? 1 : 0;
    }
    return count;
}

namespace {

/// More classes than this are left to the MPI library; a ruling costs every rank a little memory.
constexpr std::size_t most_cases = 1024;

std::shared_ptr<const Topology> unknown_topology(int hosts) {
    auto topology = std::make_shared<Topology>();
    topology->network = Network(hosts);
    topology->site_of.assign(static_cast<std::size_t>(hosts), 0);
    return topology;
}

/// Something is forced, and nothing that is forced goes over a measured tree.
bool needs_no_network(const Settings& settings) {
    bool some = false;
    for (const std::optional<Candidate>& forced : settings.algorithms) {
        if (forced && forced->algorithm->needs_tree()) {
            return false;
        }
        some = some || forced;
    }
    return some;
}

constexpr std::size_t least_bytes_of_long_messages = 64 * 1024;
/// They may never be known.
constexpr double bandwidths_awaited_us = 4e6;

/// By how much a link changed at most, clearly, by both a share and a time: measurements scatter, and more the busier hosts
/// are. Bandwidths are found out little by little, and scatter by factors: that is no news of a link.
double news_of_links_us(const Network& before, const Network& now) {
    constexpr double least_ratio = 1.2, least_us = 200;
    double most_us = 0;
    for (std::size_t i = 0; i < before.latency_us().size(); ++i) {
        const auto [less_us, more_us] = std::minmax(before.latency_us()[i], now.latency_us()[i]);
        if (more_us > less_us * least_ratio && more_us > less_us + least_us) {
            most_us = std::max(most_us, more_us - less_us);
        }
    }
    return most_us;
}

/// Why another network brought another decision on what was chosen.
std::string what_changed(const Decision& before, const Decision& now) {
    const Candidate& chosen = before.chosen.candidate;
    const auto before_us = before.predicted_us(chosen), now_us = now.predicted_us(chosen);
    if (!before_us || !now_us) return "the network changed; ";
    return "the network changed: " + to_string(chosen) + " predicted " + duration(*now_us) +
           ", before " + duration(*before_us) + "; ";
}

std::string since_start() {
    const Job* const job = Job::current();
    return job == nullptr ? " in MPI_Init" : " " + short_duration(now_us() - job->begun_us()) + " after MPI_Init";
}

}  // namespace

Docket::Docket(Subject subject)
    : subject_(std::move(subject)),
      named_sites_(runtime().settings.sites.empty()
                       ? std::vector<int>{}
                       : named_sites(subject_.ranks.host_names, runtime().settings.sites)),
      decider_(subject_.ledger, subject_.began_us) {
    const World& ranks = subject_.ranks;
    if (subject_.source) {
        lookout_.emplace(subject_.source, ranks.source_host, ranks.source_host[static_cast<std::size_t>(ranks.my_host())],
                         named_sites_, runtime().settings, ranks.sockets);
    }
    route_ = route_without_network(ranks.rank_count());
    if (needs_no_network(runtime().settings)) {
        take_network(unknown_topology(ranks.host_count()), {});
        route_ = route_without_network(ranks.rank_count());
    }
}

void Docket::want(const CallShape& shape, std::uint64_t call) {
    const std::lock_guard lock(mutex_);
    call_ = call;
    if (cases_.size() >= most_cases) {
        return;
    }
    const ShapeClass shapes = subject_of(shape);
    const auto [entry, fresh] = cases_.try_emplace(shapes, Case{shape, std::nullopt, true});
    if (fresh) {
        queue_.push_back(shapes);
    }
}

// Ranks may have called a class before this one does.
void Docket::take_on(const ShapeClass& shapes) {
    const bool watched = runtime().settings.reproducibility == Reproducibility::fast ||
                         !row_of(shapes.collective).reduces;  // a sum may differ in its last bits
    decider_.take_on(shapes, reporters_among(subject_.ranks.rank_count(), shapes.root, subject_.ranks.my_rank), watched);
}

std::vector<Ruling> Docket::take_fresh(std::uint64_t call, const std::vector<Decider::CallsMade>& made) {
    std::vector<Decided> decided;
    std::vector<Ruling> rulings;
    {
        const std::lock_guard lock(mutex_);
        call_ = call;
        rulings = std::exchange(fresh_, {});
        decided = decider_.on_time(now_us(), made);
        for (const Decided& each : decided) {
            if (each.announced) {
                rulings.push_back(each.ruling);
                if (const auto& tree = each.ruling.arm.tree) carry(tree->parent);
                announced_[each.ruling.id] = each;
            }
        }
    }
    for (const Decided& each : decided) {
        if (!each.announced) {
            note(each);
        }
    }
    if (!decided.empty()) {
        note_accounts();
    }
    return rulings;
}

void Docket::carry(const std::vector<int>& parent_of) {
    const World& ranks = subject_.ranks;
    const auto hosts = static_cast<std::size_t>(ranks.host_count());
    const bool is_of_hosts = parent_of.size() == hosts;
    const auto host_at = [&](int place) { return is_of_hosts ? place : ranks.placement->host_of(place); };
    for (std::size_t place = 0; place < parent_of.size() && carrying_.size() < 4 * hosts; ++place) {
        if (parent_of[place] < 0) continue;
        const std::pair link{host_at(parent_of[place]), host_at(static_cast<int>(place))};
        if (link.first != link.second) carrying_.push_back(link);
    }
}

Route Docket::route() {
    const std::lock_guard lock(mutex_);
    return route_;
}

std::optional<double> Docket::farthest_us() {
    const std::lock_guard lock(mutex_);
    return farthest_us_;
}

Investment Docket::investment(const std::vector<Decider::NativeTime>& native) {
    const std::lock_guard lock(mutex_);
    return {.gain_us = decider_.expected_gain_us(native), .before = before_};
}

void Docket::begin_handling() {
    const std::lock_guard lock(mutex_);
    handling_since_us_ = now_us();
}

bool Docket::is_quiet() {
    const std::lock_guard lock(mutex_);
    return queue_.empty() && fresh_.empty() && decider_.quiet();
}

void Docket::look_at_network() {
    if (!lookout_ || frozen_) {
        return;
    }
    {
        std::unique_lock lock(mutex_);
        if (const EdgeList carrying = std::exchange(carrying_, {}); !carrying.empty()) {
            lock.unlock();
            lookout_->note_messages(carrying);
        }
    }
    const auto sighting = lookout_->look();
    if (!sighting) {
        if (holds_back_ && now_us() > known_since_us_ + bandwidths_awaited_us) {
            holds_back_ = false;
            question_all(0);
        }
        return;
    }
    if (!sighting->topology || (!network_ && !sighting->all_known)) {
        return;
    }
    if (!network_) {
        known_since_us_ = now_us();
    }
    const double news_us =
        network_ ? news_of_links_us(network_->between_hosts(), sighting->topology->network) : 0;
    take_network(sighting->topology, sighting->memory);
    if (runtime().profile && runtime().settings.holds_trials()) {
        constexpr double least_share_of_farthest = 0.1;  // else it may be load
        read_profile(news_us > least_share_of_farthest * *farthest_us_);
    }
    question_all(news_us);
}

void Docket::take_network(std::shared_ptr<const Topology> newest, const MemoryCosts& memory) {
    {
        const std::lock_guard record_lock(subject_.record->mutex);
        take_up(*subject_.record, call_, newest);
        if (newest->complete()) {
            say(3, title_of(*subject_.record) + ": network " +
                       (network_ && network_->topology().complete() ? "changed" : "known") + since_start());
        }
    }
    Route route = quickest_route(newest->network, subject_.ranks.my_host());
    network_ = std::make_shared<const RankNetwork>(std::move(newest), subject_.ranks.placement, memory);
    frozen_ = runtime().settings.adaptation.mode == Adaptation::Mode::off && lookout_;
    const std::vector<double>& latency_us = network_->between_hosts().latency_us();
    const std::lock_guard lock(mutex_);
    route_ = std::move(route);
    carry(route_.parent_of_host);
    farthest_us_ = *std::max_element(latency_us.begin(), latency_us.end());
}

void Docket::question_all(double news_us) {
    const std::lock_guard lock(mutex_);
    for (auto& [shapes, each] : cases_) {
        each.news_us = std::max(each.news_us, news_us);
        if (!each.waiting) {
            each.waiting = true;
            queue_.push_back(shapes);
        }
    }
}

// A forced algorithm is ruled for all lengths at once, so that ranks whose lengths differ, an error of
// the program, still run the same one and learn of it.
ShapeClass Docket::subject_of(const CallShape& shape) const {
    ShapeClass shapes = class_of(shape);
    if (runtime().settings.forced(shape.collective)) {
        shapes.length_class = any_length;
    }
    return shapes;
}

/// What is forced, or decided while calls wait, is not tried.
bool Docket::probes(Collective collective) const {
    return runtime().settings.holds_trials() && !runtime().settings.forced(collective) &&
           runtime().settings.adaptation.mode != Adaptation::Mode::synchronous;
}

// Until agents are through with that, what is best for long messages is what the next measurement overturns.
bool Docket::waits_for_bandwidths(const CallShape& shape) const {
    return shape.length_bytes >= least_bytes_of_long_messages &&
           now_us() <= known_since_us_ + bandwidths_awaited_us &&
           !knows_bandwidths(network_->between_hosts(), network_->topology().site_of);
}

// With the work's lock held, and without the other: deciding takes time.
Docket::Deliberated Docket::deliberate(const Case& each, const std::optional<Arm>& present) const {
    Deliberated about{each};
    about.of_class.waiting = false;
    const bool tried = probes(each.shape.collective);
    const std::optional<Arm> predicted = each.decision ? std::optional(each.decision->chosen) : std::nullopt;
    Decision made = mutirao::decide(each.shape, network_, runtime().settings, tried ? present : predicted);
    if (!tried) {
        about.ruling = decide_by_prediction(about.of_class, std::move(made));
        return about;
    }
    recall(about);
    about.of_class.decision = made;
    const bool knows_a_way = about.preferred && !about.preferred->native();
    if (!knows_a_way && waits_for_bandwidths(each.shape)) {
        about.held_back = true;
        return about;
    }
    about.outlook = outlook_for(each.shape, made, network_, runtime().settings, present, about.preferred);
    about.outlook.news_us = std::exchange(about.of_class.news_us, 0);
    made.chosen.tree.reset();  // as long as there are hosts, and among the arms
    about.of_class.decision = std::move(made);
    return about;
}

std::optional<Ruling> Docket::decide_by_prediction(Case& each, Decision made) const {
    const bool alike = each.decision ? each.decision->chosen == made.chosen : made.chosen.candidate.native();
    if (each.decision && !alike) {
        each.cause = what_changed(*each.decision, made);
    }
    each.decision = std::move(made);
    if (alike) {
        return std::nullopt;
    }
    return Ruling{subject_of(each.shape), each.decision->chosen};
}

// Beside the program; again only on another network.
void Docket::read_profile(bool news) {
    const std::vector<double>& now_us = network_->between_hosts().latency_us();
    if (news || calm_us_.empty()) {
        calm_us_ = now_us;
    }
    std::ranges::transform(calm_us_, now_us, calm_us_.begin(), [](double a, double b) { return std::min(a, b); });
    const Network calm(network_->between_hosts().host_count(), calm_us_);
    Fabric here = describe_fabric(calm, profile::processor(), profile::transport());
    if (fabric_ && !difference(here, *fabric_)) {
        return;
    }
    profile::ProfileStore::Answer answer = runtime().profile->rows_for(here, subject_.mpi_library);
    rows_ = std::move(answer.rows);
    {
        const Ranks ranks = ranks_of(*subject_.ranks.placement);
        const std::lock_guard lock(mutex_);
        fabric_ = std::move(here);
        before_.reset();
        for (ProgramRun& run : answer.runs) {
            if (run.ranks == ranks) {
                before_ = std::move(run);
            }
        }
    }
    const std::lock_guard lock(subject_.record->mutex);
    subject_.record->profile = rows_.empty() ? std::move(answer.why_none)
                                             : std::to_string(rows_.size()) + " times of this network";
}

// What an earlier job measured.
void Docket::recall(Deliberated& about) const {
    if (rows_.empty()) {
        return;
    }
    const auto known = remembered(rows_, known_to_all(about.of_class.shape), ranks_of(network_->placement()));
    for (const Remembered& one : known) {
        about.remembered.push_back({one.row.candidate, one.row.time_us, one.row.windows});
    }
    const Remembered* const best = preferred(known);
    if (best != nullptr && !best->interpolated) {
        about.preferred = best->row.candidate;
    }
}

void Docket::hear(const TimeReport& report) {
    const std::lock_guard lock(mutex_);
    take_on(report.shapes);
    decider_.on_report(report);
}

// Queued only: the file is written beside the program, or at its end.
void Docket::end(const std::vector<Decider::CallsMade>& made, double ran_us) {
    {
        const std::lock_guard lock(mutex_);
        decider_.on_time(now_us(), made);
    }
    note_accounts();
    const std::lock_guard lock(mutex_);
    if (runtime().profile && fabric_) {
        const auto now_s = static_cast<double>(std::time(nullptr));
        runtime().profile->remember(*fabric_, subject_.mpi_library, rows_learned(now_s), run_of(ran_us, now_s));
    }
}

std::vector<ProfileRow> Docket::rows_learned(double now_s) const {
    std::vector<ProfileRow> rows;
    for (const auto& [shapes, each] : cases_) {
        const ClassChoice* const choice = decider_.find(shapes);
        for (const Measured& one : choice != nullptr ? choice->measured() : std::vector<Measured>{}) {
            rows.push_back(learned_row(known_to_all(each.shape), ranks_of(*subject_.ranks.placement), one.candidate,
                                       one.time_us, one.samples, now_s));
        }
    }
    return rows;
}

// That nothing was won says something only of a run that was handled for long enough.
ProgramRun Docket::run_of(double ran_us, double now_s) const {
    constexpr double least_share_handled = 0.5;
    const double handled_us = handling_since_us_ ? now_us() - *handling_since_us_ : 0;
    const std::optional<double> saved_share = decider_.saved_share();
    const bool says_something = saved_share > 0.0 ? handled_us > 0 : handled_us > least_share_handled * ran_us;
    ProgramRun run = native_run(ran_us, decider_.account(), says_something ? saved_share : std::nullopt);
    run.program = profile::program();
    run.ranks = ranks_of(*subject_.ranks.placement);
    run.measured_s = now_s;
    return run;
}

void Docket::note_accounts() {
    const std::lock_guard record_lock(subject_.record->mutex);
    const std::lock_guard lock(mutex_);
    for (auto& [shapes, of_class] : subject_.record->classes) {
        if (const ClassChoice* const choice = decider_.find(shapes)) {
            of_class.account = choice->account();
            if (RulingRecord* const last = last_choice(of_class)) {
                last->measured = choice->measured();
            }
        }
    }
}

void Docket::note(const Decided& settled) {
    const std::lock_guard lock(subject_.record->mutex);
    const auto row = subject_.record->classes.find(settled.ruling.shapes);
    RulingRecord* const last = row == subject_.record->classes.end() ? nullptr : last_choice(row->second);
    if (last != nullptr) {
        last->settled = true;
        last->reason = settled.reason;
        last->measured = settled.measured;
    }
}

std::optional<Arm> Docket::incumbent(const ShapeClass& shapes) const {
    const ClassChoice* const choice = decider_.find(shapes);
    const Arm* const arm = choice == nullptr ? nullptr : choice->incumbent();
    return arm == nullptr ? std::nullopt : std::optional(*arm);
}

// For the report: that is no ruling, since calls without one run natively anyway. What is to be tried is not
// settled by that.
void Docket::note(const ShapeClass& shapes, Decision& decision) {
    const bool tried = probes(shapes.collective);
    std::vector<Evaluated> considered = tried ? std::exchange(decision.considered, {}) : decision.considered;
    const std::lock_guard lock(subject_.record->mutex);
    const auto row = subject_.record->classes.find(shapes);
    if (row == subject_.record->classes.end()) {
        return;
    }
    if (!row->second.native_choice && !tried) {
        say(2, title_of(*subject_.record) + ": " + name_of(*subject_.record, shapes) + " stays native (" +
                   decision.reason + ")");
    }
    RulingRecord& choice = row->second.native_choice.emplace();
    choice.first_call = call_;
    choice.chosen = to_string(native_candidate(shapes.collective));
    choice.settled = !tried || considered.size() <= 1;
    choice.reason = decision.reason;
    choice.bound_us = decision.bound_us;
    choice.considered = std::move(considered);
}

bool Docket::work() {
    const std::lock_guard work_lock(work_mutex_);
    look_at_network();
    if (!network_) {
        return false;
    }
    Case now;
    ShapeClass shapes;
    std::optional<Arm> present;
    {
        const std::lock_guard lock(mutex_);
        if (queue_.empty()) {
            return false;
        }
        shapes = queue_.front();
        queue_.pop_front();
        now = cases_.at(shapes);
        present = incumbent(shapes);
    }
    Deliberated about = deliberate(now, present);
    if (about.of_class.decision->chosen.candidate.native() || probes(shapes.collective)) {
        note(shapes, *about.of_class.decision);
    }
    const std::lock_guard lock(mutex_);
    cases_.at(shapes) = std::move(about.of_class);
    if (about.ruling) {
        fresh_.push_back(std::move(*about.ruling));
    }
    holds_back_ = holds_back_ || about.held_back;
    take_on(shapes);
    decider_.on_outlook(shapes, std::move(about.outlook), about.remembered, about.preferred);
    return true;
}

Ruling Docket::decide_now(const CallShape& shape, std::uint64_t call) {
    const std::lock_guard work_lock(work_mutex_);
    look_at_network();
    const ShapeClass shapes = subject_of(shape);
    Deliberated about{{shape, std::nullopt, false}};
    if (network_) {
        about = deliberate(about.of_class, {});
    }
    const std::lock_guard lock(mutex_);
    call_ = call;
    std::erase(queue_, shapes);
    cases_[shapes] = std::move(about.of_class);
    return about.ruling ? std::move(*about.ruling)
                        : Ruling{shapes, {native_candidate(shape.collective)}};
}

std::vector<Ruling> Docket::use(Topology topology, std::uint64_t call) {
    const std::lock_guard work_lock(work_mutex_);
    call_ = call;
    const Topology* const before = network_ ? &network_->topology() : nullptr;
    std::vector<int> site_of = !named_sites_.empty()
                                   ? named_sites_
                                   : discover_sites(topology.network, before ? before->site_of : std::vector<int>{});
    complete_network(topology, runtime().settings, subject_.ranks.sockets, std::move(site_of), before);
    take_network(std::make_shared<const Topology>(std::move(topology)), {});
    std::vector<Ruling> rulings;
    for (auto& [shapes, each] : cases_) {
        Deliberated about = deliberate(each, {});
        each = std::move(about.of_class);
        if (about.ruling) {
            rulings.push_back(std::move(*about.ruling));
        }
    }
    return rulings;
}

void Docket::explain(const Ruling& ruling, RulingRecord& record) {
    {
        const std::lock_guard record_lock(subject_.record->mutex);
        const auto row = subject_.record->classes.find(ruling.shapes);
        if (row != subject_.record->classes.end() && row->second.native_choice) {
            record.considered = row->second.native_choice->considered;
        }
    }
    const std::lock_guard lock(mutex_);
    const auto found = cases_.find(ruling.shapes);
    if (found == cases_.end() || !found->second.decision) {
        record.reason = "the network is not known";
        return;
    }
    const Case& of_class = found->second;
    record.bound_us = of_class.decision->bound_us;
    if (!probes(ruling.shapes.collective)) {
        record.considered = of_class.decision->considered;
    }
    const auto announced = announced_.extract(ruling.id);
    if (announced.empty()) {
        record.reason = of_class.cause + of_class.decision->reason;
        return;
    }
    record.settled = false;
    record.reason = announced.mapped().reason;
    record.measured = announced.mapped().measured;
}

namespace {

/// News of the network are seen so soon, at the cost of one load for each docket.
constexpr std::chrono::milliseconds look_period{20};
constexpr std::chrono::seconds between_requests{1};

class Worker {
  public:
    Worker() {
        try {
            const agent::AllSignalsBlocked blocked;
            thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
        } catch (const std::system_error&) {
            // None to be had: the deciders do without.
        }
    }

    /// Waits until it has ended.
    void stop() { thread_ = {}; }

    /// False: there is no thread.
    bool add(const std::shared_ptr<Docket>& docket) {
        const std::lock_guard lock(mutex_);
        if (thread_.joinable()) dockets_.push_back(docket);
        return thread_.joinable();
    }
    void wake() {
        const std::lock_guard lock(mutex_);
        woken_ = true;
        something_.notify_one();
    }

  private:
    void run(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (!stop.stop_requested()) {
            something_.wait_for(lock, stop, look_period, [this] { return std::exchange(woken_, false); });
            const auto dockets = dockets_;
            lock.unlock();
            for (const auto& each : dockets) {
                as_memory_allows([&] { work_off(each, stop); });
            }
            if (std::chrono::steady_clock::now() >= next_request_) {
                as_memory_allows(answer_request);
                next_request_ = std::chrono::steady_clock::now() + between_requests;
            }
            lock.lock();
            dockets_.remove_if([](const auto& each) { return each.expired(); });
        }
    }

    /// What cannot be decided is left to the MPI library, and whoever asked for a report asks again.
    static void as_memory_allows(const auto& work) {
        try {
            work();
        } catch (const std::bad_alloc&) {
        }
    }

    static void work_off(const std::weak_ptr<Docket>& docket, const std::stop_token& stop) {
        const auto held = docket.lock();
        while (held && held.use_count() > 1 && !stop.stop_requested() && held->work()) {
        }
    }

    std::mutex mutex_;
    std::condition_variable_any something_;
    bool woken_ = false;
    std::list<std::weak_ptr<Docket>> dockets_;
    std::chrono::steady_clock::time_point next_request_{};
    std::jthread thread_;
};

std::mutex only_mutex;
std::shared_ptr<Worker>& only() {
    static auto* const worker = new std::shared_ptr<Worker>;
    return *worker;
}

}  // namespace

bool DecidingThread::take_on(const std::shared_ptr<Docket>& docket) {
    const std::lock_guard lock(only_mutex);
    if (!only()) {
        only() = std::make_shared<Worker>();
    }
    return only()->add(docket);
}

void DecidingThread::wake() {
    const std::lock_guard lock(only_mutex);
    if (only()) {
        only()->wake();
    }
}

void DecidingThread::end(std::chrono::milliseconds patience) {
    std::shared_ptr<Worker> worker;
    {
        const std::lock_guard lock(only_mutex);
        worker = std::exchange(only(), nullptr);
    }
    if (worker) {
        wait_at_most(patience, [worker] { worker->stop(); });
    }
}

}  // namespace mutirao::mpi
