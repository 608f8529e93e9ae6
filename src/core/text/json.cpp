// JSON text by hand: the grammar is small, and a library would be the core's only dependency.
#include "core/text/json.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/text/invariant.h"

namespace mutirao {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// How a sequence of each length begins, and the least code point that needs it: overlong forms, surrogates and code
/// points beyond U+10FFFF are not UTF-8 (RFC 3629).
struct SequenceLength {
    unsigned char mask;
    unsigned char lead;
    std::size_t length;
    std::uint32_t least;
};
constexpr std::array<SequenceLength, 4> sequence_lengths{{
    {0x80, 0x00, 1, 0x0},
    {0xE0, 0xC0, 2, 0x80},
    {0xF0, 0xE0, 3, 0x800},
    {0xF8, 0xF0, 4, 0x10000},
}};

/// Bytes of the well-formed UTF-8 sequence at the front of `text`; 0 if there is none.
std::size_t sequence_at_front(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    for (const SequenceLength& row : sequence_lengths) {
        if ((lead & row.mask) != row.lead) continue;
        if (text.size() < row.length) return 0;
        std::uint32_t code = lead & static_cast<unsigned char>(~row.mask);
        for (std::size_t i = 1; i < row.length; ++i) {
            const auto next = static_cast<unsigned char>(text[i]);
            if ((next & 0xC0) != 0x80) return 0;
            code = (code << 6) | (next & 0x3Fu);
        }
        const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        return code < row.least || code > 0x10FFFF || surrogate ? 0 : row.length;
    }
    return 0;
}

/// The text with every byte that belongs to no UTF-8 sequence replaced by U+FFFD: text from outside (host names,
/// titles) may be any bytes; JSON must be UTF-8.
std::string valid_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = sequence_at_front(text);
        out += length == 0 ? replacement : text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

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
