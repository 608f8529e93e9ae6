#include "agent/daemon/commands.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <fstream>
#include <limits>
#include <span>

#include "agent/agent.h"
#include "agent/rendezvous.h"
#include "agent/segment.h"
#include "core/spanning_tree/rounds_message.h"
#include "core/text/bytes.h"
#include "core/text/json.h"
#include "core/text/numbers.h"

namespace mutirao::agent {

using tool::Arguments;
using tool::Failure;
using tool::UsageError;

// `mutirao-agent run`: an agent in the foreground until a signal ends it.

std::uint64_t id_of(const std::vector<HostLine>& hosts) {
    std::string text;
    for (const HostLine& line : hosts) text += line.host + " " + std::to_string(line.port) + "\n";
    return fnv1a(std::as_bytes(std::span(text)));
}

std::vector<HostLine> read_host_file(std::istream& input, const std::string& name) {
    std::vector<HostLine> hosts;
    tool::read_lines(input, name, [&](const Words& words) {
        HostLine host{words[0]};
        if (words.size() > 1) host.port = number_in<std::uint16_t>(words[1]).value_or(0);
        if (host.port == 0) throw UsageError("port '" + words[1] + "' is not in 1..65535");
        if (words.size() > 2) throw UsageError("'" + words[2] + "' after the port");
        if (std::ranges::find(hosts, host) != hosts.end())
            throw UsageError(host.host + " " + std::to_string(host.port) + " stands here twice");
        hosts.push_back(std::move(host));
    });
    if (hosts.size() < 2) throw UsageError(name + ": fewer than two hosts");
    if (hosts.size() > rounds::most_hosts)
        throw UsageError(name + ": too many hosts (at most " + std::to_string(rounds::most_hosts) + ")");
    return hosts;
}

namespace {

constexpr int longest_ms = 24 * 3600 * 1000;

/// An option in milliseconds and where it goes.
struct PeriodOption {
    const char* name;
    int Options::*member;
    int least_ms;
};
constexpr PeriodOption period_options[] = {
    {"tree-period-ms", &Options::tree_period_ms, 10},
    {"other-period-ms", &Options::other_period_ms, 10},
    {"dead-after-ms", &Options::dead_after_ms, 100},
    {"bandwidth-period-ms", &Options::bandwidth_period_ms, 0},
};
/// More often, a bandwidth probe would be a load.
constexpr int least_bandwidth_period_ms = 300'000;

Arguments arguments_from(const Words& words) {
    Words names = {"hosts", "self", "key", "port", "series", "name", "threshold-percent"};
    for (const PeriodOption& each : period_options) names.emplace_back(each.name);
    Arguments arguments(words, names);
    if (!arguments.positional().empty())
        throw UsageError("run: unexpected '" + arguments.positional().front() + "'");
    return arguments;
}

std::string required(const Arguments& arguments, const std::string& name) {
    const auto value = arguments.option(name);
    if (!value) throw UsageError("run: --" + name + " is missing");
    return *value;
}

std::vector<HostLine> hosts_from(const std::string& path) {
    std::ifstream input(path);
    if (!input) throw UsageError("host file " + path + " cannot be read");
    return read_host_file(input, path);
}

/// 64 hexadecimal digits in a file of this user with mode 600.
Key read_key_file(const std::string& path) {
    const auto refuse = [&](const char* why) { throw UsageError("key file " + path + " " + why); };
    const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) refuse("cannot be read");
    struct stat about{};
    if (fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode)) refuse("is no file");
    if (about.st_uid != geteuid()) refuse("belongs to another user");
    if ((about.st_mode & 0777) != 0600) refuse("must have mode 600");
    std::array<char, 2 * key_bytes + 2> text{};
    const ssize_t count = read(file.number(), text.data(), text.size());
    std::string_view digits(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (digits.ends_with('\n')) digits.remove_suffix(1);
    Key key;
    if (!read_digits(digits, key.bytes)) refuse("holds no key of 64 hexadecimal digits");
    return key;
}

Options options_from(const Arguments& arguments) {
    Options options;
    for (const PeriodOption& each : period_options)
        options.*each.member = static_cast<int>(
            arguments.number(each.name, options.*each.member, each.least_ms, longest_ms));
    const int bandwidth_ms = options.bandwidth_period_ms;
    if (bandwidth_ms != 0 && bandwidth_ms < least_bandwidth_period_ms)
        throw UsageError("--bandwidth-period-ms " + std::to_string(bandwidth_ms) +
                         " is not 0 (never) or at least " +
                         std::to_string(least_bandwidth_period_ms));
    if (arguments.option("threshold-percent"))
        options.rule.threshold_percent =
            static_cast<double>(arguments.number("threshold-percent", 0, 0, 100'000));
    options.series_file = arguments.option("series").value_or("");
    return options;
}

/// The shared memory's full name; that of the usual daemon if none is given.
std::string checked_segment_name(const std::optional<std::string>& given) {
    constexpr std::size_t longest_name = 100;
    if (!given) return daemon_segment_name();
    if (given->empty() || given->size() > longest_name || given->find('/') != given->npos)
        throw UsageError("'" + *given + "' is no name for an agent");
    return full_segment_name(*given);
}

std::vector<Contact> contacts_of(const std::vector<HostLine>& hosts) {
    std::vector<Contact> contacts;
    for (const HostLine& line : hosts) {
        const auto contact = contact_of(line.host, line.port);
        if (!contact) throw Failure("host '" + line.host + "' has no IPv4 address");
        contacts.push_back(*contact);
    }
    return contacts;
}

sigset_t ending_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
    return signals;
}

/// Until a signal comes; or the agent fails, which is looked at now and then.
void wait_for_end(const Thread& agent) {
    const sigset_t signals = ending_signals();
    const timespec look{0, 500'000'000};
    while (agent.running() && sigtimedwait(&signals, nullptr, &look) < 0) continue;
}

}  // namespace

int run_agent(const Words& words, std::ostream& out) {
    const Arguments arguments = arguments_from(words);
    const std::vector<HostLine> hosts = hosts_from(required(arguments, "hosts"));
    required(arguments, "self");
    Job job;
    job.self = static_cast<int>(
        arguments.number("self", 0, 0, static_cast<long long>(hosts.size()) - 1));
    job.key = read_key_file(required(arguments, "key"));
    job.options = options_from(arguments);
    job.id = id_of(hosts);
    const auto own_port = hosts[static_cast<std::size_t>(job.self)].port;
    const auto port = static_cast<std::uint16_t>(
        arguments.number("port", own_port, 1, std::numeric_limits<std::uint16_t>::max()));
    const std::string name = checked_segment_name(arguments.option("name"));
    job.contacts = contacts_of(hosts);

    // Blocked before there are threads, so that a signal waits until somebody asks for it.
    const sigset_t signals = ending_signals();
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    if (const auto other = ViewReader::attach(name); other && !other->gone()) {
        out << "mutirao-agent: an agent is running already, pid " << other->pid() << "\n";
        return another_agent_runs;
    }
    std::string why_not;
    auto endpoint = Endpoint::open(port, &why_not);
    if (!endpoint) throw Failure(why_not);
    const Thread agent(std::move(*endpoint), std::move(job), name);
    if (!agent.running()) throw Failure(agent.why_not());
    out << "mutirao-agent: " << name << " runs, port " << port << std::endl;
    wait_for_end(agent);
    if (!agent.running()) throw Failure(agent.why_not());
    return 0;
}

// `mutirao-agent status | list`: what the agents of this host know, as JSON.

namespace {

void put_network(JsonWriter& json, const NetworkView& view) {
    const auto hosts = static_cast<std::size_t>(view.host_count);
    json.begin_object()
        .member("unknown_links", view.unknown_links)
        .member("version", view.version)
        .member("version_hash", hexadecimal(view.version_hash))
        .member("tree", view.tree)
        .matrix("latency_us", view.latency_us, hosts)
        .matrix("last_known_us", view.last_known_us, hosts)
        .matrix("bandwidth_bytes_per_us", view.bandwidth_bytes_per_us, hosts);
    json.list("host_speeds", view.host_speeds, [&](const HostSpeed& each) {
        json.begin_object()
            .member("copy_bytes_per_us", each.copy_bytes_per_us)
            .member("reduce_bytes_per_us", each.reduce_bytes_per_us)
            .member("message_us", each.message_us)
            .end_object();
    });
    json.end_object();
}

/// One line of all that the agent knows. A part that cannot be read is null.
std::string status_json(const std::string& name, const ViewReader& reader) {
    JsonWriter json;
    json.begin_object()
        .member("name", name)
        .member("pid", reader.pid())
        .member("alive", !reader.gone())
        .member("self", reader.self())
        .member("host_count", reader.host_count())
        .member("job", hexadecimal(reader.job()))
        .member("changes", reader.changes());
    json.optional("network", reader.read(), [&](const NetworkView& view) { put_network(json, view); });
    json.optional("status", reader.status(), [&](const std::string& status) { json.json(status); });
    json.end_object();
    return json.take();
}

}  // namespace

void show_status(const Words& words, std::ostream& out) {
    if (words.size() > 1) throw UsageError("unexpected '" + words[1] + "'");
    const std::string name = checked_segment_name(words.empty() ? std::nullopt : std::optional(words.front()));
    if (const auto reader = ViewReader::attach(name)) {
        out << status_json(name, *reader) << "\n";
        return;
    }
    out << JsonWriter().begin_object().member("name", name).member("alive", false).end_object().take() << "\n";
    throw Failure("no agent has left anything under the name " + name);
}

void list(const Words& words, std::ostream& out) {
    if (!words.empty()) throw UsageError("list: unexpected '" + words.front() + "'");
    JsonWriter json;
    json.begin_array();
    for (const FoundSegment& each : list_segments())
        json.begin_object().member("name", each.name).member("alive", each.alive).end_object();
    out << json.end_array().take() << "\n";
}

void hold_rendezvous(const Words& words, std::ostream& out) {
    if (!words.empty()) throw UsageError("rendezvous: unexpected '" + words.front() + "'");
    auto rendezvous = Rendezvous::open();
    if (!rendezvous) throw Failure("no sockets are to be had");
    out << rendezvous->invitation().text() << std::endl;
    rendezvous->serve(STDIN_FILENO);
}

}  // namespace mutirao::agent
