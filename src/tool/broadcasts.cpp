// Schedules, predictions and trees on a network read from a file.
#include <algorithm>
#include <fstream>
#include <functional>
#include <map>

#include "core/schedule/predictor.h"
#include "core/schedule/printer.h"
#include "core/selection/selection.h"
#include "core/spanning_tree/kruskal.h"
#include "core/text/json.h"
#include "tool/arguments.h"
#include "tool/commands.h"
#include "tool/network_file.h"

namespace mutirao::tool {
namespace {

constexpr int default_ranks = 8;
constexpr int most_ranks = 10'000;
constexpr long long most_length_bytes = 1LL << 40;
/// Beyond this the schedules would not fit into memory.
constexpr double most_steps = 2e7;

const std::vector<std::string> network_options = {"ranks", "root", "bytes", "network"};

/// What is to be broadcast where.
struct Scene {
    Topology topology;
    int root = 0;
    std::size_t length_bytes = 0;

    int hosts() const { return topology.network.host_count(); }
};

Topology read_topology(const std::string& path) {
    std::ifstream input(path);
    if (!input) throw UsageError("the network file " + path + " cannot be read");
    NetworkFile file = read_network(input, path);
    if (!file.error.empty()) throw UsageError(file.error);
    Topology topology;
    topology.network = std::move(file.network);
    topology.site_of = std::move(file.site_of);
    return topology;
}

Scene read_scene(const Arguments& arguments) {
    Scene scene;
    const auto ranks = static_cast<int>(arguments.number("ranks", default_ranks, 1, most_ranks));
    if (const auto path = arguments.option("network")) {
        scene.topology = read_topology(*path);
        if (arguments.option("ranks") && ranks != scene.hosts()) {
            throw UsageError("--ranks " + std::to_string(ranks) + ", but " + *path + " has " +
                             std::to_string(scene.hosts()) + " hosts");
        }
    } else {
        scene.topology.network = uniform_network(ranks);
    }
    const Network& network = scene.topology.network;
    const EdgeList edges = minimum_spanning_tree(network);
    if (static_cast<int>(edges.size()) + 1 == scene.hosts()) scene.topology.spanning_tree = edges;
    if (scene.topology.site_of.empty()) scene.topology.site_of = discover_sites(network);
    scene.root = static_cast<int>(arguments.number("root", 0, 0, scene.hosts() - 1));
    scene.length_bytes =
        static_cast<std::size_t>(arguments.number("bytes", 24, 0, most_length_bytes));
    return scene;
}

Candidate read_candidate(std::string_view text, const Scene& scene) {
    const ParsedCandidate parsed = parse_candidate(Collective::broadcast, text);
    if (!parsed.candidate) throw UsageError(parsed.error);
    const std::size_t segment_bytes = parsed.candidate->parameters.segment_bytes;
    const double segments =
        segment_bytes == 0 ? 1 : static_cast<double>(scene.length_bytes / segment_bytes);
    if (segments * scene.hosts() > most_steps) {
        throw UsageError(to_string(*parsed.candidate) + " cuts " +
                         std::to_string(scene.length_bytes) + " bytes into too many segments");
    }
    return *parsed.candidate;
}

std::vector<Schedule> schedules_of(const Candidate& candidate, const Scene& scene) {
    if (candidate.algorithm->native()) {
        throw UsageError("native has no schedule: it is the MPI library's own");
    }
    auto schedules = build_all(candidate, scene.topology, scene.root, scene.length_bytes);
    if (!schedules) {
        throw Failure(to_string(candidate) + " has no tree: the links do not reach every host");
    }
    return *schedules;
}

void write_scene(JsonWriter& json, const Scene& scene) {
    json.member("collective", "broadcast");
    json.member("ranks", scene.hosts());
    json.member("root", scene.root);
    json.member("length_bytes", scene.length_bytes);
}

void write_prediction(JsonWriter& json, const Prediction& prediction) {
    if (prediction.stuck) {
        json.key("predicted_us").null();
    } else {
        json.member("predicted_us", prediction.completion_us);
    }
    json.key("rank_complete_us").begin_array();
    for (double time_us : prediction.rank_complete_us) json.value(time_us);
    json.end_array();
    json.key("messages").begin_array();
    for (const TimedMessage& message : prediction.messages) {
        json.begin_object()
            .member("from", message.from)
            .member("to", message.to)
            .member("length_bytes", message.length_bytes)
            .member("start_us", message.start_us)
            .member("arrive_us", message.arrive_us)
            .end_object();
    }
    json.end_array();
}

struct Picture {
    const Scene& scene;
    std::string title;
    std::vector<Schedule> schedules;
};

void picture_text(const Picture& picture, std::ostream& out) {
    const Prediction prediction = predict(picture.schedules, picture.scene.topology.network);
    out << picture.title << "\n";
    if (prediction.stuck) {
        out << "never ends: it uses a link that lets nothing through\n";
    } else {
        out << "predicted " << json_number(prediction.completion_us) << " us\n";
    }
    out << to_text(picture.schedules);
}

void picture_json(const Picture& picture, std::ostream& out) {
    const Prediction prediction =
        predict(picture.schedules, picture.scene.topology.network, {.record_messages = true});
    JsonWriter json;
    json.begin_object();
    json.member("title", picture.title);
    write_scene(json, picture.scene);
    write_prediction(json, prediction);
    json.end_object();
    std::string text = json.take();
    text.pop_back();
    out << text << ",\"schedules\":" << to_json(picture.schedules) << "}\n";
}

void picture_svg(const Picture& picture, std::ostream& out) {
    out << to_svg(picture.schedules, picture.scene.topology.network, picture.title);
}

void require_words(const Arguments& arguments, std::size_t least, const std::string& what) {
    if (arguments.positional().size() < least) throw UsageError("what is missing: " + what);
}

void require_no_more(const Arguments& arguments, std::size_t most) {
    if (arguments.positional().size() <= most) return;
    throw UsageError("unexpected \"" + arguments.positional()[most] + "\"");
}

void require_collective(const std::string& name) {
    require_one_of("collective", name, {std::string(to_string(Collective::broadcast))});
}

void write_evaluated(JsonWriter& json, const Candidate& candidate, std::optional<double> time_us) {
    json.begin_object().member("candidate", to_string(candidate));
    if (time_us) {
        json.member("predicted_us", *time_us);
    } else {
        json.key("predicted_us").null();
    }
    json.end_object();
}

/// Hosts from the root down, each parent's children in the order in which it serves them.
std::vector<int> from_the_root(const Tree& tree) {
    std::vector<int> order = {tree.root};
    for (std::size_t next = 0; next < order.size(); ++next) {
        const auto& children = tree.children[static_cast<std::size_t>(order[next])];
        order.insert(order.end(), children.begin(), children.end());
    }
    return order;
}

void write_tree(JsonWriter& json, const Tree& tree, const Scene& scene) {
    json.key("edges").begin_array();
    for (int host : from_the_root(tree)) {
        const int parent = tree.parent[static_cast<std::size_t>(host)];
        if (parent < 0) continue;
        json.begin_object()
            .member("parent", parent)
            .member("child", host)
            .member("latency_us", scene.topology.network.link(parent, host).latency_us)
            .end_object();
    }
    json.end_array();
    json.key("site_of").begin_array();
    for (int site : scene.topology.site_of) json.value(site);
    json.end_array();
}

}  // namespace

void show_schedule(const Words& words, std::ostream& out) {
    static const std::map<std::string, std::function<void(const Picture&, std::ostream&)>>
        formats = {{"text", picture_text}, {"json", picture_json}, {"svg", picture_svg}};
    std::vector<std::string> options = network_options;
    options.push_back("format");
    const Arguments arguments(words, options);
    require_words(arguments, 1, "broadcast/NAME");
    require_no_more(arguments, 1);
    const std::string& name = arguments.positional().front();
    const std::size_t slash = std::min(name.find('/'), name.size());
    require_collective(name.substr(0, slash));
    if (slash == name.size()) throw UsageError("what is missing: broadcast/NAME");
    const std::string format = arguments.option("format", "json");
    Words format_names;
    for (const auto& [each, unused] : formats) format_names.push_back(each);
    require_one_of("format", format, format_names);

    const Scene scene = read_scene(arguments);
    const Candidate candidate = read_candidate(std::string_view(name).substr(slash + 1), scene);
    const std::string title = "broadcast/" + to_string(candidate) + ", " +
                              std::to_string(scene.length_bytes) + " bytes from rank " +
                              std::to_string(scene.root) + " of " + std::to_string(scene.hosts());
    formats.at(format)({scene, title, schedules_of(candidate, scene)}, out);
}

void predict_candidates(const Words& words, std::ostream& out) {
    const Arguments arguments(words, network_options);
    require_words(arguments, 1, "the collective, broadcast");
    const Words& names = arguments.positional();
    require_collective(names.front());
    const Scene scene = read_scene(arguments);
    std::vector<Candidate> asked;
    for (std::size_t i = 1; i < names.size(); ++i) asked.push_back(read_candidate(names[i], scene));

    const Decision decision =
        decide_broadcast(scene.topology, Settings{}, scene.root, scene.length_bytes);
    JsonWriter json(2);
    json.begin_object();
    write_scene(json, scene);
    json.key("decision").begin_object();
    json.member("candidate", to_string(decision.chosen)).member("reason", decision.reason);
    json.end_object();
    json.key("candidates").begin_array();
    for (const Candidate& candidate : asked) {
        write_evaluated(json, candidate, predict_broadcast(candidate, scene.topology, scene.root,
                                                           scene.length_bytes));
    }
    if (asked.empty()) {
        for (const Evaluated& each : decision.considered) {
            write_evaluated(json, each.candidate, each.predicted_us);
        }
    }
    json.end_array().end_object();
    out << json.take() << "\n";
}

void show_tree(const Words& words, std::ostream& out) {
    const Arguments arguments(words, network_options);
    require_words(arguments, 1, "the kind of tree");
    require_no_more(arguments, 1);
    const std::string& name = arguments.positional().front();
    Words kinds;
    for (TreeKind kind : {TreeKind::minimum_spanning, TreeKind::shortest_path, TreeKind::greedy,
                          TreeKind::two_level}) {
        kinds.emplace_back(to_string(kind));
    }
    require_one_of("tree", name, kinds);
    const Scene scene = read_scene(arguments);
    const auto tree =
        make_tree(scene.topology, *tree_kind_from(name), scene.root, scene.length_bytes);
    if (!tree) throw Failure("there is no tree: the links do not reach every host");
    JsonWriter json(2);
    json.begin_object();
    json.member("kind", name).member("ranks", scene.hosts()).member("root", scene.root);
    write_tree(json, *tree, scene);
    json.end_object();
    out << json.take() << "\n";
}

}  // namespace mutirao::tool
