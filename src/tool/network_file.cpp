#include "tool/network_file.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <span>

#include "core/network/sites.h"
#include "core/network/tree.h"
#include "core/text/numbers.h"

namespace mutirao::tool {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Numbers = std::span<const double>;

/// A line of numbers behind a word: how many, and where they go; false if they cannot be.
struct Kind {
    std::string_view name;
    std::size_t numbers;
    bool (*take)(NetworkFile& to, Numbers numbers);
};

bool is_host(const NetworkFile& file, double number) {
    return number < file.network.host_count() && number == std::floor(number);
}

bool all_positive(Numbers numbers) {
    return std::ranges::all_of(numbers, [](double each) { return each > 0; });
}

bool take_hosts(NetworkFile& to, Numbers numbers) {
    constexpr double most_hosts = 10'000;
    if (numbers[0] < 1 || numbers[0] > most_hosts) return false;
    to.network = Network(static_cast<int>(numbers[0]));
    for (int from = 0; from < to.network.host_count(); ++from)
        for (int other = 0; other < to.network.host_count(); ++other)
            if (from != other) to.network.set_link(from, other, {infinity, infinity});
    return true;
}

bool take_host(NetworkFile& to, Numbers numbers) {
    if (!is_host(to, numbers[0]) || numbers[1] == infinity || numbers[2] == infinity || numbers[3] == 0) return false;
    to.network.set_host(static_cast<int>(numbers[0]), {numbers[1], numbers[2], numbers[3]});
    return true;
}

bool take_link(NetworkFile& to, Numbers numbers) {
    if (!is_host(to, numbers[0]) || !is_host(to, numbers[1]) || numbers[0] == numbers[1] || numbers[3] == 0)
        return false;
    to.network.set_link(static_cast<int>(numbers[0]), static_cast<int>(numbers[1]), {numbers[2], numbers[3]});
    return true;
}

bool take_memory(NetworkFile& to, Numbers numbers) {
    to.memory = {numbers[0], numbers[1], numbers[2], numbers[3]};
    to.memory.shared_bytes_per_us = numbers[4];
    return numbers[0] < infinity && numbers[1] < infinity && all_positive(numbers.subspan(2));
}

template <std::size_t Transport::* limit, std::size_t least = 0>
bool take_bytes(NetworkFile& to, Numbers numbers) {
    to.network.transport.*limit = static_cast<std::size_t>(numbers[0]);
    return numbers[0] < infinity && numbers[0] >= least;
}

constexpr Kind kinds[] = {
    {"hosts", 1, take_hosts},
    {"eager_limit_bytes", 1, take_bytes<&Transport::eager_limit_bytes>},
    {"initial_window_bytes", 1, take_bytes<&Transport::initial_window_bytes, 1>},
    {"header_bytes", 1, take_bytes<&Transport::header_bytes>},
    {"buffered_limit_bytes", 1, take_bytes<&Transport::buffered_limit_bytes>},
    {"detached_bytes", 1, take_bytes<&Transport::detached_bytes>},
    {"bbr", 0,
     [](NetworkFile& to, Numbers) {
         to.network.transport.bbr = true;
         return true;
     }},
    {"host", 4, take_host},
    {"link", 4, take_link},
    {"memory", 5, take_memory},
};

bool take_numbers(NetworkFile& to, const Words& words) {
    const auto* const kind = std::ranges::find(kinds, words.front(), &Kind::name);
    if (kind == std::end(kinds) || words.size() != kind->numbers + 1) return false;
    if (to.network.host_count() == 0 && kind->name != "hosts") return false;
    std::vector<double> numbers;
    for (std::size_t i = 1; i < words.size(); ++i) numbers.push_back(number_in<double>(words[i]).value_or(-1));
    const bool valid = std::ranges::all_of(numbers, [](double each) { return each >= 0; });
    return valid && kind->take(to, numbers);
}

/// "site HOST NAME": hosts of one name have one number.
bool take_site(NetworkFile& to, std::vector<std::string>& names, const Words& words) {
    const double host = words.size() == 3 ? number_in<double>(words[1]).value_or(-1) : -1;
    if (host < 0 || !is_host(to, host)) return false;
    if (std::ranges::find(names, words[2]) == names.end()) names.push_back(words[2]);
    to.site_of.resize(static_cast<std::size_t>(to.network.host_count()), -1);
    to.site_of[static_cast<std::size_t>(host)] = static_cast<int>(std::ranges::find(names, words[2]) - names.begin());
    return true;
}

}  // namespace

NetworkFile read_network(std::istream& input, const std::string& name) {
    NetworkFile file;
    std::vector<std::string> site_names;
    read_lines(input, name, [&](const Words& words) {
        const bool taken = words.front() == "site" ? take_site(file, site_names, words) : take_numbers(file, words);
        if (!taken) throw UsageError("no line of a network: \"" + words.front() + " ...\"");
    });
    if (file.network.host_count() == 0) throw UsageError(name + ": there is no line hosts COUNT");
    if (std::ranges::find(file.site_of, -1) != file.site_of.end()) throw UsageError(name + ": a host has no site");
    return file;
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
