// JSON text against hand-written documents, and every string against what a reader would see.
#include "core/text/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mutirao {
namespace {

TEST(Json, EscapesWhatTheGrammarForbids) {
    EXPECT_EQ(json_quoted("plain"), R"("plain")");
    EXPECT_EQ(json_quoted("a\"b\\c\nd\te\x01"), R"("a\"b\\c\nd\te\u0001")");
    EXPECT_EQ(json_quoted(std::string_view("\0x", 2)), R"("\u0000x")");
    EXPECT_EQ(json_quoted("mutir\xC3\xA3o \xE2\x86\x92 \xF0\x9F\x98\x80"),
              "\"mutir\xC3\xA3o \xE2\x86\x92 \xF0\x9F\x98\x80\"");
}

// Catches a decoder that forgets truncated, overlong, surrogate or too large sequences.
TEST(Json, ReplacesBytesThatAreNotUtf8) {
    const std::string bad = "\xEF\xBF\xBD";
    EXPECT_EQ(json_quoted("a\xFF"), "\"a" + bad + "\"");
    EXPECT_EQ(json_quoted("\xC3"), "\"" + bad + "\"");
    EXPECT_EQ(json_quoted("\xC0\xAF"), "\"" + bad + bad + "\"");
    EXPECT_EQ(json_quoted("\xED\xA0\x80"), "\"" + bad + bad + bad + "\"");
    EXPECT_EQ(json_quoted("\xF4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"");
    EXPECT_EQ(json_quoted("\xC3(x"), "\"" + bad + "(x\"");
}

TEST(Json, NumbersReadBackAsTheSameValue) {
    for (const double value : {0.0, 1.0, -2.5, 0.1, 1.0 / 3.0, 1e300, 5e-324, 123456789.125})
        EXPECT_EQ(std::strtod(json_number(value).c_str(), nullptr), value);
    EXPECT_EQ(json_number(0.1), "0.1");
    EXPECT_EQ(json_number(351), "351");
    EXPECT_EQ(json_number(std::numeric_limits<double>::infinity()), "null");
    EXPECT_EQ(json_number(std::nan("")), "null");
}

TEST(Json, WritesListsPairsAndWhatIsNotThere) {
    JsonWriter json;
    const std::vector<std::pair<int, double>> pairs = {{1, 2.5}, {3, 4}};
    json.begin_object().member("pairs", pairs).member("words", std::vector<std::string>{"a", "b"});
    json.member("some", std::optional(7)).member("none", std::optional<double>());
    json.list("doubled", std::vector{1, 2}, [&](int each) { json.value(2 * each); }).end_object();
    EXPECT_EQ(json.take(), R"({"pairs":[[1,2.5],[3,4]],"words":["a","b"],"some":7,"none":null,"doubled":[2,4]})");
}

TEST(JsonDeathTest, RefusesWhatCannotBeValid) {
    EXPECT_DEATH(JsonWriter().begin_object().value(1), "value out of place");
    EXPECT_DEATH(JsonWriter().begin_array().key("a"), "key out of place");
    EXPECT_DEATH(JsonWriter().begin_array().end_object(), "wrong bracket");
    EXPECT_DEATH(JsonWriter().value(1).value(2), "value out of place");
    EXPECT_DEATH(JsonWriter().begin_object().key("a").end_object(), "wrong bracket");
    EXPECT_DEATH(JsonWriter().begin_array().take(), "not finished");
}

}  // namespace
}  // namespace mutirao
