// A second, independent proof by brute force: real bytes move between real buffers in a random
// order of events, with first-in-first-out matching, and every send synchronous. A byte that is
// sent before it is there, or overwritten while it is sent, shows as wrong data; a deadlock as
// steps that never run. It shares no code with the checker.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "core/algorithms/test_requests.h"
#include "core/collectives/collective.h"
#include "core/schedule/checker.h"

namespace mutirao {
namespace {

using Bytes = std::vector<unsigned char>;

/// One rank's memory, by Buffer.
using Memory = std::array<Bytes, 3>;

/// An operator on elements of three bytes that is associative and does not commute: two of them are a
/// map x -> ax + b modulo a prime, the third is added up.
constexpr std::size_t unit_bytes = 3;
constexpr int prime = 251;

unsigned char modulo(int value) { return static_cast<unsigned char>(value % prime); }

/// right = left op right.
void combine(const unsigned char* left, unsigned char* right) {
    right[1] = modulo(left[0] * right[1] + left[1]);
    right[0] = modulo(left[0] * right[0]);
    right[2] = modulo(left[2] + right[2]);
}
/// The same where the order must not matter.
void add(const unsigned char* left, unsigned char* right) {
    for (std::size_t i = 0; i < unit_bytes; ++i) right[i] = modulo(left[i] + right[i]);
}

class RandomExecution {
  public:
    RandomExecution(const std::vector<Schedule>& schedules, std::vector<Memory>& memory,
                    bool commutes, unsigned seed)
        : schedules_(schedules), memory_(memory), commutes_(commutes), random_(seed) {
        for (std::size_t rank = 0; rank < schedules.size(); ++rank) add_steps(rank);
    }

    /// What went wrong, or nothing.
    std::string run() {
        for (Node& node : nodes_) {
            if (node.waits_for == 0) enabled_.push_back({&node, false});
        }
        while (!enabled_.empty()) {
            std::swap(enabled_[random_() % enabled_.size()], enabled_.back());
            const Event event = enabled_.back();
            enabled_.pop_back();
            event.transfers ? transfer(*event.node) : start(*event.node);
        }
        for (const Node& node : nodes_) {
            if (!node.complete) return "rank " + std::to_string(node.rank) + " has a stuck step";
        }
        return {};
    }

  private:
    struct Node {
        std::size_t rank;
        const Step* step;
        std::size_t waits_for = 0;           // dependencies, and the earlier step with the peer
        std::vector<std::size_t> dependents{};
        std::size_t next_with_peer = 0;      // 0: none, since node 0 is nobody's successor
        std::size_t partner = 0;
        bool matched = false, started = false, complete = false;
    };
    struct Event {
        Node* node;
        bool transfers;
    };
    using Channel = std::tuple<StepKind, std::size_t, std::size_t>;  // kind, from, to

    void add_steps(std::size_t rank) {
        const std::size_t first = nodes_.size();
        for (const Step& step : schedules_[rank].steps()) {
            const std::size_t self = nodes_.size();
            Node node{rank, &step};
            for (const StepId id : schedules_[rank].dependencies(step)) {
                nodes_[first + static_cast<std::size_t>(id)].dependents.push_back(self);
                ++node.waits_for;
            }
            if (step.kind == StepKind::copy || step.kind == StepKind::reduce) {
                nodes_.push_back(std::move(node));
                continue;
            }
            const auto peer = static_cast<std::size_t>(step.peer);
            const bool sends = step.kind == StepKind::send;
            auto& mine = channels_[{step.kind, sends ? rank : peer, sends ? peer : rank}];
            if (!mine.empty()) {
                nodes_[mine.back()].next_with_peer = self;
                ++node.waits_for;
            }
            const auto& theirs = channels_[{sends ? StepKind::receive : StepKind::send,
                                            sends ? rank : peer, sends ? peer : rank}];
            if (theirs.size() > mine.size()) {
                node.partner = theirs[mine.size()];
                node.matched = nodes_[node.partner].matched = true;
                nodes_[node.partner].partner = self;
            }
            mine.push_back(self);
            nodes_.push_back(std::move(node));
        }
    }

