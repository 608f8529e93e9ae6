#include "tool/arguments.h"

#include <algorithm>
#include <charconv>

#include "core/settings/settings.h"

namespace mutirao::tool {

Arguments::Arguments(const std::vector<std::string>& words,
                     const std::vector<std::string>& option_names) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (!word.starts_with("--")) {
            positional_.push_back(word);
            continue;
        }
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(2, equals == word.npos ? word.npos : equals - 2);
        require_one_of("option", name, option_names);
        if (equals == word.npos && i + 1 == words.size()) {
            throw UsageError("option --" + name + " needs a value");
        }
        const std::string value = equals == word.npos ? words[++i] : word.substr(equals + 1);
        if (!options_.emplace(name, value).second) {
            throw UsageError("option --" + name + " is given twice");
        }
    }
}

std::optional<std::string> Arguments::option(const std::string& name) const {
    const auto found = options_.find(name);
    return found == options_.end() ? std::nullopt : std::optional(found->second);
}

std::string Arguments::option(const std::string& name, const std::string& otherwise) const {
    return option(name).value_or(otherwise);
}

long long Arguments::number(const std::string& name, long long otherwise, long long least,
                            long long most) const {
    const auto text = option(name);
    if (!text) return otherwise;
    long long value = 0;
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, value);
    if (error != std::errc{} || stop != end || value < least || value > most) {
        throw UsageError("--" + name + " " + *text + " is not an integer in " +
                         std::to_string(least) + ".." + std::to_string(most));
    }
    return value;
}

void require_one_of(std::string_view what, std::string_view wanted,
                    const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) return;
    throw UsageError("unknown " + std::string(what) + " \"" + std::string(wanted) + "\"" +
                     which_are_valid(wanted, names));
}

}  // namespace mutirao::tool
