// `mutirao-studies replay`: a recorded network, slice by slice, against forecasters, change detection
// and the spanning tree's maintenance; predicted broadcast times of trees that adapt or do not.
#include "replay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "core/forecast/change_detector.h"
#include "core/network/sites.h"
#include "core/text/invariant.h"
#include "core/text/json.h"
#include "core/text/numbers.h"
#include "simulate/maintenance_world.h"
#include "simulate/timed_run.h"

namespace mutirao::tool {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr int most_hosts = 1000;

/// Nothing if the word is neither a latency nor "-".
std::optional<double> read_latency(const std::string& word) {
    if (word == "-") return std::numeric_limits<double>::quiet_NaN();
    const auto value = number_in<double>(word);
    return value && *value >= 0 ? value : std::nullopt;
}

/// The latencies of one slice, link by link in the order of the format; NaN: not measured.
using TraceSlice = std::vector<double>;

// A recorded trace as it is handed to `mutirao-studies replay`:
//
//   # anything after a hash is a comment
//   hosts 99                     must come first; the hosts are 0 .. 98
//   slice 75000 80000 - inf ...  one-way latencies in us of all links 0-1, 0-2, .. 1-2, ..
//
// "-": not measured in this slice, so what is known stays; "inf": nothing gets through.
struct Trace {
    int hosts = 0;
    std::vector<TraceSlice> slices;
};

int read_hosts(const Words& line) {
    if (line.size() != 2 || line[0] != "hosts") throw UsageError("the first line must be hosts COUNT");
    const int hosts = number_in<int>(line[1]).value_or(0);
    if (hosts < 2 || hosts > most_hosts) {
        throw UsageError("hosts \"" + line[1] + "\" is not in 2.." + std::to_string(most_hosts));
    }
    return hosts;
}

TraceSlice read_slice(const Words& line, int hosts) {
    if (line[0] != "slice") throw UsageError("unknown line \"" + line[0] + "\"");
    const auto links = static_cast<std::size_t>(hosts * (hosts - 1) / 2);
    if (line.size() != links + 1) {
        throw UsageError(std::to_string(line.size() - 1) + " latencies where " + std::to_string(links) + " belong");
    }
    TraceSlice slice;
    for (std::size_t i = 1; i < line.size(); ++i) {
        const auto latency_us = read_latency(line[i]);
        if (!latency_us) throw UsageError("\"" + line[i] + "\" is not a latency: a number of at least 0, inf or -");
        slice.push_back(*latency_us);
    }
    return slice;
}

/// `name` is how error lines call it.
Trace read_trace(std::istream& input, const std::string& name) {
    Trace trace;
    read_lines(input, name, [&](const Words& line) {
        if (trace.hosts == 0) {
            trace.hosts = read_hosts(line);
        } else {
            trace.slices.push_back(read_slice(line, trace.hosts));
        }
    });
    if (trace.slices.empty()) throw UsageError(name + " has no slice behind its line hosts COUNT");
    return trace;
}

/// With the costs of hosts that the library assumes of those that it has not measured.
Network unknown_network(int host_count) {
    Network network(host_count);
    for (int a = 0; a < host_count; ++a) {
        network.set_host(a, HostCosts{10.0, 10.0, 1000.0});
        for (int b = a + 1; b < host_count; ++b) network.set_both(a, b, Link{.latency_us = never});
    }
    return network;
}

/// All links of a replayed network: what they are, and what their owners have announced of them.
class ReplayedLinks {
  public:
    ReplayedLinks(int host_count, const ChangeRule& rule)
        : actual_(unknown_network(host_count)), announced_(actual_) {
        detectors_.assign(static_cast<std::size_t>(host_count * (host_count - 1) / 2), ChangeDetector(rule));
    }

    /// A slice that lasts for so many measurements of each link. Returns how many announcements
    /// were made of it.
    int pass(const TraceSlice& slice, int measurements) {
        int announcements = 0;
        std::size_t link = 0;
        for (int low = 0; low < actual_.host_count(); ++low) {
            for (int high = low + 1; high < actual_.host_count(); ++high, ++link) {
                if (std::isnan(slice[link])) continue;
                ChangeDetector& detector = detectors_[link];
                announcements += measured(detector, slice[link], measurements);
                actual_.set_both(low, high, Link{.latency_us = slice[link]});
                announced_.set_both(low, high, Link{.latency_us = detector.announced().value_or(never)});
            }
        }
        return announcements;
    }

    const Network& actual() const { return actual_; }
    const Network& announced() const { return announced_; }