    void release(std::size_t index) {
        if (--nodes_[index].waits_for == 0) enabled_.push_back({&nodes_[index], false});
    }

    void start(Node& node) {
        node.started = true;
        if (node.step->kind == StepKind::copy || node.step->kind == StepKind::reduce) {
            do_locally(node);
            return;
        }
        if (node.next_with_peer != 0) release(node.next_with_peer);
        if (node.matched && nodes_[node.partner].started) enabled_.push_back({&node, true});
    }

    void transfer(Node& node) {
        Node& other = nodes_[node.partner];
        Node& sender = node.step->kind == StepKind::send ? node : other;
        Node& receiver = &sender == &node ? other : node;
        const Region from = sender.step->source;
        const Region to = receiver.step->target;
        for (std::size_t i = 0; i < std::min(from.length_bytes, to.length_bytes); ++i) {
            at(receiver.rank, to, i) = at(sender.rank, from, i);
        }
        complete(sender);
        complete(receiver);
    }

    void complete(Node& node) {
        node.complete = true;
        for (const std::size_t dependent : node.dependents) release(dependent);
    }

    unsigned char& at(std::size_t rank, const Region& region, std::size_t byte) {
        return memory_[rank][static_cast<std::size_t>(region.buffer)].at(region.offset_bytes + byte);
    }

    void do_locally(Node& node) {
        const Step& step = *node.step;
        const bool copies = step.kind == StepKind::copy;
        const std::size_t stride = copies ? 1 : unit_bytes;
        for (std::size_t i = 0; i < step.target.length_bytes; i += stride) {
            unsigned char* const source = &at(node.rank, step.source, i);
            unsigned char* const target = &at(node.rank, step.target, i);
            if (copies) {
                *target = *source;
            } else {
                reduce(source, target, step.source_first);
            }
        }
        complete(node);
    }

    void reduce(const unsigned char* source, unsigned char* target, bool source_first) const {
        const auto op = commutes_ ? add : combine;
        if (source_first) return op(source, target);
        std::array<unsigned char, unit_bytes> result;
        std::copy_n(source, unit_bytes, result.begin());
        op(target, result.data());
        std::copy(result.begin(), result.end(), target);
    }

    const std::vector<Schedule>& schedules_;
    std::vector<Memory>& memory_;
    bool commutes_;
    std::mt19937 random_;
    std::vector<Node> nodes_;
    std::map<Channel, std::vector<std::size_t>> channels_;
    std::vector<Event> enabled_;
};

/// A call with made-up data: what is promised, executed in a random order of events.
class RandomCall {
  public:
    RandomCall(const CallShape& shape, int size, unsigned seed)
        : shape_(shape), promise_(row_of(shape.collective).promise(shape, size)), seed_(seed) {
        std::mt19937 random(seed);
        for (int rank = 0; rank < size; ++rank) {
            data_.emplace_back(std::max(
                static_cast<std::size_t>(size + 1) * shape.length_bytes,
                std::accumulate(shape.lengths.begin(), shape.lengths.end(), std::size_t{0})));
            for (unsigned char& byte : data_.back()) byte = modulo(static_cast<int>(random() >> 1));
        }
    }

    /// What went wrong, or nothing.
    std::string run(const std::vector<Schedule>& schedules) {
        std::vector<Memory> memory(schedules.size());
        for (std::size_t rank = 0; rank < memory.size(); ++rank) {
            memory[rank][0].assign(data_[rank].size(), 0);
            memory[rank][1].assign(data_[rank].size(), 0xEE);
            memory[rank][2].assign(schedules[rank].scratch_bytes(), 0);
            for (const Piece& piece : promise_.before[rank]) put(expected(piece), piece, memory[rank]);
        }
        std::string fault = RandomExecution(schedules, memory, shape_.op.commutes, seed_).run();
        for (std::size_t rank = 0; rank < memory.size() && fault.empty(); ++rank) {
            for (const Piece& piece : promise_.after[rank]) {
                if (found(piece, memory[rank]) != expected(piece)) {
                    fault = "rank " + std::to_string(rank) + " has wrong bytes";
                }
            }
        }
        return fault;
    }

