#include "agent/daemon/host_file.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <sstream>

#include "core/spanning_tree/host_set.h"
#include "core/text/hash.h"

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

}  // namespace mutirao::agent
