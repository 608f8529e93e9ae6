// `mutirao-studies replay`: a recorded network, slice by slice, against forecasters, change detection
// and the spanning tree's maintenance; predicted broadcast times of trees that adapt or do not.
//
// A trace has a line for each slice: one-way latencies in us of all links 0-1, 0-2, .. 1-2, ..
// "nan": not measured in this slice, so what is known stays; "inf": nothing gets through.
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "core/forecast/change_detector.h"
#include "core/network/sites.h"
#include "core/network/topology.h"
#include "core/selection/estimate.h"
#include "core/spanning_tree/maintenance.h"
#include "core/text/invariant.h"
#include "core/text/json.h"
#include "core/text/numbers.h"
#include "simulate/maintenance_world.h"
#include "simulate/timed_run.h"

namespace mutirao::tool {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr int measurements_of_a_slice = 4;  // of each link

using TraceSlice = std::vector<double>;

std::vector<TraceSlice> read_trace(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw UsageError("the trace " + path + " cannot be read");
    std::vector<TraceSlice> slices;
    read_lines(file, path, [&](const Words& line) {
        TraceSlice& slice = slices.emplace_back();
        for (const std::string& word : line) {
            const auto latency_us = number_in<double>(word);
            if (!latency_us || *latency_us < 0) throw UsageError("\"" + word + "\" is no latency");
            slice.push_back(*latency_us);
        }
        if (slice.size() != slices.front().size()) throw UsageError("not as many links as before");
    });
    if (slices.empty()) throw UsageError(path + " has no slice");
    return slices;
}

int hosts_with(std::size_t links) {
    return static_cast<int>(std::lround((1 + std::sqrt(1 + 8 * static_cast<double>(links))) / 2));
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

    /// Returns how many announcements were made of it.
    int pass(const TraceSlice& slice) {
        int announcements = 0;
        std::size_t link = 0;
        for (int low = 0; low < actual_.host_count(); ++low) {
            for (int high = low + 1; high < actual_.host_count(); ++high, ++link) {
                if (std::isnan(slice[link])) continue;
                ChangeDetector& detector = detectors_[link];
                announcements += measured(detector, slice[link]);
                actual_.set_both(low, high, Link{.latency_us = slice[link]});
                announced_.set_both(low, high, Link{.latency_us = detector.announced().value_or(never)});
            }
        }
        return announcements;
    }

    const Network& actual() const { return actual_; }
    const Network& announced() const { return announced_; }

  private:
    static int measured(ChangeDetector& detector, double latency_us) {
        if (!std::isfinite(latency_us)) {
            const bool news = detector.announced().value_or(never) != never;
            if (news) detector.unreachable();
            return news ? 1 : 0;
        }
        int announcements = 0;
        for (int i = 0; i < measurements_of_a_slice; ++i) announcements += detector.measured(latency_us) ? 1 : 0;
        return announcements;
    }

    std::vector<ChangeDetector> detectors_;  ///< link by link in the order of a slice
    Network actual_;
    Network announced_;
};

/// All links that are usable both ways.
simulate::Graph usable_links(const Network& network) { return {network.host_count(), links_of(network)}; }

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

/// The minimum spanning tree of a replayed network, kept minimal by the distributed protocol itself:
/// all hosts' machines in memory, messages delivered in the order in which they were sent.
class MaintainedTree {
  public:
    /// One round, if a link changed since the last one or other hosts can be reached from `inside`;
    /// from nothing in the latter case. Returns how many messages it took.
    int adapt(const Network& announced, int inside) {
        const simulate::Graph links = usable_links(announced);
        const maintenance::Round round = next_round(announced, part_of(inside, links));
        if (round.hosts == hosts_ && round.changes.empty()) return 0;
        base_ = announced;
        hosts_ = round.hosts;
        tree_.clear();
        if (hosts_.count() == 1) return 0;
        Ended ended = run_round(round, links);
        tree_ = std::move(ended.tree);
        return ended.messages;
    }

    /// Of the hosts that can be reached.
    const EdgeList& tree() const { return tree_; }

    /// Kruskal's answer to the same question.
    bool equals_kruskals() const {
        EdgeList edges = minimum_spanning_tree(base_);
        std::erase_if(edges, [&](const auto& edge) { return !hosts_.contains(edge.first); });
        return tree_ == edges;
    }

  private:
    maintenance::Round next_round(const Network& announced, const HostSet& hosts) const {
        maintenance::Round round;
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

    Network base_;  ///< as of the last round
    EdgeList tree_;
    HostSet hosts_;
};

struct Broadcasts {
    int root = 0;
    std::size_t length_bytes = 0;
    double tolerance_percent = usual_tolerance_percent;
};

/// A tree is used as in the first slice; adapting, made from what was announced; or made anew in every slice from the
/// network as it is.
enum Use : std::size_t { first, adapting, always };
constexpr std::array<std::string_view, 3> names_of_uses = {"first", "adapting", "always"};

/// The same kind of tree, by use.
class Family {
  public:
    const std::optional<Tree>& tree(Use use) const { return trees_[use]; }

    void advance(std::optional<Tree> adapted, std::optional<Tree> made_anew) {
        if (!tree(first)) trees_[first] = made_anew;
        exchanged_[adapting] = replace(trees_[adapting], std::move(adapted));
        exchanged_[always] = replace(trees_[always], std::move(made_anew));
    }

