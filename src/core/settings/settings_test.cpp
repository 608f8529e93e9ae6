#include "core/settings/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/text/names.h"

namespace mutirao {
namespace {

std::string environment_error(const std::vector<std::string>& environment) {
    return parse_environment(environment).error;
}

bool one_line(const std::string& text) {
    return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
        return std::iscntrl(static_cast<unsigned char>(c)) != 0;
    });
}

// Catches a documented default that differs from the one in the struct.
TEST(Settings, EveryDefaultIsWhatTheStructSays) {
    Settings settings;
    // So that a default that does nothing is seen.
    settings.enabled = false;
    settings.force({find_algorithm(Collective::broadcast, "flat"), {}});
    settings.report = "somewhere.json";
    settings.ranks_per_host = 77;
    settings.probe_timeout_ms = 77;
    settings.eager_limit_bytes = 77;
    for (const SettingRow& row : setting_rows()) {
        EXPECT_EQ(assign_setting(settings, row.name, row.default_value), "") << row.name;
    }
    EXPECT_EQ(settings, Settings{});
}

TEST(Settings, RowsAreCompleteAndNamedOnce) {
    std::set<std::string_view> names;
    for (const SettingRow& row : setting_rows()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_FALSE(row.type.empty()) << row.name;
        EXPECT_FALSE(row.help.empty()) << row.name;
        EXPECT_EQ(row.type == "integer" || row.type == "number", !row.range.empty()) << row.name;
    }
}

// Catches bounds that are off by one: the ends are valid, their outer neighbours are not.
TEST(Settings, IntegersKeepToTheirRange) {
    for (const SettingRow& row : setting_rows()) {
        if (row.type != "integer") continue;
        const std::string range(row.range);
        const long long least = std::stoll(range);
        const long long most = std::stoll(range.substr(range.find("..") + 2));
        Settings settings;
        EXPECT_EQ(assign_setting(settings, row.name, std::to_string(least)), "");
        EXPECT_EQ(assign_setting(settings, row.name, std::to_string(most)), "");
        for (const std::string& bad :
             {std::to_string(least - 1), std::to_string(most + 1), std::string("3x"),
              std::string(" 3"), std::string("3.5"), std::string(), std::string("+3"),
              std::string("99999999999999999999999")}) {
            const std::string error = assign_setting(settings, row.name, bad);
            EXPECT_NE(error.find("\"" + bad + "\""), error.npos) << error;
            EXPECT_NE(error.find(row.range), error.npos) << error;
            EXPECT_NE(error.find(row.name), error.npos) << error;
        }
    }
}

/// Each of these texts makes that of the member, and none of the others is accepted or changes it.
template <class Value>
void expect_values(std::string_view name, Value Settings::* member,
                   const std::vector<std::pair<std::string, Value>>& valid, const std::vector<std::string>& wrong) {
    Settings settings;
    for (const auto& [text, value] : valid) {
        EXPECT_EQ(assign_setting(settings, name, text), "") << text;
        EXPECT_EQ(settings.*member, value) << text;
    }
    for (const std::string& text : wrong) {
        EXPECT_TRUE(one_line(assign_setting(settings, name, text))) << text;
        EXPECT_EQ(settings.*member, valid.back().second) << text;
    }
}

TEST(Settings, TakeTheirWordsAndNoOthers) {
    expect_values("adaptation", &Settings::adaptation,
                  {{"every:4", {Adaptation::Mode::synchronous, 4}}, {"off", {Adaptation::Mode::off, 0}}, {"auto", {}}},
                  {"", "on", "every", "every:", "every:0", "every:x", "every:4 "});
    expect_values("change_threshold_percent", &Settings::change_threshold_percent,
                  {{"12.5", 12.5}, {"auto", std::nullopt}, {"0", 0.0}},
                  {"", "-1", "1e3", "nan", "inf", "10%", "1000001"});
    expect_values<std::string>("sites", &Settings::sites,
                               {{"paris", "paris"}, {"paris*,lyon;tokyo-[0-9]", "paris*,lyon;tokyo-[0-9]"}, {"", ""}},
                               {";", ",", "a,", "a;", ";a", "a,,b", "a;;b"});
    expect_values("agent", &Settings::agent,
                  {{"thread", AgentPlace::thread}, {"daemon", AgentPlace::daemon}, {"in-band", AgentPlace::in_band},
                   {"off", AgentPlace::none}, {"auto", AgentPlace::automatic}},
                  {"none"});
    expect_values("enabled", &Settings::enabled,
                  {{"off", false}, {"on", true}, {"0", false}, {"1", true}, {"false", false}, {"true", true},
                   {"no", false}, {"yes", true}},
                  {"", "maybe", "On ", "2"});
}

TEST(Settings, Broadcast) {
    Settings settings;
    EXPECT_EQ(assign_setting(settings, "broadcast", "chain:segment_bytes=8192"), "");
    ASSERT_TRUE(settings.forced(Collective::broadcast));
    EXPECT_EQ(settings.forced(Collective::broadcast)->algorithm->name, "chain");
    EXPECT_EQ(settings.forced(Collective::broadcast)->parameters.segment_bytes, 8192u);
    EXPECT_TRUE(one_line(assign_setting(settings, "broadcast", "chian")));
    EXPECT_EQ(assign_setting(settings, "broadcast", "auto"), "");
    EXPECT_FALSE(settings.forced(Collective::broadcast));
}

TEST(Settings, UnknownNames) {
    Settings settings;
    EXPECT_EQ(assign_setting(settings, "Report", "x"), "unknown setting \"Report\"; did you mean report?");
    const std::string far = assign_setting(settings, "zzzzzzzz", "3");
    for (const SettingRow& row : setting_rows()) EXPECT_NE(far.find(row.name), far.npos) << far;
}