  private:
    static int measured(ChangeDetector& detector, double latency_us, int measurements) {
        if (!std::isfinite(latency_us)) {
            const bool news = detector.announced().value_or(never) != never;
            if (news) detector.unreachable();
            return news ? 1 : 0;
        }
        int announcements = 0;
        for (int i = 0; i < measurements; ++i) announcements += detector.measured(latency_us) ? 1 : 0;
        return announcements;
    }

    std::vector<ChangeDetector> detectors_;  ///< link by link in the order of a slice
    Network actual_;
    Network announced_;
};

/// All links that are usable both ways.
simulate::Graph usable_links(const Network& network) {
    simulate::Graph links{network.host_count(), {}};
    for (const auto& [low, high] : simulate::complete_links(links.hosts)) {
        const Weight weight = link_weight(network, low, high);
        if (std::isfinite(weight.value)) links.edges.push_back(weight);
    }
    return links;
}

/// The hosts that they join to this one.
HostSet part_of(int inside, const simulate::Graph& links) {
    HostSet hosts{inside};
    for (int before = 0; before != hosts.count();) {
        before = hosts.count();
        for (const auto& edge : links.edges) {
            if (!hosts.contains(edge.low) && !hosts.contains(edge.high)) continue;
            hosts.insert(edge.low);
            hosts.insert(edge.high);
        }
    }
    return hosts;
}

struct Ended {
    int messages = 0;
    EdgeList tree;  ///< as all hosts know it
};

/// One round of all its hosts in memory: each message is as long on its way as any other.
Ended run_round(const maintenance::Round& round, simulate::Graph links) {
    std::erase_if(links.edges, [&](const Weight& link) { return !round.hosts.contains(link.low); });
    using World = simulate::MaintenanceWorld;
    std::vector<simulate::RoundNode> nodes;
    for (int host = 0; host < links.hosts; ++host) {
        maintenance::Round its = round;
        if (!round.hosts.contains(host)) its = {.root = host, .tree = {}, .changes = {}, .hosts = {host}};
        nodes.emplace_back(host, links.neighbours(host), its);
    }
    simulate::TimedRun<World> run(World(std::move(nodes), links.links()), [](int, int) { return 1.0; });
    for (const int host : round.hosts.numbers()) run.schedule(0, {World::Choice::Kind::wake, -1, host});
    Ended ended;
    while (const auto step = run.step()) {
        ended.messages += step->choice.kind == World::Choice::Kind::deliver ? 1 : 0;
    }
    ended.tree = run.world().machine(round.root).tree();
    for (const int host : round.hosts.numbers()) {
        const simulate::RoundNode& node = run.world().machine(host);
        if (!node.finished()) broken_invariant("hosts that know the round's end", 0, 1);
        if (node.tree() != ended.tree) {
            broken_invariant("trees of two hosts", static_cast<long long>(node.tree().size()),
                             static_cast<long long>(ended.tree.size()));
        }
    }
    return ended;
}

}  // namespace

maintenance::Round MaintainedTree::next_round(const Network& announced, const HostSet& hosts) const {
    maintenance::Round round;
    round.number = rounds_ + 1;
    round.hosts = hosts;
    round.root = round.hosts.numbers().front();
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
    const simulate::Graph links = usable_links(announced);
    const maintenance::Round round = next_round(announced, part_of(inside, links));
    if (round.hosts == hosts_ && round.changes.empty()) return 0;
    base_ = announced;
    hosts_ = round.hosts;
    tree_.clear();
    if (hosts_.count() == 1) return 0;
    Ended ended = run_round(round, links);
    tree_ = std::move(ended.tree);
    rounds_ = round.number;
    return ended.messages;
}

bool MaintainedTree::equals_kruskals() const {
    EdgeList edges = minimum_spanning_tree(base_);
    std::erase_if(edges, [&](const auto& edge) { return !hosts_.contains(edge.first); });
    return tree_ == edges;
}

int Track::use(std::optional<Tree> next) {
    if (!next) return 0;
    int exchanged = 0;  // hosts with another parent
    for (std::size_t host = 0; tree && host < next->parent.size(); ++host) {
        exchanged += tree->parent[host] != next->parent[host] ? 1 : 0;
    }
    tree = std::move(next);
    switches += exchanged > 0 ? 1 : 0;
    exchanged_links += exchanged;
    return exchanged;
}

namespace {

/// A tree is used as in the first slice; adapting, made from what was announced; or made anew in every slice from the
/// network as it is.
enum Use : std::size_t { first, adapting, always };
constexpr std::array<Use, 3> uses = {first, adapting, always};
constexpr std::array<std::string_view, uses.size()> names_of_uses = {"first", "adapting", "always"};

/// A time is near the bound that is at most so much longer.
constexpr double near_bound_percent = 10;

/// The same kind of tree, by use: in one slice, and how all were.
class Family {
  public:
    /// `us`: times on the network as it is; never: it does not end.
    struct Slice {
        std::array<double, uses.size()> us{};
        std::array<int, uses.size()> exchanged{};
    };