    /// Times on the network as it is; never: it does not end.
    void write(JsonWriter& json, std::string_view name, const RankNetwork& actual, std::size_t length_bytes) const {
        json.key(name).begin_object();
        for (const Use use : {first, adapting, always}) {
            const auto us = tree(use) ? predict_tree(*tree(use), actual, length_bytes) : std::nullopt;
            json.member(std::string(names_of_uses[use]) + "_us", us.value_or(never));
            json.member(std::string(names_of_uses[use]) + "_exchanged", exchanged_[use]);
        }
        json.end_object();
    }

  private:
    /// Where there is a next one. Returns how many hosts have another parent.
    static int replace(std::optional<Tree>& tree, std::optional<Tree> next) {
        if (!next) return 0;
        int exchanged = 0;
        for (std::size_t host = 0; tree && host < next->parent.size(); ++host) {
            exchanged += tree->parent[host] != next->parent[host] ? 1 : 0;
        }
        tree = std::move(next);
        return exchanged;
    }

    std::array<std::optional<Tree>, names_of_uses.size()> trees_;
    std::array<int, names_of_uses.size()> exchanged_{};  ///< in this slice
};

/// What the library uses: of all kinds of trees the fastest, kept as renew() says.
std::optional<Tree> adapted_tree(const std::optional<Tree>& present, const RankNetwork& announced,
                                 const Broadcasts& broadcasts) {
    if (!present) return fastest_tree(announced, broadcasts.root, broadcasts.length_bytes);
    const auto renewal = renew(*present, announced, broadcasts.length_bytes, broadcasts.tolerance_percent);
    return renewal ? std::optional(renewal->tree) : present;
}

std::optional<Tree> spanning_tree(const RankNetwork& hosts, const Broadcasts& broadcasts) {
    return make_tree(hosts.topology(), TreeKind::minimum_spanning, broadcasts.root, broadcasts.length_bytes);
}

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
    if (arguments.option("threshold").value_or("auto") != "auto") {
        rule.threshold_percent = read_percent(arguments, "threshold", 0);
    }
    return rule;
}

RankNetwork hosts_of(const Network& network, const EdgeList& spanning_tree) {
    Topology topology{network, {}, discover_sites(network)};
    const bool spans = static_cast<int>(spanning_tree.size()) + 1 == network.host_count();
    if (spans) topology.spanning_tree = spanning_tree;
    return {std::move(topology), Placement::in_blocks(network.host_count(), 1)};
}

/// Links have a value for each direction.
int changed_links(const std::vector<double>& before, const std::vector<double>& after) {
    int count = 0;
    for (std::size_t i = 0; i < before.size(); ++i) count += before[i] == after[i] ? 0 : 1;
    return count / 2;
}

class Replay {
  public:
    Replay(int host_count, const ChangeRule& rule, Broadcasts broadcasts)
        : broadcasts_(broadcasts), links_(host_count, rule) {}

    void pass(const TraceSlice& slice, JsonWriter& json) {
        const std::vector<double> before = links_.actual().latency_us();
        const int announcements = links_.pass(slice);
        const int messages = maintained_.adapt(links_.announced(), broadcasts_.root);
        const RankNetwork actual = hosts_of(links_.actual(), minimum_spanning_tree(links_.actual()));
        const RankNetwork announced = hosts_of(links_.announced(), maintained_.tree());
        fastest_.advance(adapted_tree(fastest_.tree(adapting), announced, broadcasts_),
                         fastest_tree(actual, broadcasts_.root, broadcasts_.length_bytes));
        spanning_.advance(spanning_tree(announced, broadcasts_), spanning_tree(actual, broadcasts_));
        json.begin_object()
            .member("slice", slices_)
            .member("changed_links", slices_ == 0 ? 0 : changed_links(before, links_.actual().latency_us()))
            .member("announcements", announcements)
            .member("messages", messages)
            .member("tree_is_kruskals", maintained_.equals_kruskals())
            .member("bound_us", latency_bound_us(actual.between_hosts(), broadcasts_.root));
        fastest_.write(json, "fastest", actual, broadcasts_.length_bytes);
        spanning_.write(json, "mst", actual, broadcasts_.length_bytes);
        json.end_object();
        ++slices_;
    }

  private:
    Broadcasts broadcasts_;
    ReplayedLinks links_;
    MaintainedTree maintained_;
    Family fastest_;
    Family spanning_;
    int slices_ = 0;
};

}  // namespace

void replay_trace(const Words& words, std::ostream& out) {
    const Arguments arguments(words, {"threshold", "tolerance", "root", "bytes"});
    if (arguments.positional().size() != 1) throw UsageError("one trace is replayed: FILE");
    const std::vector<TraceSlice> trace = read_trace(arguments.positional().front());
    const int hosts = hosts_with(trace.front().size());
    const ChangeRule rule = read_rule(arguments);
    const Broadcasts broadcasts = {
        .root = static_cast<int>(arguments.number("root", 0, 0, hosts - 1)),
        .length_bytes = static_cast<std::size_t>(arguments.number("bytes", 24, 0, most_length_bytes)),
        .tolerance_percent = read_percent(arguments, "tolerance", usual_tolerance_percent)};
    Replay replay(hosts, rule, broadcasts);
    JsonWriter json;
    json.begin_object()
        .member("hosts", hosts)
        .member("root", broadcasts.root)
        .member("length_bytes", broadcasts.length_bytes)
        .member("tolerance_percent", broadcasts.tolerance_percent)
        .member("threshold_percent", rule.threshold_percent);
    json.list("slices", trace, [&](const TraceSlice& slice) { replay.pass(slice, json); });
    json.end_object();
    out << json.take() << "\n";
}

}  // namespace mutirao::tool
