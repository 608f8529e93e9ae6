#include "mpi/report.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/text/json.h"
#include "mpi/interpose/launch_rank.h"
#include "mpi/job/job.h"
#include "mpi/runtime.h"

namespace mutirao::mpi {
namespace {

void put_start(JsonWriter& json, const Job* job) {
    json.key("start").begin_object();
    json.member("native_reason", job == nullptr ? Job::why_native() : std::string());
    if (job != nullptr) {
        const StartCost& cost = job->start_cost();
        json.member("twin_ms", cost.twin_ms).member("waited_ms", cost.waited_ms);
        json.member("introduced_ms", cost.introduced_ms);
    }
    json.end_object();
}

void put_topology(JsonWriter& json, const Topology& topology) {
    const int hosts = topology.network.host_count();
    json.key("sites").begin_array();
    for (const int site : topology.site_of) {
        json.value(site);
    }
    json.end_array().key("tree").begin_array();
    for (const auto& [low, high] : topology.spanning_tree) {
        json.begin_array().value(low).value(high).end_array();
    }
    json.end_array().key("latency_us").begin_array();
    for (int from = 0; from < hosts; ++from) {
        json.begin_array();
        for (int to = 0; to < hosts; ++to) {
            json.value(topology.network.link(from, to).latency_us);
        }
        json.end_array();
    }
    json.end_array();
}

// What decisions are made with, beside latencies; what nobody has measured is assumed.
void put_costs(JsonWriter& json, const Topology& topology, const MemoryCosts& memory) {
    const Network& network = topology.network;
    const int hosts = network.host_count();
    int limited = 0;
    double least = 0;
    double most = 0;
    for (int low = 0; low < hosts; ++low) {
        for (int high = low + 1; high < hosts; ++high) {
            const double bandwidth = network.link(low, high).bandwidth_bytes_per_us;
            if (std::isfinite(bandwidth)) {
                least = limited == 0 ? bandwidth : std::min(least, bandwidth);
                most = std::max(most, bandwidth);
                ++limited;
            }
        }
    }
    json.key("costs").begin_object().member("links", hosts * (hosts - 1) / 2);
    json.member("links_with_bandwidth", limited).member("least_bytes_per_us", least);
    json.member("most_bytes_per_us", most).member("memory_measured", memory.measured);
    json.member("copy_bytes_per_us", memory.copy_bytes_per_us);
    json.member("reduce_bytes_per_us", memory.reduce_bytes_per_us);
    json.member("message_measured", memory.message_measured);
    json.member("message_latency_us", memory.message_latency_us);
    json.member("message_overhead_us", memory.message_overhead_us);
    if (hosts > 0) {
        const HostCosts& costs = network.host(0);
        json.member("send_overhead_us", costs.send_overhead_us);
        json.member("receive_overhead_us", costs.receive_overhead_us);
        json.member("port_bytes_per_us", costs.port_bytes_per_us);
    }
    json.end_object();
}

// What one call of each took, the mean of the ranks: the median of all windows, and its interval.
void put_measured(JsonWriter& json, const std::vector<Measured>& measured) {
    json.key("measured").begin_array();
    for (const Measured& each : measured) {
        json.begin_object().member("candidate", to_string(each.candidate));
        json.member("median_us", each.time_us.median).member("low_us", each.time_us.low);
        json.member("high_us", each.time_us.high).member("windows", each.windows).end_object();
    }
    json.end_array();
}

void put_ruling(JsonWriter& json, const RulingRecord& ruling) {
    json.begin_object().member("first_call", ruling.first_call);
    json.member("calls", ruling.calls).member("chosen", ruling.chosen);
    json.member("settled", ruling.settled);
    json.member("reason", ruling.reason);
    if (ruling.bound_us) {
        json.member("bound_us", *ruling.bound_us);
    }
    json.key("considered").begin_array();
    for (const Evaluated& each : ruling.considered) {
        json.begin_object().member("candidate", to_string(each.candidate));
        json.member("predicted_us", each.predicted_us).end_object();
    }
    json.end_array();
    if (!ruling.measured.empty()) {
        put_measured(json, ruling.measured);
    }
    json.end_object();
}

void put_class(JsonWriter& json, const ClassRecord& record) {
    json.begin_object().member("collective", to_string(record.shapes.collective));
    json.member("root", record.shapes.root);
    if (record.shapes.length_class == any_length) {
        json.key("length_bytes").null();
    } else {
        json.member("length_bytes", record.length_bytes);
    }
    if (!record.shapes.commutes) {
        json.member("commutes", false);
    }
    json.member("first_call", record.first_call).member("native_calls", record.native_calls);
    if (record.native_choice) {
        json.key("native_choice");
        put_ruling(json, *record.native_choice);
    }
    json.key("rulings").begin_array();
    for (const RulingRecord& ruling : record.rulings) {
        put_ruling(json, ruling);
    }
    json.end_array().end_object();
}

void put_taken_up(JsonWriter& json, const TakenUp& taken) {
    json.begin_object().member("call", taken.call).member("links", taken.links);
    json.member("new_tree", taken.new_tree).key("shown").begin_array();
    for (const TakenUp::Link& link : taken.shown) {
        json.begin_object().member("low", link.low).member("high", link.high);
        json.member("before_us", link.before_us).member("after_us", link.after_us).end_object();
    }
    json.end_array().end_object();
}

void put_adaptation(JsonWriter& json, const AdaptationRecord& record) {
    json.key("adaptation").begin_object().member("mode", record.mode);
    json.member("epochs", record.epochs);
    if (record.horizon_calls) {
        json.member("horizon_calls", *record.horizon_calls);
    }
    json.member("waits", record.waits).member("waited_ms", record.waited_ms);
    json.member("early_waits", record.early_waits);
    json.member("early_waited_ms", record.early_waited_ms);
    json.member("checks", record.checks).member("adapting_ms", record.adapting_ms);
    json.member("ghs_messages", record.ghs_messages).key("check_ms").begin_array();
    for (const double took_ms : record.check_ms) {
        json.value(took_ms);
    }
    json.end_array().key("taken_up").begin_array();
    for (const TakenUp& each : record.taken_up) {
        put_taken_up(json, each);
    }
    json.end_array().end_object();
}

void put_record(JsonWriter& json, Record& record) {
    const std::lock_guard lock(record.mutex);
    json.begin_object().member("name", record.name).member("ranks", record.ranks);
    json.member("hosts", record.hosts).member("calls", record.calls);
    const char* const state = record.native ? "native" : record.ruled ? "mutirao" : "not yet";
    json.member("state", state).member("reason", record.reason);
    if (!record.profile.empty()) {
        json.member("profile", record.profile);
    }
    if (record.first_ruled_call) {
        json.member("first_ruled_call", *record.first_ruled_call);
        json.member("first_ruled_ms", record.first_ruled_ms);
    }
    const Topology topology = record.topology ? *record.topology : Topology{};
    put_topology(json, topology);
    put_costs(json, topology, record.memory);
    put_adaptation(json, record.adaptation);
    json.key("classes").begin_array();
    for (const auto& [shapes, each] : record.classes) {
        put_class(json, each);
    }
    json.end_array();
    json.member("other_native_calls", record.other_classes.native_calls).end_object();
}

std::string to_json(const Runtime* runtime, const Job* job) {
    JsonWriter json(1);
    json.begin_object().member("mutirao", MUTIRAO_VERSION).member("mpi", library_version());
    put_start(json, job);
    json.member("forgotten_communicators", runtime ? runtime->forgotten_records : 0);
    json.key("communicators").begin_array();
    if (runtime != nullptr) {
        for (const auto& record : runtime->records) {
            put_record(json, *record);
        }
    }
    json.end_array().end_object();
    return json.take() + '\n';
}

void write_to(const std::string& path, const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    const bool written =
        file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = file != nullptr && std::fclose(file) == 0;
    if (!written || !closed) {
        std::fprintf(stderr, "mutirao: cannot write the report %s: %s\n", path.c_str(),
                     std::strerror(errno));
    }
}

// At the end of a process without MPI_Init; its launcher knows its rank.
void write_without_job() {
    write_to(settings_of_environment().report, to_json(nullptr, nullptr));
}

std::atomic<bool> written{false};

}  // namespace

std::string library_version() {
    char text[8192] = {};
    int length = 0;
    PMPI_Get_library_version(text, &length);
    const std::string whole(text);
    return whole.substr(0, whole.find_first_of(",\n"));
}

void write_report(Runtime& runtime, const Job* job) {
    const std::string& path = runtime.settings.report;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (path.empty() || rank != 0 || written.exchange(true)) {
        return;
    }
    const std::lock_guard lock(runtime.mutex);
    write_to(path, to_json(&runtime, job));
}

void note_native_call() {
    static std::atomic<bool> noted{false};
    if (noted.load(std::memory_order_relaxed) || noted.exchange(true)) {
        return;
    }
    int initialised = 0;
    PMPI_Initialized(&initialised);
    if (initialised == 0 && !settings_of_environment().report.empty() && speaks_for_job()) {
        std::atexit(write_without_job);
    }
}

}  // namespace mutirao::mpi
