#include "tool/network_file.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "core/network/sites.h"
#include "core/network/topology.h"
#include "core/network/tree.h"
#include "core/text/names.h"
#include "core/text/numbers.h"

namespace mutirao::tool {
namespace {

constexpr int most_hosts = 10'000;

/// What is read so far. Each method takes the words of one line, and throws what is wrong with them.
class Reader {
  public:
    void line(const Words& words);
    /// What only shows at the end; empty: nothing.
    std::string what_is_missing() const;

    NetworkFile result;

  private:
    void hosts(const Words& words);
    void bytes_at_least(std::size_t least, const Words& words, std::size_t& target);
    void host(const Words& words);
    void link(const Words& words);
    void site(const Words& words);
    void memory(const Words& words);

    struct Kind {
        std::string usage;
        std::function<void(Reader&, const Words&)> read;
    };
    static const std::map<std::string, Kind>& kinds();

    int host_count() const { return result.network.host_count(); }
    int host_number(const std::string& word) const;
    void require_first_time(const std::string& what);

    std::set<std::string> seen_;
};

/// A number of a line: what it may be, and where it goes.
struct Column {
    const char* name;
    bool zero_allowed;
    bool infinite_allowed;
    double& target;
};

/// The words from `first` on, of which each is for one column.
void read_numbers(const Words& words, std::size_t first, std::initializer_list<Column> columns) {
    for (const Column& column : columns) {
        const std::string& word = words[first++];
        const auto value = number_in<double>(word);
        const bool valid = value && (column.zero_allowed ? *value >= 0 : *value > 0) &&
                           (column.infinite_allowed || std::isfinite(*value));
        if (!valid) {
            throw UsageError(std::string(column.name) + " is \"" + word + "\"; it must be a number " +
                             (column.zero_allowed ? "of at least 0" : "above 0") +
                             (column.infinite_allowed ? " or inf" : ""));
        }
        column.target = *value;
    }
}

const std::map<std::string, Reader::Kind>& Reader::kinds() {
    static const std::map<std::string, Kind> table = {
        {"hosts", {"hosts COUNT", &Reader::hosts}},
        {"eager_limit_bytes",
         {"eager_limit_bytes BYTES",
          [](Reader& to, const Words& words) {
              to.bytes_at_least(0, words, to.result.network.transport.eager_limit_bytes);
          }}},
        {"initial_window_bytes",
         {"initial_window_bytes BYTES",
          [](Reader& to, const Words& words) {
              to.bytes_at_least(1, words, to.result.network.transport.initial_window_bytes);
          }}},
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

void Reader::line(const Words& words) {
    const auto kind = kinds().find(words.front());
    if (kind == kinds().end()) {
        Words names;
        for (const auto& [name, unused] : kinds()) names.push_back(name);
        throw UsageError("unknown line \"" + words.front() + "\"" + did_you_mean(words.front(), names));
    }
    const auto& [usage, read] = kind->second;
    const auto blanks = static_cast<std::size_t>(std::ranges::count(usage, ' '));
    if (words.size() != blanks + 1) {
        throw UsageError(std::to_string(words.size() - 1) + " values where " + std::to_string(blanks) +
                         " belong: " + usage);
    }
    if (host_count() == 0 && words.front() != "hosts") throw UsageError("the first line must be hosts COUNT");
    read(*this, words);
}

void Reader::require_first_time(const std::string& what) {
    if (!seen_.insert(what).second) throw UsageError(what + " is given twice");
}

int Reader::host_number(const std::string& word) const {
    const auto value = number_in<int>(word);
    if (value && *value >= 0 && *value < host_count()) return *value;
    throw UsageError("host \"" + word + "\" is not in 0.." + std::to_string(host_count() - 1));
}

void Reader::hosts(const Words& words) {
    require_first_time("hosts");
    const auto count = number_in<int>(words[1]);
    if (!count || *count < 1 || *count > most_hosts)
        throw UsageError("hosts \"" + words[1] + "\" is not in 1.." + std::to_string(most_hosts));
    result.network = Network(*count);
    const Link unusable = {std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::infinity()};
    for (int from = 0; from < *count; ++from) {
        for (int to = 0; to < *count; ++to) {
            if (from != to) result.network.set_link(from, to, unusable);
        }
    }
}

void Reader::bytes_at_least(std::size_t least, const Words& words, std::size_t& target) {
    require_first_time(words[0]);
    const auto bytes = number_in<std::size_t>(words[1]);
    if (!bytes || *bytes < least) {
        throw UsageError(words[0] + " \"" + words[1] + "\" is not a whole number" + (least > 0 ? " above 0" : ""));
    }
    target = *bytes;
}

void Reader::host(const Words& words) {
    const int number = host_number(words[1]);
    require_first_time("host " + std::to_string(number));
    HostCosts costs;
    read_numbers(words, 2,
                 {{"send overhead", true, false, costs.send_overhead_us},
                  {"receive overhead", true, false, costs.receive_overhead_us},
                  {"port", false, true, costs.port_bytes_per_us}});
    result.network.set_host(number, costs);
}

void Reader::link(const Words& words) {
    const int from = host_number(words[1]);
    const int to = host_number(words[2]);
    if (from == to) throw UsageError("a link from host " + words[1] + " to itself");
    require_first_time("link " + std::to_string(from) + " " + std::to_string(to));
    Link measured;
    read_numbers(words, 3,
                 {{"latency", true, true, measured.latency_us},
                  {"bandwidth", false, true, measured.bandwidth_bytes_per_us}});
    result.network.set_link(from, to, measured);
}

void Reader::site(const Words& words) {
    const int number = host_number(words[1]);
    require_first_time("site of host " + std::to_string(number));
    auto& names = result.site_names;
    const auto known = std::find(names.begin(), names.end(), words[2]);
    result.site_of.resize(static_cast<std::size_t>(host_count()), -1);
    result.site_of[static_cast<std::size_t>(number)] = static_cast<int>(known - names.begin());
    if (known == names.end()) names.push_back(words[2]);
}

void Reader::memory(const Words& words) {
    require_first_time("memory");
    MemoryCosts& costs = result.memory;
    read_numbers(words, 1,
                 {{"latency", true, false, costs.message_latency_us},
                  {"overhead", true, false, costs.message_overhead_us},
                  {"copy", false, true, costs.copy_bytes_per_us},
                  {"reduction", false, true, costs.reduce_bytes_per_us},
                  {"shared memory", false, true, costs.shared_bytes_per_us}});
}

std::string Reader::what_is_missing() const {
    if (host_count() == 0) return "there is no line hosts COUNT";
    const auto& sites = result.site_of;
    const auto without = std::find(sites.begin(), sites.end(), -1);
    if (without == sites.end()) return {};
    return "host " + std::to_string(without - sites.begin()) + " has no site, but others have one";
}

}  // namespace

NetworkFile read_network(std::istream& input, const std::string& name) {
    Reader reader;
    read_lines(input, name, [&](const Words& words) { reader.line(words); });
    if (const std::string missing = reader.what_is_missing(); !missing.empty()) throw UsageError(name + ": " + missing);
    return std::move(reader.result);
}

NetworkFile read_network_file(const std::string& path) {
    std::ifstream input(path);
    if (!input) throw UsageError("the network file " + path + " cannot be read");
    return read_network(input, path);
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
