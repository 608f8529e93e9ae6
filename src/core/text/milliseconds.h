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

}  // namespace mutirao
