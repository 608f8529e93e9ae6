// JSON text by hand: the grammar is small, and a library would be the core's only dependency.
#include "core/text/json.h"

#include <cmath>
#include <utility>

#include "core/text/invariant.h"
#include "core/text/utf8.h"

namespace mutirao {
namespace {

void append_escaped(std::string& out, char c) {
    constexpr std::string_view special = "\"\\\b\f\n\r\t";
    constexpr std::string_view names = "\"\\bfnrt";
    constexpr std::string_view digits = "0123456789abcdef";
    if (const std::size_t at = special.find(c); at != std::string_view::npos) {
        out += '\\';
        out += names[at];
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
        out += "\\u00";
        out += digits[static_cast<unsigned char>(c) >> 4];
        out += digits[static_cast<unsigned char>(c) & 0xF];
    } else {
        out += c;
    }
}

}  // namespace

std::string json_quoted(std::string_view text) {
    std::string out = "\"";
    out.reserve(text.size() + 2);
    for (const char c : valid_utf8(text)) append_escaped(out, c);
    return out += '"';
}

std::string json_number(double value) {
    if (!std::isfinite(value)) return "null";
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

JsonWriter& JsonWriter::key(std::string_view name) {
    if (levels_.empty() || levels_.back().closing != '}' || key_written_)
        broken_invariant("JSON key out of place (depth, key already written)",
                         static_cast<long long>(levels_.size()), key_written_);
    separate();
    text_ += json_quoted(name);
    text_ += indent_spaces_ > 0 ? ": " : ":";
    key_written_ = true;
    return *this;
}

std::string JsonWriter::take() {
    if (!levels_.empty() || text_.empty())
        broken_invariant("JSON document not finished (open levels, characters)",
                         static_cast<long long>(levels_.size()),
                         static_cast<long long>(text_.size()));
    return std::exchange(text_, {});
}

JsonWriter& JsonWriter::open(char opening, char closing) {
    before_value();
    text_ += opening;
    levels_.push_back({closing});
    return *this;
}

JsonWriter& JsonWriter::close(char closing) {
    if (levels_.empty() || levels_.back().closing != closing || key_written_)
        broken_invariant("JSON closed with the wrong bracket (asked, open)", closing,
                         levels_.empty() ? 0 : levels_.back().closing);
    const bool empty = levels_.back().empty;
    levels_.pop_back();
    if (!empty) break_line();
    text_ += closing;
    return *this;
}

JsonWriter& JsonWriter::put(std::string_view text) {
    before_value();
    text_ += text;
    return *this;
}

void JsonWriter::before_value() {
    const bool in_object = !levels_.empty() && levels_.back().closing == '}';
    if (in_object != key_written_ || (levels_.empty() && !text_.empty()))
        broken_invariant("JSON value out of place (in an object, key written)", in_object,
                         key_written_);
    if (!in_object && !levels_.empty()) separate();
    key_written_ = false;
}

void JsonWriter::separate() {
    if (!levels_.back().empty) text_ += ',';
    levels_.back().empty = false;
    break_line();
}

void JsonWriter::break_line() {
    if (indent_spaces_ == 0) return;
    text_ += '\n';
    text_.append(levels_.size() * static_cast<std::size_t>(indent_spaces_), ' ');
}

}  // namespace mutirao
