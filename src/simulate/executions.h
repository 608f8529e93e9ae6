// How tests go through executions: which seeds they take, and the story that one tells which fails or aborts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "simulate/explorer.h"
#include "simulate/random_walk.h"

namespace mutirao::simulate {

/// From MUTIRAO_FIRST_SEED (or 1) on, MUTIRAO_SEEDS (or 5000) over `divisor` of them, at least one.
inline auto seeds(std::uint64_t divisor) {
    const auto from_environment = [](const char* name, std::uint64_t value) {
        const char* text = std::getenv(name);
        return text == nullptr ? value : std::strtoull(text, nullptr, 10);
    };
    const std::uint64_t first = from_environment("MUTIRAO_FIRST_SEED", 1);
    const std::uint64_t count = std::max<std::uint64_t>(from_environment("MUTIRAO_SEEDS", 5000) / divisor, 1);
    return std::views::iota(first, first + count);
}

/// What each choice is about to do, and how all hosts stand in the end. The last choice is named but not played: it may
/// be the one that never returns.
template <class World>
std::string transcript(World world, const std::vector<typename World::Choice>& choices) {
    std::string lines;
    for (const typename World::Choice& choice : choices) {
        lines += world.describe(choice) + "\n";
        if (&choice != &choices.back()) world.apply(choice);
    }
    for (int host = 0; host < world.host_count(); ++host) lines += world.describe(host) + "\n";
    return lines;
}

/// The whole story of a large graph has ten thousands of lines.
inline std::string last_lines(const std::string& story) {
    constexpr std::size_t most_lines = 200;
    std::size_t at = story.size();
    for (std::size_t lines = 0; lines <= most_lines && at != std::string::npos && at > 0; ++lines)
        at = story.rfind('\n', at - 1);
    return at == std::string::npos || at == 0 ? story : "...\n" + story.substr(at + 1);
}

/// A broken invariant aborts the program. While this lives, an abort first prints what `note` returns. One at a time.
class AbortNote {
  public:
    explicit AbortNote(std::function<std::string()> note) {
        current = std::move(note);
        std::signal(SIGABRT, print);
    }
    ~AbortNote() {
        std::signal(SIGABRT, SIG_DFL);
        current = nullptr;
    }
    AbortNote(const AbortNote&) = delete;
    AbortNote& operator=(const AbortNote&) = delete;

  private:
    // Called by abort() in the middle of ordinary code, so it may use ordinary code itself.
    static void print(int) {
        std::signal(SIGABRT, SIG_DFL);
        std::fprintf(stderr, "%s\n", current().c_str());
    }
    inline static std::function<std::string()> current;
};

/// What explorations came to.
struct Explored {
    std::size_t worlds = 0, states = 0, steps = 0;
    double most_used = 0;  ///< messages as a share of the bound on them

    void print() const {
        std::printf("%zu worlds, %zu states, %zu steps", worlds, states, steps);
        if (most_used > 0) std::printf(", at most %.0f%% of the bound on messages", 100 * most_used);
        std::printf("\n");
    }
};

/// The greatest counts over all orders of events; nothing if one fails, which is told after `about` the world.
template <class World, class Rules>
std::optional<typename Rules::Counts> explore(const World& start, const Rules& rules, const std::string& about,
                                              Explored& total) {
    Explorer explorer(start, rules);
    const AbortNote note([&] { return about + transcript(start, explorer.path()); });
    if (const std::string failure = explorer.run(); !failure.empty()) {
        ADD_FAILURE() << failure << "\n" << about << transcript(start, explorer.path());
        return std::nullopt;
    }
    ++total.worlds;
    total.states += explorer.states();
    total.steps += explorer.steps();
    return explorer.worst();
}

/// One random execution. What speaks against it in the end is said by `objection`, given the walk.
template <class World, class Rules, class Objection>
void walk(const World& start, const Rules& rules, std::uint64_t seed, double most_steps, const std::string& about,
          Objection objection) {
    RandomWalk walk(start, rules, seed);
    const auto story = [&] {
        return "seed " + std::to_string(seed) + ", " + about + "\n" + last_lines(transcript(start, walk.path()));
    };
    const AbortNote note(story);
    ASSERT_EQ(walk.run(static_cast<std::size_t>(most_steps)), "") << story();
    ASSERT_EQ(objection(walk), "") << story();
}

}  // namespace mutirao::simulate
