// Writes JSON text (RFC 8259) for the printer, the command-line tool and the library's report.
// Only writing: nothing in the core reads JSON.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mutirao {

/// The text in quotes. Bytes that are not UTF-8 become U+FFFD, so the output always parses.
std::string json_quoted(std::string_view text);

/// The shortest digits that read back as the same value; "null" for what is not finite.
std::string json_number(double value);

/// Puts commas, colons and (if asked) line breaks where they belong. Calls that could not give
/// valid JSON, such as a value without its key, are broken invariants.
class JsonWriter {
  public:
    /// indent_spaces 0: all on one line.
    explicit JsonWriter(int indent_spaces = 0) : indent_spaces_(indent_spaces) {}

    JsonWriter& begin_object() { return open('{', '}'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& begin_array() { return open('[', ']'); }
    JsonWriter& end_array() { return close(']'); }

    JsonWriter& key(std::string_view name);

    JsonWriter& value(std::string_view text) { return put(json_quoted(text)); }
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(double number) { return put(json_number(number)); }
    JsonWriter& value(bool truth) { return put(truth ? "true" : "false"); }
    JsonWriter& null() { return put("null"); }
    /// What is JSON already.
    JsonWriter& json(std::string_view text) { return put(text); }
    template <std::integral Integer>
    JsonWriter& value(Integer number) {
        char digits[24];
        const char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        return put(std::string_view(digits, static_cast<std::size_t>(end - digits)));
    }

    template <class Value>
    JsonWriter& value(const std::optional<Value>& content) {
        return content ? value(*content) : null();
    }
    template <class First, class Second>
    JsonWriter& value(const std::pair<First, Second>& both) {
        return begin_array().value(both.first).value(both.second).end_array();
    }
    template <std::ranges::input_range Values>
        requires(!std::convertible_to<const Values&, std::string_view>)
    JsonWriter& value(const Values& values) {
        begin_array();
        for (const auto& each : values) value(each);
        return end_array();
    }

    template <class Value>
    JsonWriter& member(std::string_view name, const Value& content) {
        return key(name).value(content);
    }

    /// An array of what `put` writes of each.
    template <class Values, class Put>
    JsonWriter& list(std::string_view name, const Values& values, const Put& put) {
        key(name).begin_array();
        for (const auto& each : values) put(each);
        return end_array();
    }

    /// An array of rows, each of so many values.
    JsonWriter& matrix(std::string_view name, const std::vector<double>& values, std::size_t columns) {
        key(name).begin_array();
        for (std::size_t row = 0; row < values.size(); row += columns) value(std::span(values).subspan(row, columns));
        return end_array();
    }

    /// What `put` writes, or null.
    template <class Value, class Put>
    JsonWriter& optional(std::string_view name, const std::optional<Value>& content, const Put& put) {
        key(name);
        if (!content) return null();
        put(*content);
        return *this;
    }

    /// The finished document; every object and array must be closed.
    std::string take();

  private:
    struct Level {
        char closing;
        bool empty = true;
    };

    JsonWriter& open(char opening, char closing);
    JsonWriter& close(char closing);
    JsonWriter& put(std::string_view text);
    void before_value();
    void separate();
    void break_line();

    int indent_spaces_;
    std::string text_;
    std::vector<Level> levels_;
    bool key_written_ = false;
};

}  // namespace mutirao
