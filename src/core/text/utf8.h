// Text from outside (host names, titles) may be any bytes; JSON must be UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace mutirao {

/// The text with every byte that belongs to no UTF-8 sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace mutirao
