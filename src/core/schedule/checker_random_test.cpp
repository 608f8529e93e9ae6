// The checker against brute force: right schedules are damaged at random, then run with real
// numbers in many random orders of events. What the checker accepts must end right in all of them.
#include "core/schedule/checker.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

using testing::input;
using testing::output;

/// Every byte holds a number, far enough apart that different sums hardly ever agree.
using Cell = std::tuple<int, Buffer, std::size_t>;
using Memory = std::map<Cell, std::uint64_t>;

std::uint64_t contribution(int rank, std::size_t byte) {
    std::uint64_t x = static_cast<std::uint64_t>(rank) * 1000003 + byte + 1;
    for (int i = 0; i < 3; ++i) x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
    return x;
}

void fill(Memory& memory, const std::vector<std::vector<Piece>>& pieces) {
    for (std::size_t rank = 0; rank < pieces.size(); ++rank)
        for (const Piece& piece : pieces[rank])
            for (std::size_t i = 0; i < piece.region.length_bytes; ++i) {
                std::uint64_t sum = 0;
                for (const int from : piece.ranks)
                    sum += contribution(from, piece.source_offset_bytes + i);
                memory[{static_cast<int>(rank), piece.region.buffer,
                        piece.region.offset_bytes + i}] = sum;
            }
}

/// Executes schedules with synchronous sends, one randomly chosen event after the other: a step
/// starts, data move, a step completes.
class RandomRun {
  public:
    RandomRun(const std::vector<Schedule>& schedules, Memory memory, std::mt19937& random)
        : schedules_(schedules), memory_(std::move(memory)), random_(random) {
        for (const Schedule& schedule : schedules) state_.emplace_back(schedule.size(), waiting);
    }

    /// False if some step never completes.
    bool run() {
        while (true) {
            std::vector<std::pair<int, StepId>> able;
            bool all_complete = true;
            for (int rank = 0; rank < size(); ++rank)
                for (StepId id = 0; id < static_cast<StepId>(state_at(rank).size()); ++id) {
                    all_complete = all_complete && state_at(rank)[at(id)] == complete;
                    if (can_advance(rank, id)) able.emplace_back(rank, id);
                }
            if (able.empty()) return all_complete;
            const auto [rank, id] = able[random_() % able.size()];
            advance(rank, id);
        }
    }

    const Memory& memory() const { return memory_; }

  private:
    enum State { waiting, started, moved, complete };

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    int size() const { return static_cast<int>(schedules_.size()); }
    std::vector<State>& state_at(int rank) { return state_[at(rank)]; }
    const Step& step(int rank, StepId id) const { return schedules_[at(rank)].steps()[at(id)]; }

    /// The k-th step of this kind with this peer, or -1.
    StepId find(int rank, StepKind kind, int peer, int k) const {
        for (StepId id = 0; id < static_cast<StepId>(schedules_[at(rank)].size()); ++id)
            if (step(rank, id).kind == kind && step(rank, id).peer == peer && k-- == 0) return id;
        return -1;
    }

    StepId partner(int rank, StepId id) const {
        const Step& own = step(rank, id);
        if (own.peer < 0 || own.peer >= size()) return -1;
        int before = 0;
        for (StepId other = 0; other < id; ++other)
            before += step(rank, other).kind == own.kind && step(rank, other).peer == own.peer;
        const bool sends = own.kind == StepKind::send;
        return find(own.peer, sends ? StepKind::receive : StepKind::send, rank, before);
    }

    bool can_start(int rank, StepId id) {
        for (const StepId before : schedules_[at(rank)].dependencies(step(rank, id)))
            if (state_at(rank)[at(before)] != complete) return false;
        for (StepId other = 0; other < id; ++other)
            if (step(rank, other).kind == step(rank, id).kind &&
                step(rank, other).peer == step(rank, id).peer &&
                state_at(rank)[at(other)] == waiting)
                return false;
        return true;
    }

    bool can_advance(int rank, StepId id) {
        const State own = state_at(rank)[at(id)];
        if (own == waiting) return can_start(rank, id);
        if (own == moved) return true;
        if (own == complete || step(rank, id).kind == StepKind::receive) return false;
        if (step(rank, id).kind != StepKind::send) return true;
        const StepId other = partner(rank, id);
        return other >= 0 && state_at(step(rank, id).peer)[at(other)] == started;
    }

    void advance(int rank, StepId id) {
        State& own = state_at(rank)[at(id)];
        const bool moves = own == started;
        own = static_cast<State>(own + 1);
        if (!moves) return;
        const Step& from = step(rank, id);
        int to_rank = rank;
        StepId to = id;
        if (from.kind == StepKind::send) {
            to_rank = from.peer;
            to = partner(rank, id);
            state_at(to_rank)[at(to)] = moved;
        }
        const Region& target = step(to_rank, to).target;
        for (std::size_t i = 0; i < from.source.length_bytes && i < target.length_bytes; ++i) {
            const std::uint64_t value =
                memory_[{rank, from.source.buffer, from.source.offset_bytes + i}];
            std::uint64_t& place = memory_[{to_rank, target.buffer, target.offset_bytes + i}];
            place = from.kind == StepKind::reduce ? place + value : value;
        }
    }