TEST(Settings, ThoseOfTheReleaseBeforeDoNothing) {
    Settings settings;
    EXPECT_EQ(assign_setting(settings, "probe_count", "no number"), "");
    EXPECT_EQ(environment_error({"MUTIRAO_PROBE_COUNT=7"}), "");
    EXPECT_EQ(settings, Settings{});
    EXPECT_FALSE(what_replaced("probe_count").empty());
    for (const SettingRow& row : setting_rows()) EXPECT_TRUE(what_replaced(row.name).empty()) << row.name;
}

TEST(Environment, TakesOursAndLeavesTheRest) {
    const std::vector<std::string> environment = {
        "PATH=/bin", "MUTIRAO_RANKS_PER_HOST=7", "XMUTIRAO_Y=1", "MUTIRAO_REPORT=a=b",
        "MUTIRAO_ENABLED=no", "mutirao_report=z", "MUTIRAO_WITHOUT_EQUALS"};
    const ParsedSettings parsed = parse_environment(environment);
    EXPECT_EQ(parsed.error, "");
    EXPECT_EQ(parsed.settings.ranks_per_host, 7);
    EXPECT_EQ(parsed.settings.report, "a=b");
    EXPECT_FALSE(parsed.settings.enabled);
    EXPECT_EQ(parse_environment({}).settings, Settings{});
}

TEST(Environment, ErrorsNameTheVariable) {
    EXPECT_EQ(environment_error({"MUTIRAO_BROADCST=x"}),
              "unknown setting \"MUTIRAO_BROADCST\"; did you mean MUTIRAO_BROADCAST?");
    EXPECT_EQ(environment_error({"MUTIRAO_AGENT_INTERVAL_MS=0"}),
              "MUTIRAO_AGENT_INTERVAL_MS: \"0\" is not an integer in 20..60000");
    EXPECT_TRUE(one_line(environment_error({"MUTIRAO_RANKS_PER_HOST=1\n2"})));
    EXPECT_TRUE(one_line(environment_error({"MUTIRAO_BROADCAST=a\nb"})));
    EXPECT_TRUE(one_line(environment_error({"MUTIRAO_=1"})));
    EXPECT_TRUE(one_line(environment_error({"MUTIRAO_ENABLED=" + std::string(5000, 'x')})));
}

TEST(Environment, WhatIsSaidAndWhereConcernsOneRankOnly) {
    std::vector<std::string> may;
    for (const SettingRow& row : setting_rows()) {
        if (may_differ_between_ranks(environment_name(row.name) + "=on")) may.emplace_back(row.name);
    }
    EXPECT_EQ(may, (std::vector<std::string>{"enabled", "report", "explain", "summary", "verbose", "profile", "sites"}));
    EXPECT_FALSE(may_differ_between_ranks("MUTIRAO_REPORTER=x"));
}

// Catches a parser that stops at the first fault in environ's order, which differs between hosts.
TEST(Environment, EveryRankSaysTheSame) {
    std::vector<std::string> environment = {"MUTIRAO_ZZZ=1", "MUTIRAO_AAA=1",
                                            "MUTIRAO_AGENT_INTERVAL_MS=0", "MUTIRAO_ENABLED=maybe"};
    std::sort(environment.begin(), environment.end());
    const std::string first = environment_error(environment);
    do {
        EXPECT_EQ(environment_error(environment), first);
    } while (std::next_permutation(environment.begin(), environment.end()));

    EXPECT_EQ(environment_error({"MUTIRAO_AGENT_INTERVAL_MS=0", "MUTIRAO_ENABLED=maybe"}),
              environment_error({"MUTIRAO_ENABLED=maybe", "MUTIRAO_AGENT_INTERVAL_MS=0"}));
}

using Names = std::vector<std::string>;
const Names some_names = {"binomial", "chain", "flat", "native", "scatter_ring", "tree"};

TEST(DidYouMean, NamesTheNearestUpToThree) {
    struct {
        const char* given;
        Names valid;
        const char* answer;
    } const cases[] = {
        {"binomail", some_names, "; did you mean binomial?"},
        {"FLAT", some_names, "; did you mean flat?"},
        {"chian", some_names, "; did you mean chain?"},
        {"scatter", some_names, "; did you mean scatter_ring?"},
        {"scatter-ring", some_names, "; did you mean scatter_ring?"},
        {"quicksort", some_names, ""},
        {"", {"binomial"}, ""},
        {"trea", {"treb", "tree", "tre"}, "; did you mean tre, treb or tree?"},
        {"abdc", {"abxy", "abcd"}, "; did you mean abcd?"},  // neighbours that are swapped count once
        {"aa", {"ab", "ac"}, "; did you mean ab or ac?"},
        {"aa", {"ac", "ab"}, "; did you mean ab or ac?"},  // whatever the order, in which ranks may differ
        {"aa", {"ab", "ac", "ad", "ae"}, "; did you mean ab, ac or ad?"},
    };
    for (const auto& [given, valid, answer] : cases) EXPECT_EQ(did_you_mean(given, valid), answer) << given;
}

TEST(WhichAreValid, AllWhereNothingIsNear) {
    EXPECT_EQ(which_are_valid("chian", some_names), did_you_mean("chian", some_names));
    EXPECT_EQ(which_are_valid("quicksort", {"a", "b"}, "--"), "; valid are --a, --b");
    EXPECT_EQ(which_are_valid("quicksort", {}), "");
}

}  // namespace
}  // namespace mutirao
