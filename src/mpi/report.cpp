#include "mpi/report.h"

#include <cstdio>
#include <cstring>
#include <cerrno>
#include <string>

#include "core/text/json.h"
#include "mpi/runtime.h"

namespace mutirao::mpi {
namespace {

std::string library_version() {
    char text[8192] = {};
    int length = 0;
    PMPI_Get_library_version(text, &length);
    const std::string whole(text);
    return whole.substr(0, whole.find_first_of(",\n"));
}

void put_cost(JsonWriter& json, const SetupCost& cost) {
    json.key("setup_ms").begin_object();
    json.member("attach", cost.attach_ms);
    json.member("hosts", cost.hosts_ms).member("probe", cost.probe_ms);
    json.member("ghs", cost.ghs_ms).member("gather", cost.gather_ms);
    json.member("total", cost.total_ms()).end_object();
    json.member("ghs_messages", cost.ghs_messages);
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

void put_decision(JsonWriter& json, const DecisionRecord& record) {
    json.begin_object().member("collective", "broadcast");
    json.member("first_call", record.first_call);
    json.member("root_host", record.root).member("length_bytes", record.length_bytes);
    json.member("calls", record.calls);
    json.member("chosen", to_string(record.decision.chosen));
    json.member("reason", record.decision.reason);
    json.key("considered").begin_array();
    for (const Evaluated& each : record.decision.considered) {
        json.begin_object().member("candidate", to_string(each.candidate));
        json.member("predicted_us", each.predicted_us).end_object();
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
    json.member("epochs", record.epochs).member("checks", record.checks);
    json.member("waits", record.waits).member("waited_ms", record.waited_ms);
    json.member("adapting_ms", record.adapting_ms).key("check_ms").begin_array();
    for (const double took_ms : record.check_ms) {
        json.value(took_ms);
    }
    json.end_array().key("taken_up").begin_array();
    for (const TakenUp& each : record.taken_up) {
        put_taken_up(json, each);
    }
    json.end_array().end_object();
}

void put_record(JsonWriter& json, const Record& record) {
    json.begin_object().member("name", record.name).member("ranks", record.ranks);
    json.member("hosts", record.hosts);
    json.member("state", record.native ? "native" : "mutirao").member("reason", record.reason);
    put_cost(json, record.cost);
    put_topology(json, record.topology);
    put_adaptation(json, record.adaptation);
    json.key("decisions").begin_array();
    for (const DecisionRecord& decision : record.decisions) {
        put_decision(json, decision);
    }
    json.end_array().end_object();
}

std::string to_json(const Runtime& runtime) {
    JsonWriter json(1);
    json.begin_object().member("mutirao", MUTIRAO_VERSION).member("mpi", library_version());
    json.key("communicators").begin_array();
    for (const auto& record : runtime.records) {
        put_record(json, *record);
    }
    json.end_array().end_object();
    return json.take() + '\n';
}

}  // namespace

void write_report(Runtime& runtime) {
    const std::string& path = runtime.settings.report;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (path.empty() || rank != 0) {
        return;
    }
    const std::lock_guard lock(runtime.mutex);
    const std::string text = to_json(runtime);
    std::FILE* const file = std::fopen(path.c_str(), "w");
    const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = file != nullptr && std::fclose(file) == 0;
    if (!written || !closed) {
        std::fprintf(stderr, "mutirao: cannot write the report %s: %s\n", path.c_str(),
                     std::strerror(errno));
    }
}

}  // namespace mutirao::mpi
