// The catalogue and the settings as JSON, and as the pages that docs/ holds.
#include <functional>
#include <map>

#include "core/algorithms/algorithm.h"
#include "core/selection/candidates.h"
#include "core/settings/settings.h"
#include "core/text/json.h"
#include "tool/arguments.h"
#include "tool/commands.h"

namespace mutirao::tool {
namespace {

constexpr int indent_spaces = 2;

std::vector<std::string> radix_names(const Algorithm& algorithm) {
    std::vector<std::string> names;
    for (int radix : algorithm.radices) names.push_back(std::to_string(radix));
    return names;
}

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

/// A cell of a table: a bar would end it.
std::string cell(std::string_view text) {
    std::string result;
    for (char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
    return result;
}

std::string code(std::string_view text) {
    return text.empty() ? std::string() : "`" + cell(text) + "`";
}

std::string joined(const std::vector<std::string>& words, const std::string& separator = ", ") {
    std::string result;
    for (const std::string& word : words) result += (result.empty() ? "" : separator) + word;
    return result;
}

std::string parameters_of(const Algorithm& algorithm) {
    std::vector<std::string> parts;
    if (algorithm.trees.size() > 1) parts.push_back("kind: " + joined(tree_names(algorithm)));
    if (!algorithm.radices.empty()) parts.push_back("radix: " + joined(radix_names(algorithm)));
    if (algorithm.segmented) parts.push_back("segment_bytes");
    if (algorithm.level == Level::hosts) parts.push_back("inside");
    return joined(parts, "; ");
}

std::string quoted_list(std::vector<std::string> names) {
    for (std::string& name : names) name = code(name);
    return joined(names);
}

void write_catalogue_of(Collective collective, std::ostream& out) {
    out << "\n## " << to_string(collective) << "\n\n";
    const std::vector<std::string> insides = inside_names(collective);
    if (!insides.empty()) out << "`inside` is one of " << quoted_list(insides) << ".\n\n";
    out << "| name | what it does | parameters | restrictions | source |\n"
           "|---|---|---|---|---|\n";
    for (const Algorithm& row : catalogue()) {
        if (row.collective != collective) continue;
        out << "| " << code(row.name) << " | " << cell(row.summary) << " | "
            << cell(parameters_of(row)) << " | " << cell(joined(restrictions_of(row), "; "))
            << " | " << cell(row.source) << " |\n";
    }
}

void write_catalogue_page(std::ostream& out) {
    out << "# The catalogue of algorithms\n\n"
           "Made by `mutirao-core markdown algorithms` from the table in\n"
           "`src/core/algorithms/catalogue*.cpp`; change it there.\n\n"
           "An algorithm is asked for by the setting named as the collective, as\n"
           "`NAME:KEY=VALUE,...`, for example `MUTIRAO_BROADCAST=chain:segment_bytes=32768`. The\n"
           "values named here are those that are tried when mutirao chooses.\n\n"
           "An algorithm with the parameter `inside` runs between one rank of every host; where\n"
           "hosts have several ranks, the algorithm of that name goes on inside each, for example\n"
           "`tree:inside=flat`. Without it that is `"
        << Parameters{}.inside << "`. The others run among all ranks.\n";
    for (const CollectiveRow& row : collectives) write_catalogue_of(row.collective, out);
}

void write_settings_page(std::ostream& out) {
    out << "# Settings\n\n"
           "Made by `mutirao-core markdown settings` from the table in\n"
           "`src/core/settings/settings.cpp`; change it there.\n\n"
           "Each is set by its environment variable, or by `mutirao run --set NAME=VALUE`. A name\n"
           "that does not exist or a value out of range stops the program at its start, on every\n"
           "rank alike.\n\n"
           "| name | environment variable | type | default | range | what it does |\n"
           "|---|---|---|---|---|---|\n";
    for (const SettingRow& row : setting_rows()) {
        out << "| " << code(row.name) << " | " << code(environment_name(row.name)) << " | "
            << cell(row.type) << " | " << code(row.default_value) << " | " << cell(row.range)
            << " | " << cell(row.help) << " |\n";
    }
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

/// Prints what to put into the environment.
void check_settings(const Words& words, std::ostream& out) {
    const Arguments arguments(words, {});
    Settings settings;
    std::map<std::string, std::string> environment;
    for (const std::string& word : arguments.positional()) {
        const std::size_t equals = word.find('=');
        if (equals == word.npos) throw UsageError("\"" + word + "\" is not NAME=VALUE");
        const std::string name = word.substr(0, equals);
        const std::string value = word.substr(equals + 1);
        const std::string error = assign_setting(settings, name, value);
        if (!error.empty()) throw UsageError(error);
        environment[environment_name(name)] = value;
    }
    JsonWriter json;
    json.begin_object();
    for (const auto& [name, value] : environment) json.member(name, value);
    json.end_object();
    out << json.take() << "\n";
}

void write_markdown(const Words& words, std::ostream& out) {
    static const std::map<std::string, std::function<void(std::ostream&)>> pages = {
        {"algorithms", write_catalogue_page}, {"settings", write_settings_page}};
    const Arguments arguments(words, {});
    Words names;
    for (const auto& [name, unused] : pages) names.push_back(name);
    if (arguments.positional().size() != 1) {
        throw UsageError("markdown takes one page: " + joined(names));
    }
    require_one_of("page", arguments.positional().front(), names);
    pages.at(arguments.positional().front())(out);
}

}  // namespace mutirao::tool