    const std::optional<Tree>& tree(Use use) const { return tracks_[use].tree; }

    Slice advance(std::optional<Tree> adapted, std::optional<Tree> made_anew, const Network& actual,
                  std::size_t length_bytes, double bound_us) {
        Slice slice;
        if (!tree(first)) tracks_[first].use(made_anew);
        slice.exchanged[adapting] = tracks_[adapting].use(std::move(adapted));
        slice.exchanged[always] = tracks_[always].use(std::move(made_anew));
        for (const Use use : uses) {
            slice.us[use] = tree(use) ? predict_tree(*tree(use), actual, length_bytes).value_or(never) : never;
            const bool near = slice.us[use] <= bound_us * (1 + near_bound_percent / 100);
            near_bound_[use] += near && std::isfinite(bound_us) ? 1 : 0;
        }
        return slice;
    }

    void write(JsonWriter& json, std::string_view name) const {
        json.key(name).begin_object();
        for (const Use use : uses) {
            json.key(names_of_uses[use])
                .begin_object()
                .member("near_bound", near_bound_[use])
                .member("switches", tracks_[use].switches)
                .member("exchanged_links", tracks_[use].exchanged_links)
                .end_object();
        }
        json.end_object();
    }

  private:
    std::array<Track, uses.size()> tracks_;
    std::array<int, uses.size()> near_bound_{};
};

/// What the library uses: of all kinds of trees the fastest, kept as renew() says.
std::optional<Tree> adapted_tree(const std::optional<Tree>& present, const Topology& announced,
                                 const Broadcasts& broadcasts) {
    if (!present) return fastest_tree(announced, broadcasts.root, broadcasts.length_bytes);
    const auto renewal = renew(*present, announced, broadcasts.length_bytes, broadcasts.tolerance_percent);
    return renewal ? std::optional(renewal->tree) : present;
}

std::optional<Tree> spanning_tree(const Topology& topology, const Broadcasts& broadcasts) {
    return make_tree(topology, TreeKind::minimum_spanning, broadcasts.root, broadcasts.length_bytes);
}

/// The longest path from the root, in latency.
double farthest_us(const Tree& tree, const Network& network) {
    return std::ranges::max(arrivals_us(tree, network, 0));
}

/// The largest of the shortest paths from the root: no broadcast is faster. Never: a host cannot be reached.
double bound_from(int root, const Network& network) {
    const auto shortest = shortest_path_tree(network, root, 0);
    return shortest ? farthest_us(*shortest, network) : never;
}

/// Sums of the same latencies in another order differ in their last bits.
constexpr double rounding = 1 + 1e-9;

/// A slice in units of its bound, so that slices can be compared.
struct Relative {
    Network network;
    double bound_us;
};

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

/// From slice `begin` on, until which one a single tree lasts.
std::size_t lasts_until(const std::vector<Relative>& slices, std::size_t begin, int root, double near_percent) {
    Network worst(slices[begin].network.host_count());
    std::optional<Tree> tree;
    const auto near = [&](const Relative& slice) {
        const double most_us = slice.bound_us * (1 + near_percent / 100);
        return farthest_us(*tree, slice.network) <= most_us * rounding;
    };
    std::size_t end = begin;
    for (; end < slices.size(); ++end) {
        worsen(worst, slices[end]);
        if (tree && near(slices[end])) continue;
        tree = shortest_path_tree(worst, root, 0);
        if (!tree || !std::ranges::all_of(std::span(slices).subspan(begin, end + 1 - begin), near)) break;
    }
    return end;
}

}  // namespace

