// `mutirao-agent status | list | dump`: what the agents of this host know.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "agent/daemon/commands.h"
#include "agent/segment.h"
#include "core/text/json.h"
#include "tool/arguments.h"

namespace mutirao::agent {
namespace {

std::string hexadecimal(std::uint64_t number) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    return text;
}

void put_tree(JsonWriter& json, const EdgeList& tree) {
    json.key("tree").begin_array();
    for (const auto& [low, high] : tree)
        json.begin_array().value(low).value(high).end_array();
    json.end_array();
}

void put_matrix(JsonWriter& json, const char* name, const std::vector<double>& matrix,
                int host_count) {
    json.key(name).begin_array();
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        const std::size_t column = i % static_cast<std::size_t>(host_count);
        if (column == 0) json.begin_array();
        json.value(matrix[i]);
        if (column + 1 == static_cast<std::size_t>(host_count)) json.end_array();
    }
    json.end_array();
}

void put_forecast(JsonWriter& json, const char* name, const std::optional<ForecastStatus>& forecast) {
    json.key(name);
    if (!forecast) {
        json.null();
        return;
    }
    json.begin_object()
        .member("value", forecast->value)
        .member("error", forecast->error)
        .member("forecaster", forecast->forecaster)
        .end_object();
}

void put_link(JsonWriter& json, int host, const LinkStatus& link) {
    json.begin_object().member("host", host).member("channel_up", link.channel_up);
    json.member("over_tcp", link.over_tcp);
    json.key("announced_us");
    if (link.announced_us)
        json.value(*link.announced_us);
    else
        json.null();
    put_forecast(json, "latency_us", link.latency_us);
    put_forecast(json, "bandwidth_bytes_per_us", link.bandwidth_bytes_per_us);
    put_forecast(json, "tcp_connect_us", link.connect_us);
    json.key("recent_us").begin_array();
    for (const double value : link.recent_us) json.value(value);
    json.end_array().end_object();
}

void put_status(JsonWriter& json, const Status& status, int self) {
    json.begin_object()
        .member("time_s", status.time_s)
        .member("started_s", status.started_s)
        .member("processor_s", status.processor_s)
        .member("resident_bytes", status.resident_bytes)
        .member("series_stopped", status.series_stopped);
    json.key("links").begin_array();
    for (int host = 0; host < static_cast<int>(status.links.size()); ++host)
        if (host != self) put_link(json, host, status.links[static_cast<std::size_t>(host)]);
    json.end_array().key("events").begin_array();
    for (const EventStatus& event : status.events)
        json.begin_object().member("time_s", event.time_s).member("text", event.text).end_object();
    json.end_array().key("sensors").begin_array();
    for (const SensorStatus& sensor : status.sensors) {
        json.begin_object().member("name", sensor.name).member("value", sensor.value);
        put_forecast(json, "forecast", sensor.forecast);
        json.end_object();
    }
    json.end_array().key("counters").begin_object();
    for (std::size_t i = 0; i < count_names.size(); ++i)
        json.member(count_names[i], status.counters.all()[i]);
    json.end_object().end_object();
}

void put_network(JsonWriter& json, const NetworkView& view) {
    json.begin_object()
        .member("unknown_links", view.unknown_links)
        .member("version", view.version)
        .member("version_hash", hexadecimal(view.version_hash));
    put_tree(json, view.tree);
    put_matrix(json, "latency_us", view.latency_us, view.host_count);
    put_matrix(json, "last_known_us", view.last_known_us, view.host_count);
    put_matrix(json, "bandwidth_bytes_per_us", view.bandwidth_bytes_per_us, view.host_count);
    json.key("host_speeds").begin_array();
    for (const HostSpeed& each : view.host_speeds)
        json.begin_object()
            .member("copy_bytes_per_us", each.copy_bytes_per_us)
            .member("reduce_bytes_per_us", each.reduce_bytes_per_us)
            .member("message_us", each.message_us)
            .end_object();
    json.end_array();
    json.end_object();
}

void put_complete(JsonWriter& json, const Version& version) {
    json.begin_object().member("number", version.number).member("hash", hexadecimal(version.hash));
    put_tree(json, version.tree);
    put_matrix(json, "latency_us", version.latency_us, version.host_count);
    json.end_object();
}

}  // namespace

