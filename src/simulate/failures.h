// Which random executions a test takes, and what it tells of one that fails.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <ranges>
#include <string>

namespace mutirao::simulate {

/// From MUTIRAO_FIRST_SEED (or 1) on, MUTIRAO_SEEDS (or `otherwise`) of them.
inline auto seeds(std::uint64_t otherwise) {
    const auto from_environment = [](const char* name, std::uint64_t value) {
        const char* text = std::getenv(name);
        return text == nullptr ? value : std::strtoull(text, nullptr, 10);
    };
    const std::uint64_t first = from_environment("MUTIRAO_FIRST_SEED", 1);
    return std::views::iota(first, first + from_environment("MUTIRAO_SEEDS", otherwise));
}

/// The whole story of a large graph has ten thousands of lines.
inline std::string last_lines(const std::string& story) {
    constexpr std::size_t most_lines = 200;
    std::size_t at = story.size();
    for (std::size_t lines = 0; lines <= most_lines && at != std::string::npos && at > 0; ++lines)
        at = story.rfind('\n', at - 1);
    return at == std::string::npos || at == 0 ? story : "...\n" + story.substr(at + 1);
}

// A broken invariant aborts the program; a test that explores wants to say where it was by then.

/// While it lives, an abort first prints what `note` returns. One at a time.
class AbortNote {
  public:
    explicit AbortNote(std::function<std::string()> note);
    ~AbortNote();
    AbortNote(const AbortNote&) = delete;
    AbortNote& operator=(const AbortNote&) = delete;
};

}  // namespace mutirao::simulate
