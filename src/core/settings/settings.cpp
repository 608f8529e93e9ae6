// The table of settings. A new one is one row here; the parser and `mutirao show settings`
// follow. Every error depends on the text alone and the first one is found in a
// fixed order, so that all ranks say the same and none goes on alone.
#include "core/settings/settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <utility>

#include "core/network/sites.h"
#include "core/text/names.h"
#include "core/text/numbers.h"

namespace mutirao {
namespace {

constexpr std::string_view prefix = "MUTIRAO_";
constexpr std::string_view automatic = "auto";

/// What was typed must not break an error line, nor fill the terminal.
std::string printable(std::string_view text, std::size_t longest) {
    std::string result;
    for (char c : text.substr(0, longest)) {
        result += std::iscntrl(static_cast<unsigned char>(c)) ? '?' : c;
    }
    return result + (text.size() > longest ? "..." : "");
}

std::string quoted(std::string_view text) { return "\"" + printable(text, 60) + "\""; }

/// `range` is "LEAST..MOST", the very text that the user is shown.
std::optional<std::size_t> number_within(std::string_view range, std::string_view text) {
    const std::size_t dots = range.find("..");
    const auto least = number_in<std::size_t>(range.substr(0, dots));
    const auto most = number_in<std::size_t>(range.substr(dots + 2));
    const auto value = number_in<std::size_t>(text);
    return value && *value >= *least && *value <= *most ? value : std::nullopt;
}

template <typename Number>
SettingRow integer_row(Number Settings::* member, std::string_view name,
                       std::string_view default_value, std::string_view range,
                       std::string_view help) {
    auto assign = [member, range](Settings& settings, std::string_view text) -> std::string {
        const auto value = number_within(range, text);
        if (!value) return quoted(text) + " is not an integer in " + std::string(range);
        settings.*member = static_cast<Number>(*value);
        return {};
    };
    return {name, "integer", default_value, range, help, assign};
}

/// One of a few words.
template <typename Value>
SettingRow word_row(Value Settings::* member, std::string_view name, std::string_view default_value,
                    std::vector<std::pair<std::string_view, Value>> words, std::string_view help) {
    auto assign = [member, words = std::move(words)](Settings& settings, std::string_view text) -> std::string {
        std::vector<std::string> names;
        for (const auto& [word, value] : words) {
            if (word == text) {
                settings.*member = value;
                return {};
            }
            names.emplace_back(word);
        }
        return quoted(text) + " is not " + listed(names, " or ");
    };
    return {name, "word", default_value, "", help, assign};
}

std::string assign_switch(bool& target, std::string_view text) {
    static const std::map<std::string_view, bool> words = {
        {"on", true},  {"1", true},  {"true", true},   {"yes", true},
        {"off", false}, {"0", false}, {"false", false}, {"no", false},
    };
    const auto word = words.find(text);
    if (word == words.end()) {
        return quoted(text) + " is neither on (1, true, yes) nor off (0, false, no)";
    }
    target = word->second;
    return {};
}

SettingRow switch_row(bool Settings::* member, std::string_view name, std::string_view default_value,
                      std::string_view help) {
    const auto assign = [member](Settings& settings, std::string_view text) {
        return assign_switch(settings.*member, text);
    };
    return {name, "on/off", default_value, "", help, assign, true};
}

std::string assign_algorithm(Settings& settings, Collective collective, std::string_view text) {
    auto& forced = settings.algorithms[static_cast<std::size_t>(collective)];
    if (text == automatic) {
        forced.reset();
        return {};
    }
    ParsedCandidate parsed = parse_candidate(collective, text);
    if (!parsed.candidate) return printable(parsed.error, 300);
    forced = parsed.candidate;
    return {};
}

/// One for each collective, of its name.
std::vector<SettingRow> algorithm_rows() {
    std::vector<SettingRow> rows;
    for (const CollectiveRow& row : collectives) {
        rows.push_back({row.name, "algorithm", automatic, "",
                        "The algorithm for every call of this collective, as "
                        "NAME[:KEY=VALUE,...] (see `mutirao show algorithms`); auto: mutirao chooses, as "
                        "start and trials say.",
                        [collective = row.collective](Settings& settings, std::string_view text) {
                            return assign_algorithm(settings, collective, text);
                        }});
    }
    return rows;
}

std::string assign_adaptation(Settings& settings, std::string_view text) {
    constexpr std::string_view every = "every:";
    if (text.starts_with(every)) {
        const auto count = number_within("1..1000000", text.substr(every.size()));
        if (!count) return quoted(text) + " is not every:K with K in 1..1000000";
        settings.adaptation = {Adaptation::Mode::synchronous, static_cast<int>(*count)};
        return {};
    }
    if (text != automatic && text != "off") return quoted(text) + " is not auto, off or every:K";
    settings.adaptation = {text == automatic ? Adaptation::Mode::automatic : Adaptation::Mode::off, 0};
    return {};
}

std::string assign_trials(Settings& settings, std::string_view text) {
    if (text == automatic) {
        settings.trials = Trials::automatic;
        return {};
    }
    bool on = true;
    const std::string error = assign_switch(on, text);
    if (!error.empty()) return error + " nor auto";
    settings.trials = on ? Trials::on : Trials::off;
    return {};
}

std::string assign_threshold(Settings& settings, std::string_view text) {
    if (text == automatic) {
        settings.change_threshold_percent.reset();
        return {};
    }
    double percent = -1;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, percent, std::chars_format::fixed);
    if (error != std::errc{} || stop != end || !(percent >= 0 && percent <= 1e6)) {
        return quoted(text) + " is neither auto nor a number in 0..1000000";
    }
    settings.change_threshold_percent = percent;
    return {};
}

SettingRow profile_row() {
    return {"profile", "file", automatic, "",
            "SQLite file of what earlier jobs measured, which this one starts from and adds to. auto: "
            "profile.db in $XDG_STATE_HOME/mutirao or ~/.local/state/mutirao. off: none.",
            [](Settings& settings, std::string_view text) -> std::string {
                if (text.empty()) return quoted(text) + " is not auto, off or a file";
                settings.profile = text;
                return {};
            },
            true};
}

SettingRow sites_row() {
    return {"sites", "text", "", "",
            "Which hosts are a site, where you know better than latencies tell: lists of host names with commas "
            "between, with semicolons between sites, as paris*,lyon*;tokyo-[0-9]*. A host that none names is a site "
            "by itself. Empty: as latencies tell.",
            [](Settings& settings, std::string_view text) -> std::string {
                const auto lacks_a_name = [](const auto& names) { return std::ranges::find(names, "") != names.end(); };
                if (!text.empty() && std::ranges::any_of(lists_of_hosts(text), lacks_a_name))
                    return quoted(text) + " lacks a host's name at a comma or semicolon";
                settings.sites = text;
                return {};
            },
            true};
}

SettingRow of_one_rank(SettingRow row) {
    row.may_differ = true;
    return row;
}

SettingRow file_row(std::string Settings::* member, std::string_view name, std::string_view help) {
    return {name, "file", "", "", help, [member](Settings& settings, std::string_view text) {
                settings.*member = text;
                return std::string();
            }};
}

std::vector<SettingRow> choosing_rows() {
    return {
        switch_row(&Settings::enabled, "enabled", "on",  // a rank that is switched off says so
                   "Off: every call goes to the MPI library untouched, and nothing is measured."),
        word_row<Start>(
            &Settings::start, "start", "beside",
            {{"beside", Start::beside}, {"soon", Start::soon}, {"wait", Start::wait}},
            "beside: nothing is set up before it pays; calls run natively until there is a ruling for them. "
            "soon: the same, but set up within the first few calls (for programs that run long). "
            "wait: MPI_Init waits until the network is known, and the first call of each kind for its "
            "ruling (for studies, benchmarks and tests of what is settled)."),
        of_one_rank(file_row(&Settings::report, "report",
                             "File that rank 0 writes at the end: what ran, what was predicted and why (JSON). "
                             "Empty: none.")),
        switch_row(&Settings::explain, "explain", "off",
                   "On: rank 0 says at the end, on standard error, what ran for which calls and why; in short what "
                   "`mutirao explain` makes of the report."),
        switch_row(&Settings::summary, "summary", "off",
                   "On: rank 0 says at the end, in one line on standard error, how much faster or slower collectives "
                   "were than the MPI library's own, as far as that was measured, net of what mutirao cost, and how "
                   "many calls ran by its algorithms, or why none did. `mutirao run` switches it on, but not with "
                   "--json."),
        of_one_rank(integer_row(
            &Settings::verbose, "verbose", "0", "0..3",
            "What is said on standard error while the program runs. 1: versions, libraries and "
            "hosts, by rank 0. 2: also each choice as it takes effect, and why. 3: also, by "
            "every rank, who watches the network, from when on it is known, and communicators "
            "that are taken on.")),
        {"trials", "on/off/auto", automatic, "",
         "On: what the MPI library's own take is measured first; what is predicted to be faster is tried "
         "with a few calls at a time, at a bounded cost, and only what was measured to be faster stays. "
         "Off: predictions decide. auto: on, but where one host has more ranks than processors, whose times "
         "mostly show the scheduler, the MPI library takes all calls. Without effect with start=wait and "
         "adaptation=every:K, where predictions decide.",
         assign_trials},
        word_row<Reproducibility>(
            &Settings::reproducibility, "reproducibility", "stable",
            {{"fast", Reproducibility::fast},
             {"stable", Reproducibility::stable},
             {"bitwise", Reproducibility::bitwise}},
            "How much the rounding of reductions may depend on what is chosen. fast: any algorithm at any "
            "time. stable: several are tried until a choice is made, which explain shows; then it stays, but "
            "where the network changes. bitwise: operands are combined in the order of the ranks, one after "
            "the other, from the first call on, so that the same ranks get the same bits in every run and on "
            "every network; MPI_Init and the first call on each communicator wait for the other ranks."),
    };
}

std::vector<SettingRow> measuring_rows() {
    return {
        {"adaptation", "word", automatic, "",
         "auto: agents measure beside the program, and communicators take up changes without "
         "stopping. off: the network of the start is used to the end. every:K: links are measured "
         "and the tree is adapted inside every K-th call, which waits for it. (In paper 000 off "
         "is AGM, every:1 AGM-adap and every:4 AGM-adapII.)",
         assign_adaptation},
        {"change_threshold_percent", "number", automatic, "0..1000000",
         "A link counts as changed when its latency differs by more than this from what was last "
         "told of it. auto: when it leaves the band of its forecast error.",
         assign_threshold},
        word_row<AgentPlace>(
            &Settings::agent, "agent", automatic,
            {{automatic, AgentPlace::automatic},
             {"thread", AgentPlace::thread},
             {"daemon", AgentPlace::daemon},
             {"in-band", AgentPlace::in_band},
             {"off", AgentPlace::none}},
            "Who measures the links while the program runs: a thread in one rank of each host, the "
            "hosts' daemons (mutirao agent), auto (daemons where every host has one, otherwise threads), "
            "in-band (the ranks themselves, by MPI messages while they are inside calls), or off (nobody)."),
        integer_row(&Settings::agent_interval_ms, "agent_interval_ms", "250", "20..60000",
                    "Time between two probes of a link in use; other links are probed ten times "
                    "more rarely."),
        file_row(&Settings::series, "series",
                 "SQLite file that each host's agent adds its measurements to, for mutirao top. "
                 "Empty: none."),
        profile_row(),
        sites_row(),
        integer_row(&Settings::ranks_per_host, "ranks_per_host", "0", "0..1000000",
                    "Treat every so many consecutive ranks as one host, to try mutirao on a single "
                    "machine. 0: ranks that share memory share a host."),
        integer_row(&Settings::probe_timeout_ms, "probe_timeout_ms", "5000", "1..600000",
                    "A link whose probe has no answer after this time counts as unusable."),
        integer_row(&Settings::eager_limit_bytes, "eager_limit_bytes", "0", "0..1073741824",
                    "Messages longer than this wait for the receiver first (rendezvous). 0: the "
                    "known default of the MPI library."),
    };
}

/// Settings of the release before, which are accepted without effect, and what replaced them.
constexpr std::pair<std::string_view, std::string_view> retired[] = {
    {"verbose_file", "what `verbose` says goes to standard error"},
    {"agent_priority", "an agent's thread keeps the priority and the processors of its process"},
    {"probe_count", "three round trips are measured on each link"},
    {"detached_bytes", "as much is left behind as the kernel takes at once"},
};

/// `name`: after `prefix`, with which all are spelled here; `spelled` turns a row's name into what the user
/// would have written after it.
template <typename Spelled>
std::string unknown(std::string_view name, std::string_view before, Spelled spelled) {
    std::vector<std::string> names;
    for (const SettingRow& row : setting_rows()) names.push_back(spelled(row.name));
    return "unknown setting " + quoted(std::string(before) + std::string(name)) + which_are_valid(name, names, before);
}

std::string in_capitals(std::string_view name) {
    std::string result;
    for (char c : name) result += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return result;
}

}  // namespace

