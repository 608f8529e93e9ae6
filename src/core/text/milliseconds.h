// Times as people read them.
#pragma once

#include <cstdio>
#include <string>

namespace mutirao {

/// "350.600 ms".
inline std::string milliseconds(double us, int digits = 3) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*f ms", digits, us / 1000);
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
