#include "mpi/account/report.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <list>
#include <memory>
#include <mutex>

#include "core/text/json.h"
#include "mpi/base/environment.h"
#include "mpi/job/job.h"

namespace mutirao::mpi {
namespace {

/// As far as it says which program this was.
std::string command_line() {
    constexpr std::size_t most_characters = 200;
    std::ifstream file("/proc/self/cmdline");
    std::string words;
    for (std::string word; std::getline(file, word, '\0');) words += (words.empty() ? "" : " ") + word;
    return words.size() > most_characters ? words.substr(0, most_characters) + "..." : words;
}

/// "2026-11-23T04:12:50Z".
std::string now_as_text() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    char text[32] = {};
    std::strftime(text, sizeof text, "%FT%TZ", gmtime_r(&now, &parts));
    return text;
}

void put_start(JsonWriter& json, const Job* job) {
    json.key("start").begin_object();
    json.member("native_reason", job == nullptr ? Job::why_native() : std::string());
    if (job != nullptr) {
        const StartCost& cost = job->start_cost();
        json.member("twin_ms", cost.twin_ms).member("waited_ms", cost.waited_ms);
        json.member("agreed_ms", cost.agreed_ms).member("finalize_ms", cost.finalize_ms);
        json.member("introduced_ms", cost.introduced_ms).member("by_launcher", cost.by_launcher);
    }
    json.end_object();
}

void put_topology(JsonWriter& json, const Topology& topology) {
    json.member("sites", topology.site_of).member("bbr", topology.network.transport.bbr);
    json.member("tree", topology.spanning_tree);
    const auto hosts = static_cast<std::size_t>(topology.network.host_count());
    json.matrix("latency_us", topology.network.latency_us(), hosts);
}

// What one call of each took, the mean of the ranks or the slowest one's (ClassChoice): the median of the latest
// samples, and its interval.
void put_measured(JsonWriter& json, const std::vector<Measured>& measured) {
    json.list("measured", measured, [&](const Measured& each) {
        json.begin_object().member("candidate", to_string(each.candidate));
        json.member("median_us", each.time_us.median).member("low_us", each.time_us.low);
        json.member("high_us", each.time_us.high).member("samples", each.samples).end_object();
    });
}

void put_ruling(JsonWriter& json, const RulingRecord& ruling) {
    json.begin_object().member("first_call", ruling.first_call);
    json.member("calls", as_of_now(ruling.calls)).member("chosen", ruling.chosen);
    json.member("probe_calls", as_of_now(ruling.probe_calls)).member("settled", ruling.settled);
    json.member("reason", ruling.reason).member("bound_us", ruling.bound_us);
    json.list("considered", ruling.considered, [&](const Evaluated& each) {
        json.begin_object().member("candidate", to_string(each.candidate));
        json.member("predicted_us", each.predicted_us).end_object();
    });
    put_measured(json, ruling.measured);
    json.member("tree", ruling.tree).end_object();
}

/// In microseconds on each rank.
void put_account(JsonWriter& json, const Account& account) {
    json.begin_object().member("took_us", account.took_us);
    json.member("saved_us", account.saved_us).member("error_us", account.error_us);
    json.member("probes_us", account.probes_us).member("unknown_calls", account.unknown_calls).end_object();
}

void put_class(JsonWriter& json, const ShapeClass& shapes, const ClassRecord& record) {
    json.begin_object();
    json.member("collective", to_string(shapes.collective)).member("root", shapes.root).key("length_bytes");
    shapes.length_class == any_length ? json.null() : json.value(record.length_bytes);
    json.member("commutes", shapes.commutes).member("first_call", record.first_call);
    json.member("native_calls", as_of_now(record.native_calls));
    json.member("forgotten_rulings", record.forgotten_rulings).member("forgotten_calls", record.forgotten_calls);
    json.optional("account", record.account, [&](const Account& account) { put_account(json, account); });
    json.optional("native_choice", record.native_choice, [&](const RulingRecord& each) { put_ruling(json, each); });
    json.list("rulings", record.rulings, [&](const RulingRecord& each) { put_ruling(json, each); }).end_object();
}

void put_taken_up(JsonWriter& json, const TakenUp& taken) {
    json.begin_object().member("call", taken.call).member("links", taken.links);
    json.member("new_tree", taken.new_tree);
    json.list("shown", taken.shown, [&](const TakenUp::Link& link) {
        json.begin_object().member("low", link.low).member("high", link.high);
        json.member("before_us", link.before_us).member("after_us", link.after_us).end_object();
    });
    json.end_object();
}

void put_adaptation(JsonWriter& json, const AdaptationRecord& record) {
    json.key("adaptation").begin_object().member("mode", record.mode);
    json.member("epochs", record.epochs).member("horizon_calls", record.horizon_calls);
    json.member("waits", record.waits).member("waited_ms", record.waited_ms);
    json.member("early_waits", record.early_waits);
    json.member("early_waited_ms", record.early_waited_ms);
    json.member("checks", record.checks).member("adapting_ms", record.adapting_ms);
    json.member("check_ms", record.check_ms);
    json.list("taken_up", record.taken_up, [&](const TakenUp& each) { put_taken_up(json, each); }).end_object();
}

/// While the program runs a communicator tells its calls now and then only; those that are told apart at once.
std::uint64_t calls_of(const Record& record) {
    std::uint64_t calls = as_of_now(record.other_classes.native_calls);
    for (const auto& [shapes, of_class] : record.classes) {
        calls += as_of_now(of_class.native_calls) + own_calls(of_class);
    }
    return std::max(as_of_now(record.calls), calls);
}

void put_head(JsonWriter& json, const Record& record) {
    json.member("name", record.name).member("ranks", record.ranks);
    json.member("hosts", record.hosts).member("calls", calls_of(record));
    json.member("host_names", record.host_names);
    const char* const state = record.native ? "native" : record.ruled ? "mutirao" : "not yet";
    json.member("state", state).member("reason", record.reason).member("profile", record.profile);
    if (record.first_ruled_call) {
        json.member("first_ruled_call", *record.first_ruled_call);
        json.member("first_ruled_ms", record.first_ruled_ms);
    }
    put_adaptation(json, record.adaptation);
}

// With the lock for one class at a time: a call may wait for it.
void put_classes(JsonWriter& json, Record& record) {
    json.key("classes").begin_array();
    for (std::optional<ShapeClass> last;;) {
        const std::lock_guard lock(record.mutex);
        const auto next =
            last ? record.classes.upper_bound(*last) : record.classes.begin();
        if (next == record.classes.end()) {
            break;
        }
        put_class(json, next->first, next->second);
        last = next->first;
    }
    json.end_array();
}

void put_changes(JsonWriter& json, Record& record) {
    std::vector<ChoiceChange> changes;
    {
        const std::lock_guard lock(record.mutex);
        changes = record.changes;
        json.member("forgotten_changes", record.forgotten_changes);
    }
    json.list("changes", changes, [&](const ChoiceChange& change) {
        json.begin_object().member("collective", to_string(change.collective)).member("call", change.call);
        json.member("to", change.to).member("probe_calls", change.probe_calls);
        json.member("lead_calls", change.lead_calls).end_object();
    });
}

void put_record(JsonWriter& json, Record& record) {
    std::shared_ptr<const Topology> topology;
    json.begin_object();
    {
        const std::lock_guard lock(record.mutex);
        put_head(json, record);
        topology = record.topology;
    }
    put_topology(json, topology ? *topology : Topology{});
    put_classes(json, record);
    put_changes(json, record);
    json.end_object();
}

void put_total(JsonWriter& json, const Total& total) {
    const Sums& sums = total.sums;
    json.member("forgotten_communicators", sums.forgotten_communicators);
    json.key("total").begin_object().member("calls", sums.calls).member("own_calls", sums.own_calls);
    json.member("probe_calls", sums.probe_calls).member("waited_us", total.waited_us());
    json.key("account");
    put_account(json, sums.account);
    json.member("net_us", total.net_us).member("error_us", total.error_us).member("faster", total.faster());
    json.member("line", total.what_ran).end_object();
}

}  // namespace

std::string report_json(const Job* job, bool running) {
    JsonWriter json(1);
    json.begin_object().member("mutirao", MUTIRAO_VERSION).member("mpi", library_version());
    json.member("running", running).member("program", command_line()).member("written", now_as_text());
    put_start(json, job);
    std::list<std::shared_ptr<Record>> kept;
    {
        const std::lock_guard lock(records().mutex);
        kept = records().kept;
    }
    if (job != nullptr) {
        put_total(json, total_of(*job));
    }
    json.list("communicators", kept, [&](const auto& record) { put_record(json, *record); }).end_object();
    return json.take() + '\n';
}

}  // namespace mutirao::mpi
