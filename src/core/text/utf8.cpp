// RFC 3629: overlong forms, surrogates and code points beyond U+10FFFF are not UTF-8.
#include "core/text/utf8.h"

#include <array>
#include <cstdint>

namespace mutirao {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// How a sequence of each length begins, and the least code point that needs it.
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

}  // namespace

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

}  // namespace mutirao
