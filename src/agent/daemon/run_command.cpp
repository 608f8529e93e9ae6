// `mutirao-agent run`: an agent in the foreground until a signal ends it.
#include <algorithm>
#include <charconv>
#include <csignal>
#include <ctime>
#include <fstream>
#include <limits>
#include <span>
#include <sstream>

#include "agent/agent.h"
#include "agent/daemon/commands.h"
#include "agent/segment.h"
#include "core/spanning_tree/values.h"
#include "core/text/bytes.h"
#include "tool/arguments.h"

namespace mutirao::agent {
namespace {

/// False: no port.
bool read_port(const std::string& text, std::uint16_t& port) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, port);
    return error == std::errc{} && stop == end && port > 0;
}

/// What is wrong with the line; empty: all well.
std::string read_line(const std::string& line, std::vector<HostLine>& hosts) {
    std::istringstream words(line.substr(0, line.find('#')));
    HostLine host;
    std::string port, more;
    if (!(words >> host.host)) return "";
    if (words >> port && !read_port(port, host.port)) return "port '" + port + "' is not in 1..65535";
    if (words >> more) return "'" + more + "' after the port";
    if (std::find(hosts.begin(), hosts.end(), host) != hosts.end())
        return host.host + " " + std::to_string(host.port) + " stands here twice";
    hosts.push_back(std::move(host));
    return "";
}

}  // namespace

std::uint64_t HostFile::id() const {
    std::string text;
    for (const HostLine& line : hosts) text += line.host + " " + std::to_string(line.port) + "\n";
    return fnv1a(std::as_bytes(std::span(text)));
}

HostFile read_host_file(std::istream& input, const std::string& name) {
    HostFile file;
    std::string line;
    for (int number = 1; std::getline(input, line); ++number) {
        const std::string wrong = read_line(line, file.hosts);
        if (wrong.empty()) continue;
        file.error = name + ":" + std::to_string(number) + ": " + wrong;
        return file;
    }
    if (file.hosts.size() < 2) file.error = name + ": fewer than two hosts";
    if (file.hosts.size() > HostSet::most_hosts) file.error = name + ": too many hosts";
    return file;
}

namespace {

using tool::Arguments;
using tool::Failure;
using tool::UsageError;

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
    {"sensor-period-ms", &Options::sensor_period_ms, 100},
    {"round-limit-ms", &Options::round_limit_ms, 100},
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

HostFile hosts_from(const std::string& path) {
    std::ifstream input(path);
    if (!input) throw UsageError("host file " + path + " cannot be read");
    HostFile file = read_host_file(input, path);
    if (!file.error.empty()) throw UsageError(file.error);
    return file;
}

Key key_from(const std::string& path) {
    const KeyOrReason read = read_key_file(path);
    if (!read.key) throw UsageError("key file " + path + " " + read.reason);
    return *read.key;
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
    options.series_file = arguments.option("series", "");
    return options;
}

std::vector<Contact> contacts_of(const HostFile& file) {
    std::vector<Contact> contacts;
    for (const HostLine& line : file.hosts) {
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
    const HostFile file = hosts_from(required(arguments, "hosts"));
    required(arguments, "self");
    Job job;
    job.self = static_cast<int>(
        arguments.number("self", 0, 0, static_cast<long long>(file.hosts.size()) - 1));
    job.key = key_from(required(arguments, "key"));
    job.options = options_from(arguments);
    job.id = file.id();
    const auto own_port = file.hosts[static_cast<std::size_t>(job.self)].port;
    const auto port = static_cast<std::uint16_t>(
        arguments.number("port", own_port, 1, std::numeric_limits<std::uint16_t>::max()));
    const std::string name = checked_segment_name(arguments.option("name"));
    job.contacts = contacts_of(file);

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
    if (const std::string wrong = agent.why_unnamed(); !wrong.empty()) throw Failure(wrong);
    out << "mutirao-agent: " << name << " runs, port " << port << std::endl;
    wait_for_end(agent);
    if (!agent.running()) throw Failure(agent.why_not());
    return 0;
}

}  // namespace mutirao::agent
