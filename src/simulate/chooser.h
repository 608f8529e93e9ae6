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
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/network/rank_network.h"
#include "core/selection/ruling.h"

namespace mutirao::simulate {

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

}  // namespace mutirao::simulate