std::string dump_json(const std::string& name, const ViewReader& reader) {
    JsonWriter json;
    json.begin_object()
        .member("name", name)
        .member("pid", reader.pid())
        .member("alive", !reader.gone())
        .member("self", reader.self())
        .member("host_count", reader.host_count())
        .member("job", hexadecimal(reader.job()))
        .member("changes", reader.changes());
    const auto part = [&json](const char* key, const auto& content, const auto& put) {
        json.key(key);
        if (content)
            put(*content);
        else
            json.null();
    };
    part("network", reader.read(), [&](const NetworkView& view) { put_network(json, view); });
    part("complete", reader.complete(),
         [&](const Version& version) { put_complete(json, version); });
    part("status", reader.status(),
         [&](const Status& status) { put_status(json, status, reader.self()); });
    json.end_object();
    return json.take();
}

namespace {

using tool::Arguments;
using tool::UsageError;

constexpr std::size_t longest_name = 100;

bool take_flag(Words& words, const std::string& flag) {
    return std::erase(words, flag) > 0;
}

/// The only word, or what is usual.
std::string name_from(const Arguments& arguments) {
    if (arguments.positional().size() > 1)
        throw UsageError("unexpected '" + arguments.positional()[1] + "'");
    if (arguments.positional().empty()) return checked_segment_name(std::nullopt);
    return checked_segment_name(arguments.positional().front());
}

ViewReader attach_or_fail(const std::string& name) {
    auto reader = ViewReader::attach(name);
    if (!reader) throw UsageError("no agent has left anything under the name " + name);
    return std::move(*reader);
}

void print_summary(const std::string& name, const ViewReader& reader, std::ostream& out) {
    const auto view = reader.read();
    const auto status = reader.status();
    out << name << ": host " << reader.self() << " of " << reader.host_count() << ", pid "
        << reader.pid();
    if (view) out << ", version " << view->version << ", " << view->tree.size() << " tree links";
    if (view && view->unknown_links > 0) out << ", " << view->unknown_links << " links unknown";
    if (status) {
        const auto up = std::count_if(status->links.begin(), status->links.end(),
                                      [](const LinkStatus& link) { return link.channel_up; });
        out << ", " << up << " channels";
        if (!status->series_stopped.empty()) out << ", series stopped: " << status->series_stopped;
    }
    out << "\n";
}

}  // namespace

std::string checked_segment_name(const std::optional<std::string>& given) {
    if (!given) return daemon_segment_name();
    if (given->empty() || given->size() > longest_name || given->find('/') != given->npos)
        throw UsageError("'" + *given + "' is no name for an agent");
    return full_segment_name(*given);
}

int show_status(const Words& given, std::ostream& out) {
    Words words = given;
    const bool json = take_flag(words, "--json");
    const std::string name = name_from(Arguments(words, {}));
    const auto reader = ViewReader::attach(name);
    const bool alive = reader && !reader->gone();
    if (json) {
        out << (reader ? dump_json(name, *reader)
                       : JsonWriter().begin_object().member("name", name).member("alive", false)
                             .end_object().take())
            << "\n";
    } else if (alive) {
        print_summary(name, *reader, out);
    } else {
        out << name << ": no agent is running\n";
    }
    return alive ? 0 : 1;
}

int list(const Words& given, std::ostream& out) {
    Words words = given;
    const bool json = take_flag(words, "--json");
    if (const Arguments none(words, {}); !none.positional().empty())
        throw UsageError("list: unexpected '" + none.positional().front() + "'");
    JsonWriter writer;
    writer.begin_array();
    for (const FoundSegment& each : list_segments()) {
        writer.begin_object().member("name", each.name).member("alive", each.alive).end_object();
        if (!json) out << each.name << (each.alive ? "" : " (its agent is gone)") << "\n";
    }
    if (json) out << writer.end_array().take() << "\n";
    return 0;
}

int dump(const Words& given, std::ostream& out) {
    Words words = given;
    take_flag(words, "--json");  // what it always is
    const Arguments arguments(words, {"follow"});
    const long long follow_s = arguments.number("follow", 0, 1, 3600);
    const std::string name = name_from(arguments);
    const ViewReader reader = attach_or_fail(name);
    out << dump_json(name, reader) << std::endl;
    while (follow_s > 0 && out && !reader.gone()) {
        std::this_thread::sleep_for(std::chrono::seconds(follow_s));
        out << dump_json(name, reader) << std::endl;
    }
    return 0;
}

}  // namespace mutirao::agent