    const std::vector<Schedule>& schedules_;
    Memory memory_;
    std::mt19937& random_;
    std::vector<std::vector<State>> state_;
};

/// One step lost, moved to other bytes or another peer, or freed of a dependency.
std::vector<Schedule> damaged(const std::vector<Schedule>& schedules, std::mt19937& random) {
    const std::size_t victim_rank = random() % schedules.size();
    const auto victim_step =
        static_cast<StepId>(random() % std::max<std::size_t>(1, schedules[victim_rank].size()));
    const auto damage = random() % 5;
    std::vector<Schedule> result(schedules.size());
    for (std::size_t rank = 0; rank < schedules.size(); ++rank)
        for (StepId id = 0; const Step& original : schedules[rank].steps()) {
            const bool victim = rank == victim_rank && id++ == victim_step;
            Step step = original;
            const Schedule::After kept = schedules[rank].dependencies(original);
            std::vector<StepId> after(kept.begin(), kept.end());
            if (victim && damage == 0) step.source.length_bytes = step.target.length_bytes = 0;
            if (victim && damage == 1) step.source.offset_bytes += 1;
            if (victim && damage == 2) step.target.offset_bytes ^= 2;
            if (victim && damage == 3 && step.peer >= 0)
                step.peer = (step.peer + 1) % static_cast<int>(schedules.size());
            if (victim && damage == 4 && !after.empty()) after.pop_back();
            Schedule& own = result[rank];
            if (step.kind == StepKind::send) own.send(step.peer, step.source, after);
            if (step.kind == StepKind::receive) own.receive(step.peer, step.target, after);
            if (step.kind == StepKind::copy) own.copy(step.source, step.target, after);
            if (step.kind == StepKind::reduce) own.reduce(step.source, step.target, after);
        }
    return result;
}

struct Tally {
    int accepted = 0;
    int refused = 0;
    int refused_and_seen_wrong = 0;
};

Tally compare(const std::vector<Schedule>& right, const Promise& promise, unsigned seed) {
    constexpr int damages = 400;
    constexpr int orders = 12;
    std::mt19937 random(seed);
    Memory before;
    Memory after;
    fill(before, promise.before);
    fill(after, promise.after);
    Tally tally;
    for (int i = 0; i < damages; ++i) {
        const std::vector<Schedule> schedules = i == 0 ? right : damaged(right, random);
        const CheckResult verdict = check(schedules, promise);
        bool seen_wrong = false;
        for (int order = 0; order < orders && !seen_wrong; ++order) {
            RandomRun run(schedules, before, random);
            seen_wrong = !run.run();
            for (const auto& [cell, value] : after) {
                const auto found = run.memory().find(cell);
                seen_wrong = seen_wrong || found == run.memory().end() || found->second != value;
            }
        }
        EXPECT_FALSE(verdict.ok && seen_wrong) << "damage " << i << ", seed " << seed;
        ++(verdict.ok ? tally.accepted : tally.refused);
        tally.refused_and_seen_wrong += !verdict.ok && seen_wrong;
    }
    return tally;
}

/// The harness itself must meet both verdicts, and most of what is refused must really go wrong.
void expect_useful(const Tally& tally) {
    EXPECT_GT(tally.accepted, 0);
    EXPECT_GT(tally.refused, 20);
    EXPECT_GT(tally.refused_and_seen_wrong, tally.refused / 2);
}

TEST(CheckerAgainstRandomRuns, Broadcasts) {
    using testing::broadcast_promise;
    expect_useful(compare(testing::binomial_broadcast(6, 4), broadcast_promise(6, 0, 4), 1));
    expect_useful(compare(testing::chain_broadcast(4, 3, 4), broadcast_promise(4, 0, 12), 2));
}

TEST(CheckerAgainstRandomRuns, AllreduceAndAllgather) {
    Promise sum;
    Promise gather;
    gather.after.resize(4);
    for (int rank = 0; rank < 4; ++rank) {
        sum.before.push_back({{input(0, 4), {rank}, 0}});
        sum.after.push_back({{output(0, 4), {0, 1, 2, 3}, 0}});
        for (auto& after : gather.after)
            after.push_back({output(static_cast<std::size_t>(rank) * 4, 4), {rank}, 0});
    }
    gather.before = sum.before;
    expect_useful(compare(testing::doubling_allreduce(4, 4), sum, 3));
    expect_useful(compare(testing::ring_allgather(4, 4), gather, 4));
}

}  // namespace
}  // namespace mutirao
