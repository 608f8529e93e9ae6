// `mutirao-agent status | list | dump`: what the agents of this host know.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "agent/daemon/commands.h"
#include "agent/segment.h"
#include "core/text/json.h"
#include "tool/arguments.h"

namespace mutirao::agent {
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
