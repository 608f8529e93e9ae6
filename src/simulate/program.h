// Programs on a virtual clock: ranks that compute and call collectives in a loop, over a network that may change,
// run by what a Chooser says. What a call truly takes is a Truth: by default the predictor's walk with every rank
// entering at its own time and connections that live from call to call, which the decider's predictions know
// nothing of.
//
// A run is a pure function of the program, the truth, the chooser and the seed. Noise and lateness are functions of
// the seed and of the call, so that the same program run natively meets the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/network/topology.h"
#include "core/schedule/connections.h"
#include "core/selection/ruling.h"

namespace mutirao::simulate {

// What a simulated program (program.h) asks of whoever chooses how its calls run: the decider and what each rank
// knows of its rulings, behind three functions.
//
// How time passes. Every rank has a clock, and all clocks show the same time: microseconds since MPI_Init has
// ended. Ranks compute, enter a call, and leave it when their part of it is done. Calls are gone through one after
// another: all ranks enter call n, the first of them rank 0, the decider; then all leave it, and only then call n + 1
// begins, so `now_us` grows for each rank but not from one question to the next. So what a rank says in call n
// reaches others in later calls, but for rank 0, which is heard in the same call. What ranks tell each other
// goes by Post: it is there when its way is over, and seen when the receiver enters a call after that, or at once
// if it waits for it.

/// One call of the program, as all ranks see it.
struct Call {
    std::uint64_t number = 0;  ///< on its communicator, from 0
    CallShape shape;
};

class Chooser {
  public:
    /// How one rank runs a call, and when it begins: later than it entered if it had to wait to know how. All ranks
    /// must answer the same arm.
    struct Way {
        Arm arm;
        double begin_us = 0;
    };

    virtual ~Chooser() = default;
    virtual Way enter(int rank, const Call& call, double now_us) = 0;
    /// It took so long since the rank had entered.
    virtual void leave(int rank, const Call& call, double now_us, double took_us) = 0;
    /// The decider's host knows the network, or that it has changed, since `now_us`.
    virtual void hear_network(std::shared_ptr<const RankNetwork> network, double now_us) = 0;
};

/// All calls natively.
class NativeChooser : public Chooser {
  public:
    Way enter(int, const Call& call, double now_us) override {
        return {{native_candidate(call.shape.collective), std::nullopt}, now_us};
    }
    void leave(int, const Call&, double, double) override {}
    void hear_network(std::shared_ptr<const RankNetwork>, double) override {}
};

/// Messages between ranks that travel inside calls.
template <class Message>
class Post {
  public:
    explicit Post(int ranks) : boxes_(static_cast<std::size_t>(ranks)) {}

    void send(int to, double arrives_us, Message message) {
        box(to).push_back({arrives_us, std::move(message)});
    }
    /// All that have arrived, in the order in which they were sent.
    std::vector<Message> receive(int rank, double now_us) {
        std::vector<Message> arrived;
        auto& waiting = box(rank);
        for (Letter& letter : waiting)
            if (letter.arrives_us <= now_us) arrived.push_back(std::move(letter.message));
        std::erase_if(waiting, [&](const Letter& letter) { return letter.arrives_us <= now_us; });
        return arrived;
    }
    /// When the next one arrives; infinite if none is under way.
    double next_us(int rank) const {
        double next_us = std::numeric_limits<double>::infinity();
        for (const Letter& letter : boxes_[static_cast<std::size_t>(rank)])
            next_us = std::min(next_us, letter.arrives_us);
        return next_us;
    }

  private:
    struct Letter {
        double arrives_us;
        Message message;
    };
    std::vector<Letter>& box(int rank) { return boxes_[static_cast<std::size_t>(rank)]; }

    std::vector<std::vector<Letter>> boxes_;
};

/// A value for each (seed, purpose, call, rank), in 0 <= x < 1, or normal.
double uniform_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t call, int rank);
double normal_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t call, int rank);

/// How long calls really take.
class Truth {
  public:
    virtual ~Truth() = default;
    /// begin_us: by rank, when it begins its part. When each is done.
    virtual std::vector<double> run(const Call& call, const Arm& arm, const std::vector<double>& begin_us) = 0;
    /// What messages outside calls travel over.
    virtual const RankNetwork& network_at(double now_us) const = 0;
};

/// The network from a time on.
struct NetworkSince {
    double since_us = 0;
    std::shared_ptr<const RankNetwork> network;
};

/// By walks.
class WalkedTruth : public Truth {
  public:
    struct Options {
        /// What the MPI library runs from so many bytes on, the longest last; what is not named runs as the first
        /// row of native_is_like.
        struct Native {
            Collective collective;
            std::size_t from_bytes;
            std::string_view name;
        };
        std::vector<Native> native{};
        double connect_round_trips = 0;  ///< see Connections
        double noise = 0;      ///< standard deviation of the logarithm of what a call takes
        double arm_error = 0;  ///< the same for an arm, in all its calls: what no prediction knows
        std::uint64_t seed = 0;
    };

    /// The first network holds from the beginning.
    WalkedTruth(std::vector<NetworkSince> networks, Options options);

    std::vector<double> run(const Call& call, const Arm& arm, const std::vector<double>& begin_us) override;
    const RankNetwork& network_at(double now_us) const override;

  private:
    struct Planned {
        CallShape shape;
        Arm arm;
        std::vector<Schedule> schedules;
        double error = 1;
    };

    const Planned& plan(const CallShape& shape, const Arm& arm);

    std::vector<NetworkSince> networks_;
    Options options_;
    Connections connections_;
    std::vector<std::unique_ptr<Planned>> plans_;
};

struct Program {
    /// A call, and what every rank computes before it.
    struct Step {
        double compute_us = 0;
        CallShape shape;
    };

    int ranks = 0;
    std::vector<Step> steps;  ///< of one round
    int rounds = 0;
    double until_us = std::numeric_limits<double>::infinity();  ///< no round begins later
    double first_call_us = 0;
    double lateness = 0;  ///< of a rank in a step: standard deviation, as a share of what it computes
    double skew = 0;      ///< of the ranks' speeds: the slowest computes longer by this share
    /// A round's first call is entered by its root when all ranks have told it, each over its link, that they are done.
    bool synchronous = false;
    /// What the decider's host sees of the network, in order; at first it knows nothing.
    struct News {
        double after_us = 0;  ///< it becomes known so long after
        std::shared_ptr<const RankNetwork> network;
        std::uint64_t call = 0;  ///< rank 0 has entered this one; 0: after MPI_Init
    };
    std::vector<News> news{};
};

struct Outcome {
    struct Called {
        std::size_t step = 0;
        std::string by;      ///< the candidate
        double begin_us = 0;  ///< the root, where there is one, or the last rank entered
        double end_us = 0;   ///< the last rank left

        double took_us() const { return end_us - begin_us; }
    };
    std::vector<Called> calls;
    double elapsed_us = 0;   ///< when the last rank was done
    double in_calls_us = 0;  ///< mean of the ranks

    /// From call `from` on.
    double took_us(std::size_t from = 0) const;
};

Outcome run(const Program& program, Truth& truth, Chooser& chooser, std::uint64_t seed = 0);

}  // namespace mutirao::simulate
