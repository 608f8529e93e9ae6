// A second, independent proof by brute force: real bytes move between real buffers in a random
// order of events, with first-in-first-out matching, and every send synchronous. A byte that is
// sent before it is there, or overwritten while it is sent, shows as wrong data; a deadlock as
// steps that never run. It shares no code with the checker.
#include <gtest/gtest.h>

#include <map>

#include "core/algorithms/test_requests.h"

namespace mutirao {
namespace {

using Bytes = std::vector<unsigned char>;

class RandomExecution {
  public:
    RandomExecution(const std::vector<Schedule>& schedules, std::vector<Bytes>& memory,
                    unsigned seed)
        : schedules_(schedules), memory_(memory), random_(seed) {
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
            memory_[receiver.rank].at(to.offset_bytes + i) =
                memory_[sender.rank].at(from.offset_bytes + i);
        }
        for (Node* done : {&sender, &receiver}) {
            done->complete = true;
            for (const std::size_t dependent : done->dependents) release(dependent);
        }
    }

    const std::vector<Schedule>& schedules_;
    std::vector<Bytes>& memory_;
    std::mt19937 random_;
    std::vector<Node> nodes_;
    std::map<Channel, std::vector<std::size_t>> channels_;
    std::vector<Event> enabled_;
};

std::string broadcast_goes_wrong(const std::vector<Schedule>& schedules, int root,
                                 std::size_t length_bytes, unsigned seed) {
    std::mt19937 random(seed);
    Bytes message(length_bytes);
    for (unsigned char& byte : message) byte = static_cast<unsigned char>(random());
    std::vector<Bytes> memory(schedules.size(), message);
    for (std::size_t rank = 0; rank < memory.size(); ++rank) {
        if (static_cast<int>(rank) == root) continue;
        for (unsigned char& byte : memory[rank]) byte = static_cast<unsigned char>(~byte);
    }
    std::string fault = RandomExecution(schedules, memory, seed).run();
    for (std::size_t rank = 0; rank < memory.size() && fault.empty(); ++rank) {
        if (memory[rank] != message) fault = "rank " + std::to_string(rank) + " has wrong bytes";
    }
    return fault;
}

// Seen to fail with: sends that do not wait for their segment's receive; a ring whose sends wait
// for the receive before; a scatter that sends before it has received.
TEST(RandomExecution, EveryAlgorithmDeliversInAnyOrderOfEvents) {
    for (Candidate candidate : test::candidates_in_one_piece()) {
        for (const int size : {1, 2, 3, 4, 7, 13, 24, 37}) {
            const int root = size / 3;
            const Tree tree = test::random_tree(candidate.parameters.tree, size, root);
            for (const std::size_t length : {0u, 5u, 97u, 193u}) {
                candidate.parameters.segment_bytes = length == 193u ? 64 : 0;
                const auto schedules = test::build_all(candidate, size, root, length, tree);
                for (unsigned seed = 0; seed < 3; ++seed) {
                    EXPECT_EQ(broadcast_goes_wrong(schedules, root, length, seed), "")
                        << to_string(candidate) << ", ranks " << size << ", bytes " << length
                        << ", seed " << seed;
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
        wrong += broadcast_goes_wrong(hasty, 0, 8, seed).empty() ? 0 : 1;
    }
    EXPECT_GT(wrong, 0);

    std::vector<Schedule> waiting(2);
    waiting[0].receive(1, all);
    waiting[1].receive(0, all);
    EXPECT_EQ(broadcast_goes_wrong(waiting, 0, 8, 0), "rank 0 has a stuck step");
}

}  // namespace
}  // namespace mutirao
