// A second, independent proof by brute force: real bytes move between real buffers in a random
// order of events, with first-in-first-out matching, and every send synchronous. A byte that is
// sent before it is there, or overwritten while it is sent, shows as wrong data; a deadlock as
// steps that never run. It shares no code with the checker. Only tests include this.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <random>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/schedule/test_checker.h"

namespace mutirao::test {

using Bytes = std::vector<unsigned char>;

/// One rank's memory, by Buffer.
using Memory = std::array<Bytes, 3>;

/// An operator on elements of three bytes that is associative and does not commute: two of them are a
/// map x -> ax + b modulo a prime, the third is added up.
inline constexpr std::size_t unit_bytes = 3;
inline constexpr int prime = 251;

inline unsigned char modulo(int value) { return static_cast<unsigned char>(value % prime); }

/// right = left op right.
inline void combine(const unsigned char* left, unsigned char* right) {
    right[1] = modulo(left[0] * right[1] + left[1]);
    right[0] = modulo(left[0] * right[0]);
    right[2] = modulo(left[2] + right[2]);
}
/// The same where the order must not matter.
inline void add(const unsigned char* left, unsigned char* right) {
    for (std::size_t i = 0; i < unit_bytes; ++i) right[i] = modulo(left[i] + right[i]);
}

/// Whatever may happen next is looked for among all steps, and one of it happens.
class RandomExecution {
  public:
    RandomExecution(const std::vector<Schedule>& schedules, std::vector<Memory>& memory,
                    bool commutes, unsigned seed)
        : memory_(memory), commutes_(commutes), random_(seed) {
        for (std::size_t rank = 0; rank < schedules.size(); ++rank) add_steps(rank, schedules[rank]);
    }

    /// What went wrong, or nothing.
    std::string run() {
        for (std::vector<Node*> possible = all_possible(); !possible.empty(); possible = all_possible()) {
            Node& node = *possible[random_() % possible.size()];
            node.begun ? transfer(node, nodes_[node.partner]) : begin(node);
        }
        for (const Node& node : nodes_) {
            if (!node.complete) return "rank " + std::to_string(node.rank) + " has a stuck step";
        }
        return {};
    }

  private:
    static constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();
    struct Node {
        std::size_t rank;
        const Step* step;
        std::vector<std::size_t> after{};   ///< must be complete before it begins
        std::size_t behind = nobody;        ///< the step before it of its kind with the peer, which must have begun
        std::size_t partner = nobody;
        bool begun = false, complete = false;
    };
    using Channel = std::tuple<StepKind, std::size_t, std::size_t>;  // kind, from, to

    void add_steps(std::size_t rank, const Schedule& schedule) {
        const std::size_t first = nodes_.size();
        for (const Step& step : schedule.steps()) {
            const std::size_t self = nodes_.size();
            Node& node = nodes_.emplace_back(Node{rank, &step});
            for (const StepId id : schedule.dependencies(step)) node.after.push_back(first + static_cast<std::size_t>(id));
            if (step.kind == StepKind::copy || step.kind == StepKind::reduce) continue;
            const auto peer = static_cast<std::size_t>(step.peer);
            const bool sends = step.kind == StepKind::send;
            const std::size_t from = sends ? rank : peer, to = sends ? peer : rank;
            auto& mine = channels_[{step.kind, from, to}];
            const auto& theirs = channels_[{sends ? StepKind::receive : StepKind::send, from, to}];
            if (!mine.empty()) node.behind = mine.back();
            if (theirs.size() > mine.size()) {
                node.partner = theirs[mine.size()];
                nodes_[node.partner].partner = self;
            }
            mine.push_back(self);
        }
    }

    std::vector<Node*> all_possible() {
        std::vector<Node*> possible;
        for (Node& node : nodes_) {
            if (may_begin(node) || may_transfer(node)) possible.push_back(&node);
        }
        return possible;
    }
    bool may_begin(const Node& node) const {
        return !node.begun && (node.behind == nobody || nodes_[node.behind].begun) &&
               std::ranges::all_of(node.after, [&](std::size_t earlier) { return nodes_[earlier].complete; });
    }
    bool may_transfer(const Node& node) const {
        return node.step->kind == StepKind::send && node.begun && !node.complete && node.partner != nobody &&
               nodes_[node.partner].begun;
    }

