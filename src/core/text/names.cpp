// What was probably meant goes by the optimal string alignment distance: insertions, deletions, substitutions and swaps
// of neighbouring letters count one each (after Damerau 1964, doi:10.1145/363958.363994), since those four are what
// typing gets wrong.
#include "core/text/names.h"

#include <algorithm>
#include <cctype>
#include <compare>
#include <utility>

namespace mutirao {

namespace {

constexpr std::size_t most_suggestions = 3;

std::string folded(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return result;
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> before_last, last(b.size() + 1), current(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            current[j] = std::min({last[j] + 1, current[j - 1] + 1, change});
            const bool swapped =
                i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
        }
        before_last = last;
        last = current;
    }
    return last[b.size()];
}

struct Ranked {
    std::size_t distance;
    std::string name;

    auto operator<=>(const Ranked&) const = default;
};

/// By distance, then by name, so that every rank prints the same line.
std::vector<Ranked> ranked(std::string_view wanted, std::vector<std::string> names) {
    const std::string key = folded(wanted);
    std::vector<Ranked> result;
    for (std::string& name : names) {
        const std::size_t distance = edit_distance(key, folded(name));
        result.push_back({distance, std::move(name)});
    }
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

/// A third of the letters may be wrong, or one may be an abbreviation of the other.
bool is_near(std::string_view wanted, const Ranked& candidate) {
    const std::size_t longer = std::max(wanted.size(), candidate.name.size());
    if (candidate.distance <= std::max<std::size_t>(1, longer / 3)) return true;
    const std::string a = folded(wanted);
    const std::string b = folded(candidate.name);
    return a.size() >= 3 && b.size() >= 3 && (a.starts_with(b) || b.starts_with(a));
}

}  // namespace

std::string listed(const std::vector<std::string>& names, std::string_view before_last) {
    std::string list;
    for (const std::string& name : names) {
        if (!list.empty()) list += &name == &names.back() ? before_last : ", ";
        list += name;
    }
    return list;
}

std::string did_you_mean(std::string_view wanted, std::vector<std::string> names,
                         std::string_view prefix) {
    std::vector<std::string> near;
    for (Ranked& candidate : ranked(wanted, std::move(names))) {
        if (near.size() == most_suggestions) break;
        if (is_near(wanted, candidate)) near.push_back(std::string(prefix) + candidate.name);
    }
    return near.empty() ? "" : "; did you mean " + listed(near, " or ") + "?";
}

std::string which_are_valid(std::string_view wanted, std::vector<std::string> names, std::string_view prefix) {
    const std::string near = did_you_mean(wanted, names, prefix);
    if (!near.empty() || names.empty()) return near;
    for (std::string& name : names) name.insert(0, prefix);
    return "; valid are " + listed(names);
}

}  // namespace mutirao
