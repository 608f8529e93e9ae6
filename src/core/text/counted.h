// "1 rank", "2 ranks": how many of something, in words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mutirao {

inline std::string counted(std::size_t count, std::string_view what) {
    return std::to_string(count) + ' ' + std::string(what) + (count == 1 ? "" : "s");
}

}  // namespace mutirao
