// `mutirao-studies replay`: a recorded network, slice by slice, against forecasters, change detection
// and the spanning tree's maintenance; predicted broadcast times of trees that adapt or do not.
#include "replay.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "core/network/sites.h"
#include "core/network/tree.h"
#include "core/text/invariant.h"
#include "core/text/json.h"

namespace mutirao::tool {

namespace {

constexpr int most_hosts = 1000;

template <typename Number>
std::optional<Number> number_in(const std::string& word) {
    Number value{};
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

/// Nothing if the word is neither a latency nor "-".
std::optional<double> read_latency(const std::string& word) {
    if (word == "-") return std::numeric_limits<double>::quiet_NaN();
    const auto value = number_in<double>(word);
    return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

TraceReader::TraceReader(std::istream& input, std::string name)
    : input_(input), name_(std::move(name)) {
    const std::vector<std::string> heading = words();
    if (heading.size() != 2 || heading[0] != "hosts") refuse("the first line must be hosts COUNT");
    host_count_ = number_in<int>(heading[1]).value_or(0);
    if (host_count_ < 2 || host_count_ > most_hosts) {
        refuse("hosts \"" + heading[1] + "\" is not in 2.." + std::to_string(most_hosts));
    }
}

std::optional<TraceSlice> TraceReader::next() {
    const std::vector<std::string> line = words();
    if (line.empty()) return std::nullopt;
    if (line[0] != "slice") refuse("unknown line \"" + line[0] + "\"");
    const auto hosts = static_cast<std::size_t>(host_count_);
    const std::size_t links = hosts * (hosts - 1) / 2;
    if (line.size() != links + 1) {
        refuse(std::to_string(line.size() - 1) + " latencies where " + std::to_string(links) +
               " belong");
    }
    TraceSlice slice;
    for (std::size_t i = 1; i < line.size(); ++i) {
        const auto latency_us = read_latency(line[i]);
        if (!latency_us) {
            refuse("\"" + line[i] + "\" is not a latency: a number of at least 0, inf or -");
        }
        slice.push_back(*latency_us);
    }
    return slice;
}

std::vector<std::string> TraceReader::words() {
    std::vector<std::string> result;
    for (std::string text; result.empty() && std::getline(input_, text);) {
        ++line_number_;
        std::istringstream stream(text.substr(0, text.find('#')));
        for (std::string word; stream >> word;) result.push_back(word);
    }
    return result;
}

void TraceReader::refuse(const std::string& what) const {
    throw UsageError(name_ + ":" + std::to_string(line_number_) + ": " + what);
}

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// As the library assumes of hosts that it has not measured.
constexpr HostCosts assumed_costs{10.0, 10.0, 1000.0};

Network unknown_network(int host_count) {
    Network network(host_count);
    for (int a = 0; a < host_count; ++a) {
        network.set_host(a, assumed_costs);
        for (int b = a + 1; b < host_count; ++b) network.set_both(a, b, Link{.latency_us = never});
    }
    return network;
}

}  // namespace

ReplayedLinks::ReplayedLinks(int host_count, const ChangeRule& rule)
    : actual_(unknown_network(host_count)), announced_(actual_) {
    const auto hosts = static_cast<std::size_t>(host_count);
    detectors_.assign(hosts * (hosts - 1) / 2, ChangeDetector(rule));
}

int ReplayedLinks::pass(const TraceSlice& slice, int measurements) {
    int announcements = 0;
    std::size_t link = 0;
    for (int low = 0; low < actual_.host_count(); ++low) {
        for (int high = low + 1; high < actual_.host_count(); ++high, ++link) {
            const double latency_us = slice[link];
            if (std::isnan(latency_us)) continue;
            ChangeDetector& detector = detectors_[link];
            announcements += measured(detector, latency_us, measurements);
            actual_.set_both(low, high, Link{.latency_us = latency_us});
            announced_.set_both(low, high,
                                Link{.latency_us = detector.announced().value_or(never)});
        }
    }
    return announcements;
}

int ReplayedLinks::measured(ChangeDetector& detector, double latency_us, int measurements) {
    if (!std::isfinite(latency_us)) {
        const bool news = detector.announced().value_or(never) != never;
        if (news) detector.unreachable();
        return news ? 1 : 0;
    }
    int announcements = 0;
    for (int i = 0; i < measurements; ++i) announcements += detector.measured(latency_us) ? 1 : 0;
    return announcements;
}

namespace {

/// Far above what a round needs: what stops a round that does not end.
constexpr int most_messages_per_link = 64;

HostSet reachable(const Network& network, int from) {
    HostSet hosts{from};
    std::vector<int> open = {from};
    while (!open.empty()) {
        const int host = open.back();
        open.pop_back();
        for (int other = 0; other < network.host_count(); ++other) {
            if (hosts.contains(other) || !network.link(host, other).usable()) continue;
            hosts.insert(other);
            open.push_back(other);
        }
    }
    return hosts;
}

struct Letter {
    int from;
    int to;
    maintenance::Message message;
};

/// All hosts of one round.
class RoundInMemory {
  public:
    RoundInMemory(const Network& network, const maintenance::Round& round)
        : position_(static_cast<std::size_t>(network.host_count()), -1) {
        const std::vector<int> hosts = round.hosts.hosts();
        for (const int host : hosts) {
            std::vector<ghs::Neighbour> links;
            for (const int other : hosts) {
                if (other == host || !network.link(host, other).usable()) continue;
                links.push_back({other, link_weight(network, host, other)});
            }
            position_[static_cast<std::size_t>(host)] = static_cast<int>(nodes_.size());
            nodes_.emplace_back(host, links, round);
            limit_ += most_messages_per_link * static_cast<int>(links.size() + 1);
        }
        for (const int host : hosts) send(host, node(host).start());
    }

    /// Returns the number of messages.
    int run() {
        for (; !letters_.empty(); letters_.pop_front()) {
            if (++messages_ > limit_) broken_invariant("messages in a round", messages_, limit_);
            const Letter& letter = letters_.front();
            send(letter.to, node(letter.to).on(letter.from, letter.message));
        }
        return messages_;
    }

    /// As all hosts know it.
    const EdgeList& tree() const {
        for (const maintenance::Node& each : nodes_) {
            if (!each.finished()) broken_invariant("hosts that know the round's end", 0, 1);
            if (each.tree() != nodes_.front().tree()) {
                broken_invariant("trees of two hosts", static_cast<long long>(each.tree().size()),
                                 static_cast<long long>(nodes_.front().tree().size()));
            }
        }
        return nodes_.front().tree();
    }

  private:
    maintenance::Node& node(int host) {
        return nodes_[static_cast<std::size_t>(position_[static_cast<std::size_t>(host)])];
    }
    void send(int from, maintenance::Output output) {
        for (maintenance::Outgoing& each : output) {
            letters_.push_back({from, each.to, std::move(each.message)});
        }
    }

    std::vector<int> position_;
    std::vector<maintenance::Node> nodes_;
    std::deque<Letter> letters_;
    int messages_ = 0;
    int limit_ = 0;
};

}  // namespace

maintenance::Round MaintainedTree::next_round(const Network& announced, int inside) const {
    maintenance::Round round;
    round.number = rounds_ + 1;
    round.hosts = reachable(announced, inside);
    round.root = round.hosts.hosts().front();
    if (round.hosts != hosts_) return round;
    round.tree = tree_;
    for (int low = 0; low < announced.host_count(); ++low) {
        for (int high = low + 1; high < announced.host_count(); ++high) {
            const double before = base_.link(low, high).latency_us;
            const double after = announced.link(low, high).latency_us;
            if (before != after) round.changes.push_back({low, high, before, after});
        }
    }
    return round;
}

int MaintainedTree::adapt(const Network& announced, int inside) {
    const maintenance::Round round = next_round(announced, inside);
    if (round.hosts == hosts_ && round.changes.empty()) return 0;
    base_ = announced;
    hosts_ = round.hosts;
    tree_.clear();
    if (hosts_.count() == 1) return 0;
    RoundInMemory memory(announced, round);
    const int messages = memory.run();
    tree_ = memory.tree();
    rounds_ = round.number;
    return messages;
}

bool MaintainedTree::equals_kruskals() const {
    EdgeList edges = minimum_spanning_tree(base_);
    std::erase_if(edges, [&](const auto& edge) { return !hosts_.contains(edge.first); });
    return tree_ == edges;
}

namespace {

/// Hosts with another parent.
int difference(const Tree& before, const Tree& after) {
    int count = 0;
    for (std::size_t host = 0; host < before.parent.size(); ++host) {
        count += before.parent[host] != after.parent[host] ? 1 : 0;
    }
    return count;
}

std::optional<double> time_us(const Track& track, const Topology& actual,
                              const Broadcasts& broadcasts) {
    if (!track.tree()) return std::nullopt;
    return predict_tree(*track.tree(), actual.network, broadcasts.length_bytes);
}

TrackTimes advance(Family& family, std::optional<Tree> adapted, std::optional<Tree> made_anew,
                   const Topology& actual, const Broadcasts& broadcasts) {
    if (!family[first].tree()) family[first].use(made_anew);
    TrackTimes times;
    times.exchanged[adapting] = family[adapting].use(std::move(adapted));
    times.exchanged[always] = family[always].use(std::move(made_anew));
    for (const Use use : uses) times.us[use] = time_us(family[use], actual, broadcasts);
    return times;
}

std::optional<Tree> adapted_tree(const std::optional<Tree>& present, const Topology& announced,
                                 const Broadcasts& broadcasts) {
    if (!present) return fastest_tree(announced, broadcasts.root, broadcasts.length_bytes);
    const auto renewal =
        renew(*present, announced, broadcasts.length_bytes, broadcasts.tolerance_percent);
    return renewal ? std::optional(renewal->tree) : present;
}

std::optional<Tree> spanning_tree(const Topology& topology, const Broadcasts& broadcasts) {
    return make_tree(topology, TreeKind::minimum_spanning, broadcasts.root,
                     broadcasts.length_bytes);
}

}  // namespace

int Track::use(std::optional<Tree> tree) {
    if (!tree) return 0;
    const int exchanged = tree_ ? difference(*tree_, *tree) : 0;
    tree_ = std::move(tree);
    switches_ += exchanged > 0 ? 1 : 0;
    exchanged_links_ += exchanged;
    return exchanged;
}

TrackTimes fastest_trees(Family& family, const Topology& actual, const Topology& announced,
                         const Broadcasts& broadcasts) {
    return advance(family, adapted_tree(family[adapting].tree(), announced, broadcasts),
                   fastest_tree(actual, broadcasts.root, broadcasts.length_bytes), actual,
                   broadcasts);
}

TrackTimes spanning_trees(Family& family, const Topology& actual, const Topology& announced,
                          const Broadcasts& broadcasts) {
    return advance(family, spanning_tree(announced, broadcasts), spanning_tree(actual, broadcasts),
                   actual, broadcasts);
}

std::optional<double> bound_us(const Network& actual, const Broadcasts& broadcasts) {
    Network free = actual;
    for (int host = 0; host < free.host_count(); ++host) free.set_host(host, {});
    const auto tree = shortest_path_tree(free, broadcasts.root, broadcasts.length_bytes);
    return tree ? predict_tree(*tree, free, broadcasts.length_bytes) : std::nullopt;
}

namespace {

/// Sums of the same latencies in another order differ in their last bits.
constexpr double rounding = 1 + 1e-9;

/// The longest path from the root, in latency.
double farthest_us(const Tree& tree, const Network& network) {
    std::vector<double> time_us(tree.parent.size(), 0);
    std::vector<int> order = {tree.root};
    double farthest = 0;
    for (std::size_t next = 0; next < order.size(); ++next) {
        const int from = order[next];
        for (const int child : tree.children[static_cast<std::size_t>(from)]) {
            const double child_us = time_us[static_cast<std::size_t>(from)] +
                                    network.link(from, child).latency_us;
            time_us[static_cast<std::size_t>(child)] = child_us;
            farthest = std::max(farthest, child_us);
            order.push_back(child);
        }
    }
    return farthest;
}

/// A slice in units of its bound, so that slices can be compared.
struct Relative {
    Network network;
    double bound_us;
};

std::optional<Relative> relative(Network network, int root) {
    const auto shortest = shortest_path_tree(network, root, 0);
    if (!shortest) return std::nullopt;
    return Relative{network, farthest_us(*shortest, network)};
}

/// Each link as bad as in the worst of the slices.
void worsen(Network& worst, const Relative& slice) {
    for (int a = 0; a < worst.host_count(); ++a) {
        for (int b = 0; b < worst.host_count(); ++b) {
            Link link = worst.link(a, b);
            const double share = slice.network.link(a, b).latency_us / slice.bound_us;
            link.latency_us = std::max(link.latency_us, share);
            if (a != b) worst.set_link(a, b, link);
        }
    }
}

/// From slice `begin` on, how many slices one tree can last.
class Lasting {
  public:
    Lasting(const std::vector<Relative>& slices, std::size_t begin, int root, double near_percent)
        : slices_(slices), begin_(begin), root_(root), near_percent_(near_percent),
          worst_(slices[begin].network.host_count()) {}

    std::size_t end() {
        std::size_t end = begin_;
        for (; end < slices_.size(); ++end) {
            worsen(worst_, slices_[end]);
            if (tree_ && near(*tree_, end)) continue;
            tree_ = shortest_path_tree(worst_, root_, 0);
            if (!tree_ || !near_since_begin(*tree_, end)) break;
        }
        return end;
    }

  private:
    bool near(const Tree& tree, std::size_t slice) const {
        const double most_us = slices_[slice].bound_us * (1 + near_percent_ / 100);
        return farthest_us(tree, slices_[slice].network) <= most_us * rounding;
    }
    bool near_since_begin(const Tree& tree, std::size_t last) const {
        for (std::size_t slice = begin_; slice <= last; ++slice) {
            if (!near(tree, slice)) return false;
        }
        return true;
    }

    const std::vector<Relative>& slices_;
    std::size_t begin_;
    int root_;
    double near_percent_;
    Network worst_;
    std::optional<Tree> tree_;
};

}  // namespace

int trees_with_foresight(const std::vector<Network>& slices, const Broadcasts& broadcasts,
                         double near_percent) {
    std::vector<Relative> reachable;
    for (const Network& network : slices) {
        auto slice = relative(network, broadcasts.root);
        if (slice && slice->bound_us > 0) reachable.push_back(std::move(*slice));
    }
    int trees = 0;
    for (std::size_t begin = 0; begin < reachable.size(); ++trees) {
        const std::size_t end =
            Lasting(reachable, begin, broadcasts.root, near_percent).end();
        if (end == begin) broken_invariant("slices that a tree lasts", 0, 1);
        begin = end;
    }
    return trees;
}

namespace {

const std::vector<std::string> option_names = {"threshold", "tolerance", "root", "bytes",
                                               "measurements"};
constexpr int most_measurements = 1000;
constexpr long long most_length_bytes = 1LL << 30;
constexpr double most_percent = 10'000;

/// A time is near the bound that is at most so much longer.
constexpr double near_percent = 10;

double read_percent(const Arguments& arguments, const std::string& name, double otherwise) {
    const auto text = arguments.option(name);
    if (!text) return otherwise;
    const auto value = number_in<double>(*text);
    if (!value || !(*value >= 0 && *value <= most_percent)) {
        throw UsageError("--" + name + " " + *text + " is not a number of percent in 0..10000");
    }
    return *value;
}

ChangeRule read_rule(const Arguments& arguments) {
    ChangeRule rule;
    if (arguments.option("threshold", "auto") != "auto") {
        rule.threshold_percent = read_percent(arguments, "threshold", 0);
    }
    return rule;
}

struct SliceResult {
    int changed_links = 0;
    int announcements = 0;
    int messages = 0;
    std::optional<double> bound_us;
    TrackTimes fastest;
    TrackTimes spanning;
};

/// How many slices of one family were near the bound, by use.
using NearCounts = std::array<int, uses.size()>;

void add(NearCounts& counts, const TrackTimes& times, double most_us) {
    for (const Use use : uses) counts[use] += times.us[use] && *times.us[use] <= most_us ? 1 : 0;
}

std::string name_of(Use use) {
    constexpr std::array<std::string_view, uses.size()> names = {"first", "adapting", "always"};
    return std::string(names[use]);
}

Topology topology_of(const Network& network, const EdgeList& spanning_tree) {
    Topology topology{network, {}, discover_sites(network)};
    const bool spans = static_cast<int>(spanning_tree.size()) + 1 == network.host_count();
    if (spans) topology.spanning_tree = spanning_tree;
    return topology;
}

class Replay {
  public:
    Replay(int host_count, const ChangeRule& rule, int measurements, Broadcasts broadcasts)
        : measurements_(measurements), broadcasts_(broadcasts), links_(host_count, rule) {}

    SliceResult pass(const TraceSlice& slice) {
        SliceResult result;
        const Network before = links_.actual();
        result.announcements = links_.pass(slice, measurements_);
        result.changed_links = slices_ == 0 ? 0 : differences(before, links_.actual());
        result.messages = maintained_.adapt(links_.announced(), broadcasts_.root);
        wrong_trees_ += maintained_.equals_kruskals() ? 0 : 1;

        const Topology actual =
            topology_of(links_.actual(), minimum_spanning_tree(links_.actual()));
        const Topology announced = topology_of(links_.announced(), maintained_.tree());
        result.bound_us = tool::bound_us(actual.network, broadcasts_);
        networks_.push_back(links_.actual());
        result.fastest = fastest_trees(fastest_, actual, announced, broadcasts_);
        result.spanning = spanning_trees(spanning_, actual, announced, broadcasts_);
        count(result);
        return result;
    }

    void write_totals(JsonWriter& json) const;

  private:
    static int differences(const Network& before, const Network& after) {
        int count = 0;
        for (int low = 0; low < before.host_count(); ++low) {
            for (int high = low + 1; high < before.host_count(); ++high) {
                count += before.link(low, high) == after.link(low, high) ? 0 : 1;
            }
        }
        return count;
    }

    void count(const SliceResult& result) {
        ++slices_;
        announcements_ += result.announcements;
        messages_ += result.messages;
        rounds_ += result.messages > 0 ? 1 : 0;
        if (!result.bound_us) return;
        ++reachable_;
        const double most_us = *result.bound_us * (1 + near_percent / 100);
        add(fastest_near_, result.fastest, most_us);
        add(spanning_near_, result.spanning, most_us);
    }

    int measurements_;
    Broadcasts broadcasts_;
    ReplayedLinks links_;
    MaintainedTree maintained_;
    Family fastest_;
    Family spanning_;
    NearCounts fastest_near_{};
    NearCounts spanning_near_{};
    std::vector<Network> networks_;
    int slices_ = 0;
    int reachable_ = 0;
    int wrong_trees_ = 0;
    int rounds_ = 0;
    long long announcements_ = 0;
    long long messages_ = 0;
};

void write_optional(JsonWriter& json, std::string_view name, std::optional<double> value) {
    if (value) {
        json.member(name, *value);
    } else {
        json.key(name).null();
    }
}

void write_times(JsonWriter& json, std::string_view name, const TrackTimes& times) {
    json.key(name).begin_object();
    for (const Use use : uses) {
        write_optional(json, name_of(use) + "_us", times.us[use]);
        json.member(name_of(use) + "_exchanged", times.exchanged[use]);
    }
    json.end_object();
}

void write_slice(JsonWriter& json, int number, const SliceResult& slice) {
    json.begin_object()
        .member("slice", number)
        .member("changed_links", slice.changed_links)
        .member("announcements", slice.announcements)
        .member("messages", slice.messages);
    write_optional(json, "bound_us", slice.bound_us);
    write_times(json, "fastest", slice.fastest);
    write_times(json, "mst", slice.spanning);
    json.end_object();
}

void write_family(JsonWriter& json, std::string_view name, const Family& family,
                  const NearCounts& near) {
    json.key(name).begin_object();
    for (const Use use : uses) {
        json.key(name_of(use))
            .begin_object()
            .member("near_bound", near[use])
            .member("switches", family[use].switches())
            .member("exchanged_links", family[use].exchanged_links())
            .end_object();
    }
    json.end_object();
}

void Replay::write_totals(JsonWriter& json) const {
    json.key("totals")
        .begin_object()
        .member("slices", slices_)
        .member("reachable_slices", reachable_)
        .member("near_percent", near_percent)
        .member("announcements", announcements_)
        .member("rounds", rounds_)
        .member("messages", messages_)
        .member("trees_unlike_kruskal", wrong_trees_)
        .member("trees_with_foresight",
                trees_with_foresight(networks_, broadcasts_, near_percent));
    write_family(json, "fastest", fastest_, fastest_near_);
    write_family(json, "mst", spanning_, spanning_near_);
    json.end_object();
}

}  // namespace

void replay_trace(const Words& words, std::ostream& out) {
    const Arguments arguments(words, option_names);
    if (arguments.positional().size() != 1) throw UsageError("one trace is replayed: FILE, or -");
    const std::string& path = arguments.positional().front();
    std::ifstream file;
    if (path != "-") file.open(path);
    if (!file) throw UsageError("the trace " + path + " cannot be read");
    TraceReader trace(path == "-" ? std::cin : file, path == "-" ? "standard input" : path);

    const int hosts = trace.host_count();
    const ChangeRule rule = read_rule(arguments);
    const auto measurements =
        static_cast<int>(arguments.number("measurements", 4, 1, most_measurements));
    const Broadcasts broadcasts = {
        .root = static_cast<int>(arguments.number("root", 0, 0, hosts - 1)),
        .length_bytes =
            static_cast<std::size_t>(arguments.number("bytes", 24, 0, most_length_bytes)),
        .tolerance_percent = read_percent(arguments, "tolerance", usual_tolerance_percent)};
    Replay replay(hosts, rule, measurements, broadcasts);
    JsonWriter json;
    json.begin_object()
        .member("hosts", hosts)
        .member("root", broadcasts.root)
        .member("length_bytes", broadcasts.length_bytes)
        .member("measurements", measurements)
        .member("tolerance_percent", broadcasts.tolerance_percent);
    write_optional(json, "threshold_percent", rule.threshold_percent);
    json.key("slices").begin_array();
    int number = 0;
    while (const auto slice = trace.next()) write_slice(json, number++, replay.pass(*slice));
    if (number == 0) throw UsageError(path + " has no slice");
    json.end_array();
    replay.write_totals(json);
    json.end_object();
    out << json.take() << "\n";
}

}  // namespace mutirao::tool