    void begin(Node& node) {
        node.begun = true;
        if (node.step->kind == StepKind::copy || node.step->kind == StepKind::reduce) do_locally(node);
    }

    void transfer(Node& sender, Node& receiver) {
        const Region from = sender.step->source, to = receiver.step->target;
        for (std::size_t i = 0; i < std::min(from.length_bytes, to.length_bytes); ++i) {
            at(receiver.rank, to, i) = at(sender.rank, from, i);
        }
        sender.complete = receiver.complete = true;
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
        node.complete = true;
    }

    void reduce(const unsigned char* source, unsigned char* target, bool source_first) const {
        const auto op = commutes_ ? add : combine;
        if (source_first) return op(source, target);
        std::array<unsigned char, unit_bytes> result;
        std::copy_n(source, unit_bytes, result.begin());
        op(target, result.data());
        std::copy(result.begin(), result.end(), target);
    }

    std::vector<Memory>& memory_;
    bool commutes_;
    std::mt19937 random_;
    std::vector<Node> nodes_;
    std::map<Channel, std::vector<std::size_t>> channels_;
};

/// What a piece is to hold, where each rank's operand or message is its row of `data`.
inline Bytes expected_of(const Piece& piece, const std::vector<Bytes>& data, bool commutes) {
    const auto of_rank = [&](int rank) {
        const auto begin =
            data[static_cast<std::size_t>(rank)].begin() + static_cast<std::ptrdiff_t>(piece.source_offset_bytes);
        return Bytes(begin, begin + static_cast<std::ptrdiff_t>(piece.region.length_bytes));
    };
    Bytes result = of_rank(piece.ranks.back());
    for (const int rank : piece.ranks | std::views::reverse | std::views::drop(1)) {
        const Bytes left = of_rank(rank);
        for (std::size_t i = 0; i + unit_bytes <= result.size(); i += unit_bytes)
            (commutes ? add : combine)(&left[i], &result[i]);
    }
    return result;
}

/// What goes wrong in a call with made-up data, executed in a random order of events; nothing where all is as promised.
inline std::string fault_in_random_order(const std::vector<Schedule>& schedules, const Promise& promise,
                                         unsigned seed) {
    constexpr std::size_t spare_bytes = 8;  // for schedules with a fault
    std::mt19937 random(seed);
    std::size_t end_bytes = 0;
    for (const auto* pieces : {&promise.before, &promise.after}) {
        for (const auto& [region, ranks, source_offset_bytes] : std::views::join(*pieces))
            end_bytes = std::max({end_bytes, region.end_bytes(), source_offset_bytes + region.length_bytes});
    }
    const std::size_t bytes = end_bytes + spare_bytes;
    std::vector<Bytes> data(promise.before.size(), Bytes(bytes));
    for (unsigned char& byte : std::views::join(data)) byte = modulo(static_cast<int>(random() >> 1));
    std::vector<Memory> memory;
    const auto place_of = [&](std::size_t rank, const Piece& piece) {
        return std::span(memory[rank][static_cast<std::size_t>(piece.region.buffer)])
            .subspan(piece.region.offset_bytes, piece.region.length_bytes);
    };
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
        memory.push_back({Bytes(bytes), Bytes(bytes, 0xEE), Bytes(schedules[rank].scratch_bytes() + spare_bytes)});
        for (const Piece& piece : promise.before[rank])
            std::ranges::copy(expected_of(piece, data, promise.commutes), place_of(rank, piece).begin());
    }
    const std::string stuck = RandomExecution(schedules, memory, promise.commutes, seed).run();
    if (!stuck.empty()) return stuck;
    for (std::size_t rank = 0; rank < memory.size(); ++rank)
        for (const Piece& piece : promise.after[rank])
            if (!std::ranges::equal(place_of(rank, piece), expected_of(piece, data, promise.commutes)))
                return "rank " + std::to_string(rank) + " has wrong bytes";
    return {};
}

}  // namespace mutirao::test