int trees_with_foresight(const std::vector<Network>& slices, const Broadcasts& broadcasts,
                         double near_percent) {
    std::vector<Relative> reachable;
    for (const Network& network : slices) {
        const double bound_us = bound_from(broadcasts.root, network);
        if (bound_us > 0 && std::isfinite(bound_us)) reachable.push_back({network, bound_us});
    }
    int trees = 0;
    for (std::size_t begin = 0; begin < reachable.size(); ++trees) {
        const std::size_t end = lasts_until(reachable, begin, broadcasts.root, near_percent);
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
    double bound_us = never;
    Family::Slice fastest;
    Family::Slice spanning;
};

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
        const std::vector<double> before = links_.actual().latency_us();
        result.announcements = links_.pass(slice, measurements_);
        result.changed_links = slices_ == 0 ? 0 : differences(before, links_.actual().latency_us());
        result.messages = maintained_.adapt(links_.announced(), broadcasts_.root);
        wrong_trees_ += maintained_.equals_kruskals() ? 0 : 1;

        const Topology actual =
            topology_of(links_.actual(), minimum_spanning_tree(links_.actual()));
        const Topology announced = topology_of(links_.announced(), maintained_.tree());
        result.bound_us = bound_from(broadcasts_.root, actual.network);
        const std::size_t length_bytes = broadcasts_.length_bytes;
        result.fastest = fastest_.advance(
            adapted_tree(fastest_.tree(adapting), announced, broadcasts_),
            fastest_tree(actual, broadcasts_.root, length_bytes), actual.network, length_bytes, result.bound_us);
        result.spanning =
            spanning_.advance(spanning_tree(announced, broadcasts_), spanning_tree(actual, broadcasts_),
                              actual.network, length_bytes, result.bound_us);
        networks_.push_back(actual.network);
        count(result);
        return result;
    }

    void write_totals(JsonWriter& json) const;

  private:
    /// Links have a value for each direction.
    static int differences(const std::vector<double>& before, const std::vector<double>& after) {
        int count = 0;
        for (std::size_t i = 0; i < before.size(); ++i) count += before[i] == after[i] ? 0 : 1;
        return count / 2;
    }

    void count(const SliceResult& result) {
        ++slices_;
        announcements_ += result.announcements;
        messages_ += result.messages;
        rounds_ += result.messages > 0 ? 1 : 0;
        reachable_ += std::isfinite(result.bound_us) ? 1 : 0;
    }

    int measurements_;
    Broadcasts broadcasts_;
    ReplayedLinks links_;
    MaintainedTree maintained_;
    Family fastest_;
    Family spanning_;
    std::vector<Network> networks_;
    int slices_ = 0;
    int reachable_ = 0;
    int wrong_trees_ = 0;
    int rounds_ = 0;
    long long announcements_ = 0;
    long long messages_ = 0;
};

void write_times(JsonWriter& json, std::string_view name, const Family::Slice& times) {
    json.key(name).begin_object();
    for (const Use use : uses) {
        json.member(std::string(names_of_uses[use]) + "_us", times.us[use]);
        json.member(std::string(names_of_uses[use]) + "_exchanged", times.exchanged[use]);
    }
    json.end_object();
}

void write_slice(JsonWriter& json, int number, const SliceResult& slice) {
    json.begin_object()
        .member("slice", number)
        .member("changed_links", slice.changed_links)
        .member("announcements", slice.announcements)
        .member("messages", slice.messages)
        .member("bound_us", slice.bound_us);
    write_times(json, "fastest", slice.fastest);
    write_times(json, "mst", slice.spanning);
    json.end_object();
}

void Replay::write_totals(JsonWriter& json) const {
    json.key("totals")
        .begin_object()
        .member("slices", slices_)
        .member("reachable_slices", reachable_)
        .member("near_percent", near_bound_percent)
        .member("announcements", announcements_)
        .member("rounds", rounds_)
        .member("messages", messages_)
        .member("trees_unlike_kruskal", wrong_trees_)
        .member("trees_with_foresight",
                trees_with_foresight(networks_, broadcasts_, near_bound_percent));
    fastest_.write(json, "fastest");
    spanning_.write(json, "mst");
    json.end_object();
}

}  // namespace

void replay_trace(const Words& words, std::ostream& out) {
    const Arguments arguments(words, option_names);
    if (arguments.positional().size() != 1) throw UsageError("one trace is replayed: FILE");
    const std::string& path = arguments.positional().front();
    std::ifstream file(path);
    if (!file) throw UsageError("the trace " + path + " cannot be read");
    const Trace trace = read_trace(file, path);
    const ChangeRule rule = read_rule(arguments);
    const auto measurements =
        static_cast<int>(arguments.number("measurements", 4, 1, most_measurements));
    const Broadcasts broadcasts = {
        .root = static_cast<int>(arguments.number("root", 0, 0, trace.hosts - 1)),
        .length_bytes =
            static_cast<std::size_t>(arguments.number("bytes", 24, 0, most_length_bytes)),
        .tolerance_percent = read_percent(arguments, "tolerance", usual_tolerance_percent)};
    Replay replay(trace.hosts, rule, measurements, broadcasts);
    JsonWriter json;
    json.begin_object()
        .member("hosts", trace.hosts)
        .member("root", broadcasts.root)
        .member("length_bytes", broadcasts.length_bytes)
        .member("measurements", measurements)
        .member("tolerance_percent", broadcasts.tolerance_percent)
        .member("threshold_percent", rule.threshold_percent);
    int number = 0;
    json.list("slices", trace.slices, [&](const TraceSlice& slice) { write_slice(json, number++, replay.pass(slice)); });
    replay.write_totals(json);
    json.end_object();
    out << json.take() << "\n";
}

}  // namespace mutirao::tool
