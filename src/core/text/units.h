// How many of something, how long and how large, as people read it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace mutirao {

/// "1 rank", "2 ranks".
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

/// "350.600 ms".
inline std::string milliseconds(double us) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f ms", us / 1000);
    return text;
}

/// In the unit that fits: "8.66 us", "350.600 ms".
inline std::string duration(double us) {
    if (us >= 1000) return milliseconds(us);
    char text[40];
    std::snprintf(text, sizeof text, "%.*f us", us < 10 ? 2 : 1, us);
    return text;
}

/// Three to four digits, as the command line has it (python/mutirao/base/units.py): "351.2 ms", "4.37 s".
inline std::string short_duration(double us) {
    const bool in_us = us < 1e3, in_ms = us < 1e6;
    const double value = in_us ? us : in_ms ? us / 1e3 : us / 1e6;
    char text[40];
    std::snprintf(text, sizeof text, "%.*f %s", value < 10 ? 2 : value < 1000 ? 1 : 0, value,
                  in_us ? "us" : in_ms ? "ms" : "s");
    return text;
}

}  // namespace mutirao
