// Names of algorithms and of their parameters, as users write and read them.
#include "core/algorithms/algorithm.h"

#include <algorithm>
#include <array>

#include "core/text/names.h"
#include "core/text/numbers.h"

namespace mutirao {

namespace {

constexpr int least_radix = 2, most_radix = 64, most_spread = 1024;
constexpr std::size_t least_segment_bytes = 256, most_segment_bytes = std::size_t{1} << 30;

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// One parameter as text.
struct ParameterRow {
    std::string_view key;
    bool (*read_by)(const Algorithm&);
    /// Returns what would be valid; empty: it is.
    std::string (*assign)(const Algorithm&, Parameters&, std::string_view text);
    /// Empty where it need not be said.
    std::string (*show)(const Parameters&);
};

std::string one_of(const std::vector<std::string>& names, std::string_view text) {
    return "one of " + listed(names) + did_you_mean(text, names);
}

std::string assign_tree(const Algorithm& algorithm, Parameters& parameters, std::string_view text) {
    std::vector<std::string> names;
    for (const TreeKind kind : algorithm.trees) names.emplace_back(to_string(kind));
    if (std::ranges::find(names, text) == names.end()) return one_of(names, text);
    parameters.tree = *tree_kind_from(text);
    return {};
}

template <typename Number>
std::string assign_number(Number& parameter, std::string_view text, Number least, Number most) {
    const auto value = number_in<Number>(text);
    if (!value || *value < least || *value > most) return std::to_string(least) + ".." + std::to_string(most);
    parameter = *value;
    return {};
}

std::string assign_segment(const Algorithm&, Parameters& parameters, std::string_view text) {
    if (number_in<std::size_t>(text) == std::size_t{0}) {
        parameters.segment_bytes = 0;
        return {};
    }
    const std::string valid = assign_number(parameters.segment_bytes, text, least_segment_bytes, most_segment_bytes);
    return valid.empty() ? valid : "0 (one piece) or " + valid;
}

std::string assign_inside(const Algorithm& algorithm, Parameters& parameters, std::string_view text) {
    std::vector<std::string> names;
    for (const Algorithm& row : catalogue()) {
        if (row.collective != algorithm.collective || !row.inside_a_host) continue;
        if (row.name == text) {
            parameters.inside = row.name;
            return {};
        }
        names.emplace_back(row.name);
    }
    return one_of(names, text);
}

std::string unless_zero(std::size_t number) { return number == 0 ? std::string() : std::to_string(number); }

constexpr std::array<ParameterRow, 5> parameter_rows{{
    {"kind", [](const Algorithm& its) { return its.trees.size() > 1; }, assign_tree,
     [](const Parameters& its) { return std::string(to_string(its.tree)); }},
    {"radix", [](const Algorithm& its) { return !its.radices.empty(); },
     [](const Algorithm&, Parameters& its, std::string_view text) {
         return assign_number(its.radix, text, least_radix, most_radix);
     },
     [](const Parameters& its) { return std::to_string(its.radix); }},
    {"spread", [](const Algorithm& its) { return !its.spreads.empty(); },
     [](const Algorithm&, Parameters& its, std::string_view text) {
         return assign_number(its.spread, text, 1, most_spread);
     },
     [](const Parameters& its) { return std::to_string(its.spread); }},
    {"segment_bytes", [](const Algorithm& its) { return its.segmented; }, assign_segment,
     [](const Parameters& its) { return unless_zero(its.segment_bytes); }},
    {"inside", [](const Algorithm& its) { return its.level == Level::hosts; }, assign_inside,
     [](const Parameters& its) { return std::string(its.inside == Parameters{}.inside ? "" : its.inside); }},
}};

Candidate with_defaults(const Algorithm& algorithm) {
    Candidate candidate{&algorithm, {}};
    if (!algorithm.radices.empty()) candidate.parameters.radix = algorithm.radices.front();
    if (!algorithm.spreads.empty()) candidate.parameters.spread = algorithm.spreads.front();
    if (!algorithm.trees.empty()) candidate.parameters.tree = algorithm.trees.front();
    return candidate;
}

/// Cuts off and returns what stands before `separator`, or all.
std::string_view take_until(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return taken;
}

std::string unread_parameter(const Algorithm& algorithm, std::string_view key) {
    std::vector<std::string> names;
    for (const ParameterRow& row : parameter_rows) {
        if (row.read_by(algorithm)) names.emplace_back(row.key);
    }
    const std::string error = std::string(algorithm.name) + " has no parameter " + quoted(key);
    if (names.empty()) return error + "; it takes none";
    const std::string near = did_you_mean(key, names);
    return error + (near.empty() ? "; it takes " + listed(names) : near);
}

std::string assign_parameter(Candidate& candidate, std::string_view assignment) {
    const Algorithm& algorithm = *candidate.algorithm;
    std::string_view value = assignment;
    const std::string_view key = take_until(value, '=');
    const auto row = std::find_if(
        parameter_rows.begin(), parameter_rows.end(),
        [&](const ParameterRow& each) { return each.key == key && each.read_by(algorithm); });
    if (row == parameter_rows.end()) return unread_parameter(algorithm, key);
    const std::string valid = row->assign(algorithm, candidate.parameters, value);
    if (valid.empty()) return {};
    return std::string(key) + " " + quoted(value) + " is not valid for " + std::string(algorithm.name) + ": " + valid;
}

std::string unknown_algorithm(Collective collective, std::string_view name) {
    std::vector<std::string> names;
    for (const Algorithm& row : catalogue()) {
        if (row.collective == collective) names.emplace_back(row.name);
    }
    return "no " + std::string(to_string(collective)) + " algorithm is called " + quoted(name) +
           which_are_valid(name, names);
}

}  // namespace

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
    for (const Algorithm& row : catalogue()) {
        if (row.collective == collective && row.name == name) return &row;
    }
    return nullptr;
}

Candidate native_candidate(Collective collective) {
    return {find_algorithm(collective, "native"), {}};
}

std::string to_string(const Candidate& candidate) {
    std::string text(candidate.algorithm->name);
    char separator = ':';
    for (const ParameterRow& row : parameter_rows) {
        if (!row.read_by(*candidate.algorithm)) continue;
        const std::string value = row.show(candidate.parameters);
        if (value.empty()) continue;
        text += separator + std::string(row.key) + '=' + value;
        separator = ',';
    }
    return text;
}

ParsedCandidate parse_candidate(Collective collective, std::string_view text) {
    std::string_view rest = text;
    const std::string_view name = take_until(rest, ':');
    const Algorithm* algorithm = find_algorithm(collective, name);
    if (algorithm == nullptr) return {std::nullopt, unknown_algorithm(collective, name)};

    Candidate candidate = with_defaults(*algorithm);
    while (!rest.empty()) {
        std::string error = assign_parameter(candidate, take_until(rest, ','));
        if (!error.empty()) return {std::nullopt, std::move(error)};
    }
    return {candidate, {}};
}

}  // namespace mutirao