std::string environment_name(std::string_view name) {
    return std::string(prefix) + in_capitals(name);
}

std::span<const SettingRow> setting_rows() {
    static const std::vector<SettingRow> rows = [] {
        std::vector<SettingRow> all = choosing_rows();
        const std::vector<SettingRow> algorithms = algorithm_rows(), measuring = measuring_rows();
        all.insert(all.begin() + 2, algorithms.begin(), algorithms.end());  // after enabled and start
        all.insert(all.end(), measuring.begin(), measuring.end());
        return all;
    }();
    return rows;
}

bool may_differ_between_ranks(std::string_view entry) {
    const std::string_view name = entry.substr(0, entry.find('='));
    return std::ranges::any_of(setting_rows(), [&](const SettingRow& row) {
        return row.may_differ && environment_name(row.name) == name;
    });
}

std::string fix_order(Settings& settings, std::string (*spelled)(std::string_view name)) {
    if (settings.reproducibility != Reproducibility::bitwise) return {};
    for (const Algorithm& algorithm : catalogue()) {
        const std::optional<Candidate>& forced = settings.forced(algorithm.collective);
        if (!forced && algorithm.from_first) settings.force({&algorithm, {}});
        if (forced && row_of(algorithm.collective).reduces && !forced->algorithm->from_first) {
            return spelled(to_string(algorithm.collective)) + ": " + std::string(forced->algorithm->name) +
                   " does not combine operands from the first rank on, as reproducibility=bitwise asks";
        }
    }
    return {};
}

