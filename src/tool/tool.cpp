#include "tool/tool.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <ranges>
#include <span>

#include "core/algorithms/algorithm.h"
#include "core/schedule/predictor.h"
#include "core/schedule/printer.h"
#include "core/selection/bounds.h"
#include "core/selection/estimate.h"
#include "core/selection/selection.h"
#include "core/settings/settings.h"
#include "core/text/json.h"
#include "core/text/units.h"
#include "tool/network_file.h"

namespace mutirao::tool {
namespace {

constexpr int indent_spaces = 2;

/// What may go on inside a host after an algorithm between hosts.
std::vector<std::string> inside_names(Collective collective) {
    std::vector<std::string> names;
    for (const Algorithm& row : catalogue()) {
        if (row.collective == collective && row.inside_a_host) names.emplace_back(row.name);
    }
    return names;
}

/// "1, 2, 4, 8, 16, ...": how many participants an algorithm may have.
std::string sizes_that_fit(const Algorithm& algorithm) {
    constexpr int most_looked_at = 64;
    constexpr int most_named = 5;
    std::string result;
    int named = 0;
    for (int size = 1; size <= most_looked_at; ++size) {
        if (!algorithm.fits(size)) continue;
        if (named++ == most_named) return result + ", ...";
        result += (result.empty() ? "" : ", ") + std::to_string(size);
    }
    return result;
}

std::vector<std::string> restrictions_of(const Algorithm& algorithm) {
    std::vector<std::string> result;
    if (algorithm.native()) return result;
    if (row_of(algorithm.collective).reduces) {
        result.emplace_back(algorithm.keeps_order ? "keeps the operands' order"
                                                  : "operators that commute only");
    }
    if (algorithm.fits) {
        result.push_back(sizes_that_fit(algorithm) +
                         (algorithm.level == Level::hosts ? " hosts only" : " ranks only"));
    }
    return result;
}

void write_algorithm(JsonWriter& json, const Algorithm& algorithm) {
    json.begin_object();
    json.member("collective", to_string(algorithm.collective));
    json.member("name", algorithm.name);
    json.member("summary", algorithm.summary);
    json.member("source", algorithm.source);
    json.member("native", algorithm.native());
    json.list("calls", algorithm.calls, [&](Collective call) { json.value(to_string(call)); });
    json.member("segmented", algorithm.segmented);
    json.member("radices", algorithm.radices).member("spreads", algorithm.spreads);
    std::vector<std::string> candidates;
    for (const Candidate& each : candidates_in_one_piece(algorithm.collective)) {
        if (each.algorithm == &algorithm) candidates.push_back(to_string(each));
    }
    json.member("candidates", candidates);
    json.list("trees", algorithm.trees, [&](TreeKind tree) { json.value(to_string(tree)); });
    const bool goes_on_inside = algorithm.level == Level::hosts;
    json.member("insides", goes_on_inside ? inside_names(algorithm.collective) : std::vector<std::string>());
    json.member("restrictions", restrictions_of(algorithm)).end_object();
}

/// At least so many words, and no more than that; `what` says what the first ones are.
void require_words(const Arguments& arguments, std::size_t least, std::size_t most, const std::string& what) {
    if (arguments.positional().size() < least) throw UsageError("what is missing: " + what);
    if (arguments.positional().size() > most) throw UsageError("unexpected \"" + arguments.positional()[most] + "\"");
}

void list_algorithms(const Words& words, std::ostream& out) {
    require_words(Arguments(words, {}), 0, 0, "");
    JsonWriter json(indent_spaces);
    json.begin_array();
    for (const Algorithm& algorithm : catalogue()) write_algorithm(json, algorithm);
    json.end_array();
    out << json.take() << "\n";
}

void list_settings(const Words& words, std::ostream& out) {
    require_words(Arguments(words, {}), 0, 0, "");
    JsonWriter json(indent_spaces);
    json.begin_array();
    for (const SettingRow& row : setting_rows()) {
        json.begin_object()
            .member("name", row.name)
            .member("environment", environment_name(row.name))
            .member("type", row.type)
            .member("default", row.default_value)
            .member("range", row.range)
            .member("help", row.help)
            .end_object();
    }
    json.end_array();
    out << json.take() << "\n";
}

/// Says which of them are of the release before.
void check_settings(const Words& words, std::ostream& out) {
    const Arguments arguments(words, {});
    Settings settings;
    for (const std::string& word : arguments.positional()) {
        const std::size_t equals = word.find('=');
        if (equals == word.npos) throw UsageError("\"" + word + "\" is not NAME=VALUE");
        const std::string name = word.substr(0, equals);
        const std::string value = word.substr(equals + 1);
        const std::string error = assign_setting(settings, name, value);
        if (!error.empty()) throw UsageError(error);
        if (const std::string_view instead = what_replaced(name); !instead.empty()) {
            out << "setting " << name << " is gone: " << instead << "\n";
        }
    }
    const std::string error = fix_order(settings, [](std::string_view name) { return std::string(name); });
    if (!error.empty()) throw UsageError(error);
}

// --- schedules, predictions and trees on a network read from a file ------------------------------------------

constexpr int default_ranks = 8;
constexpr int most_ranks = 10'000;
constexpr long long most_length_bytes = 1LL << 40;
/// Beyond this the schedules would not fit into memory.
constexpr double most_steps = 2e7;

const std::vector<std::string> network_options = {"ranks", "root", "bytes", "network",
                                                  "ranks-per-host", "placement"};
const std::string cyclic = "cyclic";

/// Which call is made where.
struct Scene {
    std::shared_ptr<const RankNetwork> network;
    CallShape shape;

