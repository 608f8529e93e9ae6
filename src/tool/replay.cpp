// `mutirao-core replay`: a recorded network, slice by slice, against forecasters, change detection
// and the spanning tree's maintenance; predicted broadcast times of trees that adapt or do not.
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>

#include "core/spanning_tree/kruskal.h"
#include "core/text/json.h"
#include "tool/arguments.h"
#include "tool/commands.h"
#include "tool/replay_foresight.h"
#include "tool/replay_links.h"
#include "tool/replay_trace.h"
#include "tool/replay_tracks.h"
#include "tool/replay_tree.h"

namespace mutirao::tool {
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
    double value = 0;
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, value);
    if (error != std::errc{} || stop != end || !(value >= 0 && value <= most_percent)) {
        throw UsageError("--" + name + " " + *text + " is not a number of percent in 0..10000");
    }
    return value;
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
struct NearCounts {
    int first = 0;
    int adapting = 0;
    int always = 0;

    void add(const TrackTimes& times, double most_us) {
        first += times.first_us && *times.first_us <= most_us ? 1 : 0;
        adapting += times.adapting_us && *times.adapting_us <= most_us ? 1 : 0;
        always += times.always_us && *times.always_us <= most_us ? 1 : 0;
    }
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
        fastest_near_.add(result.fastest, most_us);
        spanning_near_.add(result.spanning, most_us);
    }

    int measurements_;
    Broadcasts broadcasts_;
    ReplayedLinks links_;
    MaintainedTree maintained_;
    Family fastest_;
    Family spanning_;
    NearCounts fastest_near_;
    NearCounts spanning_near_;
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
    write_optional(json, "first_us", times.first_us);
    write_optional(json, "adapting_us", times.adapting_us);
    write_optional(json, "always_us", times.always_us);
    json.member("adapting_exchanged", times.adapting_exchanged)
        .member("always_exchanged", times.always_exchanged)
        .end_object();
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

void write_track(JsonWriter& json, std::string_view name, const Track& track, int near) {
    json.key(name)
        .begin_object()
        .member("near_bound", near)
        .member("switches", track.switches())
        .member("exchanged_links", track.exchanged_links())
        .end_object();
}

void write_family(JsonWriter& json, std::string_view name, const Family& family,
                  const NearCounts& near) {
    json.key(name).begin_object();
    write_track(json, "first", family.first, near.first);
    write_track(json, "adapting", family.adapting, near.adapting);
    write_track(json, "always", family.always, near.always);
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
