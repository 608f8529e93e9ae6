#include "tool/network_file.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "core/network/sites.h"
#include "core/network/topology.h"
#include "core/network/tree.h"
#include "core/text/names.h"
#include "core/text/numbers.h"
#include "tool/arguments.h"

namespace mutirao::tool {
namespace {

constexpr int most_hosts = 10'000;

/// What is read so far. Each method takes the words of one line and returns what is wrong with
/// them, or nothing.
class Reader {
  public:
    std::string line(const Words& words);
    /// What only shows at the end.
    std::string finish() const;

    NetworkFile result;

  private:
    std::string hosts(const Words& words);
    std::string bytes_at_least(std::size_t least, const Words& words, std::size_t& target);
    std::string eager_limit(const Words& words);
    std::string initial_window(const Words& words);
    std::string host(const Words& words);
    std::string link(const Words& words);
    std::string site(const Words& words);
    std::string memory(const Words& words);

    struct Kind {
        std::string usage;
        std::string (Reader::*read)(const Words&);
    };
    static const std::map<std::string, Kind>& kinds();

    int host_count() const { return result.network.host_count(); }
    std::string host_number(const std::string& word, int& host) const;
    std::string first_time(const std::string& what);

    std::set<std::string> seen_;
};

/// A number of a line: what it may be, and where it goes.
struct Column {
    const char* name;
    bool zero_allowed;
    bool infinite_allowed;
    double& target;
};

/// What is wrong with the words from `first` on, of which each is for one column.
std::string read_numbers(const Words& words, std::size_t first, std::initializer_list<Column> columns) {
    for (const Column& column : columns) {
        const std::string& word = words[first++];
        const auto value = number_in<double>(word);
        const bool valid = value && (column.zero_allowed ? *value >= 0 : *value > 0) &&
                           (column.infinite_allowed || std::isfinite(*value));
        if (!valid) {
            return std::string(column.name) + " is \"" + word + "\"; it must be a number " +
                   (column.zero_allowed ? "of at least 0" : "above 0") + (column.infinite_allowed ? " or inf" : "");
        }
        column.target = *value;
    }
    return {};
}

const std::map<std::string, Reader::Kind>& Reader::kinds() {
    static const std::map<std::string, Kind> table = {
        {"hosts", {"hosts COUNT", &Reader::hosts}},
        {"eager_limit_bytes", {"eager_limit_bytes BYTES", &Reader::eager_limit}},
        {"initial_window_bytes", {"initial_window_bytes BYTES", &Reader::initial_window}},
        {"host",
         {"host HOST SEND_OVERHEAD_US RECEIVE_OVERHEAD_US PORT_BYTES_PER_US", &Reader::host}},
        {"link", {"link FROM TO LATENCY_US BANDWIDTH_BYTES_PER_US", &Reader::link}},
        {"site", {"site HOST NAME", &Reader::site}},
        {"memory",
         {"memory LATENCY_US OVERHEAD_US COPY_BYTES_PER_US REDUCE_BYTES_PER_US SHARED_BYTES_PER_US",
          &Reader::memory}},
    };
    return table;
}

std::string Reader::line(const Words& words) {
    const auto kind = kinds().find(words.front());
    if (kind == kinds().end()) {
        Words names;
        for (const auto& [name, unused] : kinds()) names.push_back(name);
        return "unknown line \"" + words.front() + "\"" + did_you_mean(words.front(), names);
    }
    const auto blanks = std::count(kind->second.usage.begin(), kind->second.usage.end(), ' ');
    if (static_cast<long>(words.size()) != blanks + 1) {
        return std::to_string(words.size() - 1) + " values where " + std::to_string(blanks) +
               " belong: " + kind->second.usage;
    }
    if (host_count() == 0 && words.front() != "hosts") {
        return "the first line must be hosts COUNT";
    }
    return (this->*kind->second.read)(words);
}

std::string Reader::first_time(const std::string& what) {
    return seen_.insert(what).second ? std::string() : what + " is given twice";
}

std::string Reader::host_number(const std::string& word, int& host) const {
    const auto value = number_in<int>(word);
    if (!value || *value < 0 || *value >= host_count()) {
        return "host \"" + word + "\" is not in 0.." + std::to_string(host_count() - 1);
    }
    host = *value;
    return {};
}

std::string Reader::hosts(const Words& words) {
    if (std::string twice = first_time("hosts"); !twice.empty()) return twice;
    const auto count = number_in<int>(words[1]);
    if (!count || *count < 1 || *count > most_hosts) {
        return "hosts \"" + words[1] + "\" is not in 1.." + std::to_string(most_hosts);
    }
    result.network = Network(*count);
    const Link unusable = {std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::infinity()};
    for (int from = 0; from < *count; ++from) {
        for (int to = 0; to < *count; ++to) {
            if (from != to) result.network.set_link(from, to, unusable);
        }
    }
    return {};
}

std::string Reader::bytes_at_least(std::size_t least, const Words& words, std::size_t& target) {
    if (std::string twice = first_time(words[0]); !twice.empty()) return twice;
    const auto bytes = number_in<std::size_t>(words[1]);
    if (!bytes || *bytes < least) {
        return words[0] + " \"" + words[1] + "\" is not a whole number" + (least > 0 ? " above 0" : "");
    }
    target = *bytes;
    return {};
}

std::string Reader::eager_limit(const Words& words) {
    return bytes_at_least(0, words, result.network.transport.eager_limit_bytes);
}

std::string Reader::initial_window(const Words& words) {
    return bytes_at_least(1, words, result.network.transport.initial_window_bytes);
}

std::string Reader::host(const Words& words) {
    int number = 0;
    if (std::string bad = host_number(words[1], number); !bad.empty()) return bad;
    const std::string name = "host " + std::to_string(number);
    if (std::string twice = first_time(name); !twice.empty()) return twice;
    HostCosts costs;
    const std::string wrong = read_numbers(words, 2,
                                           {{"send overhead", true, false, costs.send_overhead_us},
                                            {"receive overhead", true, false, costs.receive_overhead_us},
                                            {"port", false, true, costs.port_bytes_per_us}});
    if (wrong.empty()) result.network.set_host(number, costs);
    return wrong;
}

std::string Reader::link(const Words& words) {
    int from = 0;
    int to = 0;
    if (std::string bad = host_number(words[1], from); !bad.empty()) return bad;
    if (std::string bad = host_number(words[2], to); !bad.empty()) return bad;
    if (from == to) return "a link from host " + words[1] + " to itself";
    const std::string name = "link " + std::to_string(from) + " " + std::to_string(to);
    if (std::string twice = first_time(name); !twice.empty()) return twice;
    Link measured;
    const std::string wrong = read_numbers(words, 3,
                                           {{"latency", true, true, measured.latency_us},
                                            {"bandwidth", false, true, measured.bandwidth_bytes_per_us}});
    if (wrong.empty()) result.network.set_link(from, to, measured);
    return wrong;
}

std::string Reader::site(const Words& words) {
    int number = 0;
    if (std::string bad = host_number(words[1], number); !bad.empty()) return bad;
    const std::string name = "site of host " + std::to_string(number);
    if (std::string twice = first_time(name); !twice.empty()) return twice;
    auto& names = result.site_names;
    const auto known = std::find(names.begin(), names.end(), words[2]);
    result.site_of.resize(static_cast<std::size_t>(host_count()), -1);
    result.site_of[static_cast<std::size_t>(number)] = static_cast<int>(known - names.begin());
    if (known == names.end()) names.push_back(words[2]);
    return {};
}

std::string Reader::memory(const Words& words) {
    if (std::string twice = first_time("memory"); !twice.empty()) return twice;
    MemoryCosts& costs = result.memory;
    return read_numbers(words, 1,
                        {{"latency", true, false, costs.message_latency_us},
                         {"overhead", true, false, costs.message_overhead_us},
                         {"copy", false, true, costs.copy_bytes_per_us},
                         {"reduction", false, true, costs.reduce_bytes_per_us},
                         {"shared memory", false, true, costs.shared_bytes_per_us}});
}

std::string Reader::finish() const {
    if (host_count() == 0) return "there is no line hosts COUNT";
    const auto& sites = result.site_of;
    const auto without = std::find(sites.begin(), sites.end(), -1);
    if (without == sites.end()) return {};
    return "host " + std::to_string(without - sites.begin()) + " has no site, but others have one";
}

}  // namespace

NetworkFile read_network(std::istream& input, const std::string& name) {
    Reader reader;
    std::string text;
    int line_number = 0;
    std::string error;
    while (error.empty() && std::getline(input, text)) {
        ++line_number;
        std::istringstream stream(text.substr(0, text.find('#')));
        Words words;
        for (std::string word; stream >> word;) words.push_back(word);
        if (!words.empty()) error = reader.line(words);
    }
    if (error.empty()) error = reader.finish();
    if (!error.empty()) error = name + ":" + std::to_string(line_number) + ": " + error;
    reader.result.error = error;
    return reader.result;
}

Topology topology_of(NetworkFile file) {
    Topology topology;
    topology.network = std::move(file.network);
    topology.site_of = std::move(file.site_of);
    const EdgeList edges = minimum_spanning_tree(topology.network);
    if (static_cast<int>(edges.size()) + 1 == topology.network.host_count()) {
        topology.spanning_tree = edges;
    }
    if (topology.site_of.empty()) topology.site_of = discover_sites(topology.network);
    topology.region_of = discover_regions(topology.network, topology.site_of);
    topology.network.uplinks = uplinks_of(topology.network, topology.site_of);
    return topology;
}

Network uniform_network(int host_count) {
    Network network(host_count);
    for (int a = 0; a < host_count; ++a) {
        network.set_host(a, {.send_overhead_us = 1, .receive_overhead_us = 1,
                             .port_bytes_per_us = 1000});
        for (int b = a + 1; b < host_count; ++b) {
            network.set_both(a, b, {.latency_us = 50, .bandwidth_bytes_per_us = 1000});
        }
    }
    return network;
}

}  // namespace mutirao::tool