    const Topology& topology() const { return network->topology(); }
    int ranks() const { return network->rank_count(); }
};

/// Consecutive ranks share a host, or ranks go round the hosts; the last host may have fewer.
Placement placed(const std::string& placement, int ranks, int hosts, int per_host) {
    std::vector<int> host_of_rank;
    for (int rank = 0; rank < ranks; ++rank)
        host_of_rank.push_back(placement == cyclic ? rank % hosts : rank / per_host);
    return Placement(std::move(host_of_rank));
}

RankNetwork read_ranks(const Arguments& arguments) {
    const std::string placement = arguments.option("placement").value_or("blocks");
    require_one_of("placement", placement, {"blocks", cyclic});
    const auto per_host = static_cast<int>(arguments.number("ranks-per-host", 1, 1, most_ranks));
    auto ranks = static_cast<int>(arguments.number("ranks", default_ranks, 1, most_ranks));
    NetworkFile file;
    if (const auto path = arguments.option("network")) {
        file = read_network_file(*path);
        const int hosts = file.network.host_count();
        if (!arguments.option("ranks")) ranks = hosts * per_host;
        if ((ranks + per_host - 1) / per_host != hosts) {
            throw UsageError("--ranks " + std::to_string(ranks) + " with " +
                             std::to_string(per_host) + " per host, but " + *path + " has " +
                             std::to_string(hosts) + " hosts");
        }
        if (ranks > most_ranks) {
            throw UsageError("more than " + std::to_string(most_ranks) + " ranks");
        }
    } else {
        file.network = uniform_network((ranks + per_host - 1) / per_host);
    }
    const int hosts = file.network.host_count();
    const MemoryCosts memory = file.memory;
    return {topology_of(std::move(file)), placed(placement, ranks, hosts, per_host), memory};
}

Scene read_scene(const Arguments& arguments, Collective collective) {
    const CollectiveRow& row = row_of(collective);
    Scene scene;
    scene.shape.collective = collective;
    scene.network = std::make_shared<const RankNetwork>(read_ranks(arguments));
    scene.shape.root = static_cast<int>(arguments.number("root", 0, 0, scene.ranks() - 1));
    if (!row.rooted && scene.shape.root != 0) {
        throw UsageError("--root " + std::to_string(scene.shape.root) + ": " +
                         std::string(row.name) + " has no root");
    }
    const bool has_length = collective != Collective::barrier;
    scene.shape.length_bytes = static_cast<std::size_t>(
        arguments.number("bytes", has_length ? 24 : 0, 0, most_length_bytes));
    if (!has_length && scene.shape.length_bytes != 0) {
        throw UsageError("--bytes " + std::to_string(scene.shape.length_bytes) + ": " +
                         std::string(row.name) + " has no message");
    }
    // As programs reduce: doubles, where they fit.
    if (row.reduces && scene.shape.length_bytes % sizeof(double) == 0) {
        scene.shape.unit_bytes = sizeof(double);
    }
    return scene;
}

/// "24 B a rank from rank 3 of 8".
std::string describe(const Scene& scene) {
    const CallShape& shape = scene.shape;
    const CollectiveRow& row = row_of(shape.collective);
    std::string text;
    if (shape.collective != Collective::barrier) {
        text = size_text(shape.length_bytes) + (row.in_blocks == InBlocks::none ? " " : " a rank ");
    }
    const std::string ranks = std::to_string(scene.ranks());
    if (row.rooted) {
        const bool to_root =
            row.base == Collective::gather || row.base == Collective::reduce;
        text += to_root ? "to rank " : "from rank ";
        text += std::to_string(shape.root) + " of " + ranks;
    } else {
        text += "among " + ranks + (scene.ranks() == 1 ? " rank" : " ranks");
    }
    if (scene.network->placement().most_ranks_on_a_host() > 1) {
        text += " on " + std::to_string(scene.network->host_count()) + " hosts";
    }
    return text;
}

Candidate read_candidate(std::string_view text, const Scene& scene) {
    const ParsedCandidate parsed = parse_candidate(scene.shape.collective, text);
    if (!parsed.candidate) throw UsageError(parsed.error);
    const std::size_t segment_bytes = parsed.candidate->parameters.segment_bytes;
    const double segments =
        segment_bytes == 0 ? 1 : static_cast<double>(scene.shape.length_bytes / segment_bytes);
    if (segments * scene.ranks() > most_steps) {
        throw UsageError(to_string(*parsed.candidate) + " cuts " +
                         std::to_string(scene.shape.length_bytes) +
                         " bytes into too many segments");
    }
    return *parsed.candidate;
}

std::vector<Schedule> schedules_of(const Candidate& candidate, const Scene& scene) {
    if (!candidate.algorithm->has_schedule()) {
        throw UsageError(std::string(candidate.algorithm->name) + " has no schedule: it is " +
                         (candidate.native() ? "the MPI library's own"
                                             : "made of other collectives of the MPI library's"));
    }
    const auto arm = arm_for(candidate, scene.shape, *scene.network);
    if (!arm) {
        throw Failure(to_string(candidate) +
                      (candidate.algorithm->needs_tree()
                           ? " has no tree: the links do not reach every host"
                           : " is not for so many ranks"));
    }
    return *build_all(*arm, scene.shape, scene.network->placement());
}

void write_scene(JsonWriter& json, const Scene& scene) {
    json.member("collective", to_string(scene.shape.collective));
    json.member("ranks", scene.ranks());
    if (row_of(scene.shape.collective).rooted) json.member("root", scene.shape.root);
    json.member("length_bytes", scene.shape.length_bytes);
    json.list("host_of", std::views::iota(0, scene.ranks()),
              [&](int rank) { json.value(scene.network->placement().host_of(rank)); });
}

/// null where there are none, as where some rank cannot be reached.
void write_bounds(JsonWriter& json, const Scene& scene) {
    const std::optional<Bounds> bounds = lower_bounds(scene.shape, *scene.network);
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    json.member("latency_bound_us", bounds ? bounds->latency_us : none);
    json.member("bandwidth_bound_us", bounds ? bounds->bandwidth_us : none);
    json.member("reduction_bound_us", bounds ? bounds->reduction_us : none);
    json.member("bound_us", bounds ? bounds->us() : none);
}

void write_prediction(JsonWriter& json, const Prediction& prediction) {
    json.member("predicted_us", prediction.completion_us);  // null where it never ends
    json.member("rank_complete_us", prediction.rank_complete_us);
    json.list("messages", prediction.messages, [&](const TimedMessage& message) {
        json.begin_object()
            .member("from", message.from)
            .member("to", message.to)
            .member("length_bytes", message.length_bytes)
            .member("start_us", message.start_us)
            .member("arrive_us", message.arrive_us)
            .end_object();
    });
}

struct Picture {
    const Scene& scene;
    std::string title;
    std::vector<Schedule> schedules;
};

/// Nothing where the bound is 0 or there is none.
void bound_text(const Scene& scene, double predicted_us, std::ostream& out) {
    const std::optional<Bounds> bounds = lower_bounds(scene.shape, *scene.network);
    if (!bounds || bounds->us() == 0) return;
    std::array<char, 40> times;
    std::snprintf(times.data(), times.size(), "%.2f", predicted_us / bounds->us());
    out << times.data() << " x the lower bound of " << duration(bounds->us()) << "\n";
}

void picture_text(const Picture& picture, std::ostream& out) {
    const Prediction prediction = predict(picture.schedules, *picture.scene.network);
    out << picture.title << "\n";
    if (prediction.stuck) {
        out << "never ends: it uses a link that lets nothing through\n";
    } else {
        out << "predicted " << duration(prediction.completion_us) << "\n";
        bound_text(picture.scene, prediction.completion_us, out);
    }
    out << to_text(picture.schedules, picture.scene.network->placement());
}

void picture_json(const Picture& picture, std::ostream& out) {
    const Prediction prediction =
        predict(picture.schedules, *picture.scene.network, {.record_messages = true});
    JsonWriter json;
    json.begin_object();
    json.member("title", picture.title);
    write_scene(json, picture.scene);
    write_bounds(json, picture.scene);
    write_prediction(json, prediction);
    json.key("schedules").json(to_json(picture.schedules)).end_object();
    out << json.take() << "\n";
}

Collective read_collective(const std::string& name) {
    Words names;
    for (const CollectiveRow& row : collectives) names.emplace_back(row.name);
    require_one_of("collective", name, names);
    return *collective_from(name);
}

void write_evaluated(JsonWriter& json, const Candidate& candidate, std::optional<double> time_us,
                     bool in_full) {
    json.begin_object().member("candidate", to_string(candidate)).member("predicted_us", time_us);
    json.member("in_full", in_full).end_object();
}

void write_tree(JsonWriter& json, const Tree& tree, const Scene& scene) {
    const std::vector<int> hosts = from_root_down(tree);
    json.list("edges", std::span(hosts).subspan(1), [&](int host) {
        const int parent = tree.parent[static_cast<std::size_t>(host)];
        json.begin_object()
            .member("parent", parent)
            .member("child", host)
            .member("latency_us", scene.topology().network.link(parent, host).latency_us)
            .end_object();
    });
    json.member("site_of", scene.topology().site_of);
}

void show_schedule(const Words& words, std::ostream& out) {
    std::vector<std::string> options = network_options;
    options.push_back("format");
    const Arguments arguments(words, options);
    require_words(arguments, 1, 1, "COLLECTIVE/NAME");
    const std::string& name = arguments.positional().front();
    const std::size_t slash = std::min(name.find('/'), name.size());
    const Collective collective = read_collective(name.substr(0, slash));
    if (slash == name.size()) {
        throw UsageError("which algorithm of " + name + "? Say it as " + name + "/NAME");
    }
    const std::string format = arguments.option("format").value_or("json");
    require_one_of("format", format, {"json", "text"});

    const Scene scene = read_scene(arguments, collective);
    const Candidate candidate = read_candidate(std::string_view(name).substr(slash + 1), scene);
    const std::string title =
        std::string(to_string(collective)) + "/" + to_string(candidate) + ", " + describe(scene);
    (format == "json" ? picture_json : picture_text)({scene, title, schedules_of(candidate, scene)}, out);
}

void predict_candidates(const Words& words, std::ostream& out) {
    const Arguments arguments(words, network_options);
    require_words(arguments, 1, words.size(), "the collective");
    const Words& names = arguments.positional();
    const Scene scene = read_scene(arguments, read_collective(names.front()));
    std::vector<Candidate> asked;
    for (std::size_t i = 1; i < names.size(); ++i) asked.push_back(read_candidate(names[i], scene));

    const Decision decision = decide(scene.shape, scene.network, Settings{});
    JsonWriter json(2);
    json.begin_object();
    write_scene(json, scene);
    write_bounds(json, scene);
    json.key("decision").begin_object();
    json.member("candidate", to_string(decision.chosen.candidate)).member("reason", decision.reason);
    json.end_object();
    json.key("candidates").begin_array();
    for (const Candidate& candidate : asked) {
        write_evaluated(json, candidate,
                        predict_candidate(candidate, scene.shape, *scene.network), true);
    }
    if (asked.empty()) {
        for (const Evaluated& each : decision.considered) {
            write_evaluated(json, each.candidate, each.predicted_us, each.in_full);
        }
        for (const Candidate& candidate : candidates_in_one_piece(scene.shape.collective)) {
            // The others a decision had no need to predict.
            if (decision.predicted_us(candidate) || !candidate.algorithm->has_schedule()) continue;
            const auto predicted_us = estimate(candidate, scene.shape, *scene.network).time_us;
            if (predicted_us) write_evaluated(json, candidate, predicted_us, true);
        }
    }
    json.end_array().end_object();
    out << json.take() << "\n";
}

void show_tree(const Words& words, std::ostream& out) {
    const Arguments arguments(words, network_options);
    require_words(arguments, 1, 1, "the kind of tree");
    const std::string& name = arguments.positional().front();
    Words kinds;
    for (TreeKind kind : {TreeKind::minimum_spanning, TreeKind::shortest_path, TreeKind::greedy,
                          TreeKind::two_level, TreeKind::regions, TreeKind::packed, TreeKind::packed_both_ways}) {
        kinds.emplace_back(to_string(kind));
    }
    require_one_of("tree", name, kinds);
    const Scene scene = read_scene(arguments, Collective::broadcast);
    const int root_host = scene.network->placement().host_of(scene.shape.root);
    const auto tree = make_tree(scene.topology(), *tree_kind_from(name), root_host,
                                scene.shape.length_bytes);
    if (!tree) throw Failure("there is no tree: the links do not reach every host");
    JsonWriter json(2);
    json.begin_object();
    json.member("kind", name).member("hosts", scene.network->host_count());
    json.member("root", root_host);
    write_tree(json, *tree, scene);
    json.end_object();
    out << json.take() << "\n";
}

}  // namespace

int run(const Words& arguments, std::ostream& out, std::ostream& err) {
    const std::vector<Command> commands = {
        {"algorithms", "", list_algorithms},
        {"settings", "", list_settings},
        {"check-settings", "NAME=VALUE...", check_settings},
        {"show",
         "COLLECTIVE/NAME[:KEY=VALUE,...] [--ranks N] [--ranks-per-host N] [--root R] [--bytes B] "
         "[--network FILE] [--format text|json]",
         show_schedule},
        {"predict",
         "COLLECTIVE [CANDIDATE...] [--ranks N] [--ranks-per-host N] [--root R] [--bytes B] "
         "[--network FILE]",
         predict_candidates},
        {"tree", "KIND [--ranks N] [--ranks-per-host N] [--root R] [--bytes B] [--network FILE]",
         show_tree},
    };
    return run_program("mutirao-core", commands, arguments, out, err);
}

}  // namespace mutirao::tool