  private:
    Bytes expected(const Piece& piece) const {
        Bytes result;
        for (auto rank = piece.ranks.rbegin(); rank != piece.ranks.rend(); ++rank) {
            const auto begin = data_[static_cast<std::size_t>(*rank)].begin() +
                               static_cast<std::ptrdiff_t>(piece.source_offset_bytes);
            const Bytes left(begin, begin + static_cast<std::ptrdiff_t>(piece.region.length_bytes));
            if (result.empty()) {
                result = left;
                continue;
            }
            for (std::size_t i = 0; i + unit_bytes <= result.size(); i += unit_bytes) {
                (shape_.op.commutes ? add : combine)(&left[i], &result[i]);
            }
        }
        return result;
    }

    static void put(const Bytes& bytes, const Piece& piece, Memory& memory) {
        std::copy(bytes.begin(), bytes.end(),
                  memory[static_cast<std::size_t>(piece.region.buffer)].begin() +
                      static_cast<std::ptrdiff_t>(piece.region.offset_bytes));
    }

    static Bytes found(const Piece& piece, const Memory& memory) {
        const auto begin = memory[static_cast<std::size_t>(piece.region.buffer)].begin() +
                           static_cast<std::ptrdiff_t>(piece.region.offset_bytes);
        return {begin, begin + static_cast<std::ptrdiff_t>(piece.region.length_bytes)};
    }

    CallShape shape_;
    Promise promise_;
    unsigned seed_;
    std::vector<Bytes> data_;
};

// Seen to fail with: sends that do not wait for their segment's receive; a ring whose sends wait
// for the receive before; a scatter that sends before it has received.
TEST(RandomExecution, EveryAlgorithmDeliversInAnyOrderOfEvents) {
    constexpr std::size_t lengths[] = {0, 5, 97, 193};
    for (Candidate candidate : test::candidates_in_one_piece()) {
        const Algorithm& algorithm = *candidate.algorithm;
        for (const int size : {1, 2, 3, 4, 7, 8, 13, 16, 24}) {
            if (!allows(algorithm, true, size)) continue;
            const int root = size / 3;
            const Tree tree = test::random_tree(candidate.parameters.tree, size, root);
            const int roots[] = {root, 0};
            for (CallShape shape : test::shapes_for(algorithm, size, roots, lengths)) {
                if (row_of(shape.collective).rooted && shape.root != root) continue;
                candidate.parameters.segment_bytes =
                    algorithm.segmented && shape.length_bytes >= 193 ? 64 : 0;
                const auto schedules = test::build_all(candidate, shape, size, tree);
                for (unsigned seed = 0; seed < 3; ++seed) {
                    EXPECT_EQ(RandomCall(shape, size, seed).run(schedules), "")
                        << test::label(candidate, shape, size) << ", seed " << seed;
                }
            }
        }
    }
}

TEST(RandomExecution, NoticesAMissingDependencyAndADeadlock) {
    const Region all{Buffer::output, 0, 8};
    std::vector<Schedule> hasty(3);
    hasty[0].send(1, all);
    hasty[1].receive(0, all);
    hasty[1].send(2, all);
    hasty[2].receive(1, all);
    int wrong = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        wrong += RandomCall({.length_bytes = 8}, 3, seed).run(hasty).empty() ? 0 : 1;
    }
    EXPECT_GT(wrong, 0);

    std::vector<Schedule> waiting(2);
    waiting[0].receive(1, all);
    waiting[1].receive(0, all);
    EXPECT_EQ(RandomCall({.length_bytes = 8}, 2, 0).run(waiting), "rank 0 has a stuck step");
}

}  // namespace
}  // namespace mutirao
