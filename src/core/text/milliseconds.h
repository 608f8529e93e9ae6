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

}  // namespace mutirao
