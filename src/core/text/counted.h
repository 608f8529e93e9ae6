// "1 rank", "2 ranks", "64 KiB": how many of something, in words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mutirao {

inline std::string counted(std::size_t count, std::string_view what) {
    return std::to_string(count) + ' ' + std::string(what) + (count == 1 ? "" : "s");
}

/// Exact: "24 B", "64 KiB", "1000000 B".
inline std::string size_text(std::size_t bytes) {
    const char* unit = " B";
    for (const char* larger : {" KiB", " MiB", " GiB"}) {
        if (bytes == 0 || bytes % 1024 != 0) break;
        bytes /= 1024;
        unit = larger;
    }
    return std::to_string(bytes) + unit;
}

}  // namespace mutirao
