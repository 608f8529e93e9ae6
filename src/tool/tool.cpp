// The catalogue and the settings as JSON.
#include "tool/tool.h"

#include <algorithm>

#include "core/algorithms/algorithm.h"
#include "core/selection/selection.h"
#include "core/settings/settings.h"
#include "core/text/json.h"

namespace mutirao::tool {
namespace {

constexpr int indent_spaces = 2;

std::vector<std::string> tree_names(const Algorithm& algorithm) {
    std::vector<std::string> names;
    for (TreeKind tree : algorithm.trees) names.emplace_back(to_string(tree));
    return names;
}

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
    json.key("calls").begin_array();
    for (const Collective call : algorithm.calls) json.value(to_string(call));
    json.end_array();
    json.member("segmented", algorithm.segmented);
    json.key("segments_bytes").begin_array();
    if (algorithm.segmented) {
        for (std::size_t size : all_segment_sizes()) json.value(size);
    }
    json.end_array().key("radices").begin_array();
    for (int radix : algorithm.radices) json.value(radix);
    json.end_array().key("spreads").begin_array();
    for (int spread : algorithm.spreads) json.value(spread);
    json.end_array().member("most_outer", algorithm.most_outer);
    json.key("candidates").begin_array();
    for (const Candidate& each : candidates_in_one_piece(algorithm.collective)) {
        if (each.algorithm == &algorithm) json.value(to_string(each));
    }
    json.end_array();
    json.key("trees").begin_array();
    for (const std::string& tree : tree_names(algorithm)) json.value(tree);
    json.end_array().key("insides").begin_array();
    if (algorithm.level == Level::hosts) {
        for (const std::string& inside : inside_names(algorithm.collective)) json.value(inside);
    }
    json.end_array().key("restrictions").begin_array();
    for (const std::string& restriction : restrictions_of(algorithm)) json.value(restriction);
    json.end_array().end_object();
}

void take_no_words(const Words& words) {
    const Arguments arguments(words, {});
    if (arguments.positional().empty()) return;
    throw UsageError("unexpected \"" + arguments.positional().front() + "\"");
}

}  // namespace

void list_algorithms(const Words& words, std::ostream& out) {
    take_no_words(words);
    JsonWriter json(indent_spaces);
    json.begin_array();
    for (const Algorithm& algorithm : catalogue()) write_algorithm(json, algorithm);
    json.end_array();
    out << json.take() << "\n";
}

void list_settings(const Words& words, std::ostream& out) {
    take_no_words(words);
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
}

namespace {

const std::vector<Command>& commands() {
    static const std::vector<Command> table = {
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
    return table;
}

}  // namespace

int run(const Words& arguments, std::ostream& out, std::ostream& err) {
    return run_program("mutirao-core", commands(), arguments, out, err);
}

}  // namespace mutirao::tool