ParsedSettings parse_environment(std::span<const std::string> environment) {
    std::map<std::string, std::string> ours;  // sorted: environ's order may differ between ranks
    for (std::string_view entry : environment) {
        const std::size_t equals = entry.find('=');
        if (!entry.starts_with(prefix) || equals == entry.npos) continue;
        ours.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }

    ParsedSettings result;
    std::map<std::string, std::string> left = ours;
    for (const SettingRow& row : setting_rows()) left.erase(environment_name(row.name));
    for (const auto& [name, instead] : retired) left.erase(environment_name(name));
    if (!left.empty()) {
        result.error = unknown(std::string_view(left.begin()->first).substr(prefix.size()), prefix,
                               in_capitals);
        return result;
    }
    for (const SettingRow& row : setting_rows()) {
        const auto entry = ours.find(environment_name(row.name));
        if (entry == ours.end()) continue;
        const std::string error = row.assign(result.settings, entry->second);
        if (error.empty()) continue;
        result.error = entry->first + ": " + error;
        return result;
    }
    result.error = fix_order(result.settings, environment_name);
    return result;
}

std::string_view what_replaced(std::string_view name) {
    const auto row = std::ranges::find(retired, name, [](const auto& each) { return each.first; });
    return row == std::end(retired) ? std::string_view() : row->second;
}

std::string assign_setting(Settings& settings, std::string_view name, std::string_view value) {
    if (!what_replaced(name).empty()) return {};
    const auto row = std::ranges::find(setting_rows(), name, &SettingRow::name);
    if (row == setting_rows().end()) return unknown(name, "", [](std::string_view text) { return std::string(text); });
    const std::string error = row->assign(settings, value);
    return error.empty() ? error : std::string(name) + ": " + error;
}

}  // namespace mutirao
