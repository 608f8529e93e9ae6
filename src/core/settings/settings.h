// Every setting of the library is one row of one table; the environment parser, `mutirao show
// settings` and the command line's checks come from it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/algorithms/algorithm.h"

namespace mutirao {

/// Whether the network that was measured at the start is followed while the program runs.
struct Adaptation {
    enum class Mode : unsigned char {
        automatic,   ///< agents measure beside the program; no call waits for it
        off,
        synchronous  ///< measured and adapted inside every so manyth call
    };
    Mode mode = Mode::automatic;
    int every = 0;  ///< synchronous only: calls from one adaptation to the next

    bool operator==(const Adaptation&) const = default;
};

/// What MPI_Init and a communicator's first calls wait for.
enum class Start : unsigned char {
    beside,  ///< nothing, and nothing is set up before that pays: calls run natively until there is a ruling
    soon,    ///< the same, but it is taken to pay from the first calls on
    wait     ///< the network, and a ruling for each kind of call
};

/// Who measures beside the program.
enum class AgentPlace : unsigned char {
    automatic,  ///< daemons where every host has one of the same group, otherwise threads
    thread,     ///< a thread in one rank of each host
    daemon,
    in_band,    ///< no agent: the ranks themselves, by MPI messages while they are inside calls
    none
};

/// Whether predictions are judged by what calls take.
enum class Trials : unsigned char {
    automatic,  ///< but on one host only if it has a processor for every rank: else times are the scheduler's
    on,
    off
};

/// How much the results of reductions may depend on what is chosen when.
enum class Reproducibility : unsigned char {
    fast,    ///< any algorithm at any time
    stable,  ///< tried only until a choice is made
    bitwise  ///< one order for a number of ranks, from the first call on
};

struct Settings {
    bool enabled = true;
    Start start = Start::beside;
    /// Forced algorithms; nothing: mutirao chooses.
    std::array<std::optional<Candidate>, collectives.size()> algorithms;
    Trials trials = Trials::automatic;
    Reproducibility reproducibility = Reproducibility::stable;
    std::string report;                  ///< file that rank 0 writes at the end; empty: none
    bool explain = false;                ///< rank 0 says at the end what ran, on stderr
    bool summary = false;                ///< the same in one line
    int verbose = 0;                     ///< what is said meanwhile: see mpi/base/runtime.h
    int ranks_per_host = 0;              ///< 0: found out
    int probe_timeout_ms = 5000;
    std::string sites;  ///< named_sites()'; empty: as latencies tell
    std::size_t eager_limit_bytes = 0;   ///< 0: the known default of the MPI library
    Adaptation adaptation;
    std::optional<double> change_threshold_percent;  ///< nothing: judged by forecast error
    AgentPlace agent = AgentPlace::automatic;
    int agent_interval_ms = 250;  ///< between two probes of a link in use
    std::string profile = "auto";  ///< file of what earlier jobs measured; "auto", "off"
    std::string series;           ///< SQLite file that agents add their measurements to; empty: none

    /// Adapting inside the calls needs what start=wait needs.
    bool waits_at_start() const {
        return start == Start::wait || adaptation.mode == Adaptation::Mode::synchronous;
    }

    /// Who waits for what is settled gets what is predicted.
    bool holds_trials() const { return trials != Trials::off && !waits_at_start(); }

    bool forces_anything() const {
        return std::any_of(algorithms.begin(), algorithms.end(), [](const auto& each) { return each.has_value(); });
    }

    /// Between several hosts there is always something to do. `crowded`: the host has more ranks than processors.
    bool acts_on_one_host(bool crowded) const {
        const bool tries = holds_trials() && (trials == Trials::on || !crowded);
        return forces_anything() || tries || reproducibility == Reproducibility::bitwise;
    }

    /// Whether ranks wait until all know each other, and that a communicator is handled.
    bool waits_for_ranks() const {
        return waits_at_start() || reproducibility == Reproducibility::bitwise;
    }
    /// Whether a call that nothing is ruled for waits until there is.
    bool waits_for_ruling(Collective collective) const {
        return waits_at_start() ||
               (reproducibility == Reproducibility::bitwise && row_of(collective).reduces);
    }

    const std::optional<Candidate>& forced(Collective collective) const {
        return algorithms[static_cast<std::size_t>(collective)];
    }
    void force(const Candidate& candidate) {
        algorithms[static_cast<std::size_t>(candidate.algorithm->collective)] = candidate;
    }

    bool operator==(const Settings&) const = default;
};

/// One row. The environment variable is MUTIRAO_ and the name in capitals.
struct SettingRow {
    std::string_view name;
    std::string_view type;           ///< "on/off", "on/off/auto", "integer", "number", "word", "file", "text", "algorithm"
    std::string_view default_value;  ///< as the user would write it
    std::string_view range;          ///< "1..100", or empty
    std::string_view help;
    /// Puts `text` into the settings; one line of error, or empty.
    std::function<std::string(Settings&, std::string_view text)> assign;
    bool may_differ = false;  ///< between ranks: it concerns only the one that says something, or decides
};

std::span<const SettingRow> setting_rows();

/// "MUTIRAO_RANKS_PER_HOST" for "ranks_per_host".
std::string environment_name(std::string_view name);

/// Whether ranks need not agree on what this entry of the environment, NAME=VALUE, sets.
bool may_differ_between_ranks(std::string_view entry);

struct ParsedSettings {
    Settings settings;
    std::string error;  ///< one line; empty: all well
};

/// `environment`: "NAME=VALUE" strings, as in environ; those without the MUTIRAO_ prefix are
/// ignored.
ParsedSettings parse_environment(std::span<const std::string> environment);

/// Of a setting of the release before, which is accepted and does nothing; empty: it is none.
std::string_view what_replaced(std::string_view name);

/// Sets one by its name, as `--set NAME=VALUE` does. One line of error, or empty.
std::string assign_setting(Settings& settings, std::string_view name, std::string_view value);

/// With reproducibility=bitwise: gives reductions the algorithms that it asks for. One line of error, which names a
/// setting as it was `spelled`, or empty.
std::string fix_order(Settings& settings, std::string (*spelled)(std::string_view name));

}  // namespace mutirao
