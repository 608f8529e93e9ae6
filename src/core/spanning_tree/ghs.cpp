// The rules follow the numbered procedures of Gallager, Humblet and Spira (1983,
// doi:10.1145/357195.357200), one method per message.
#include "core/spanning_tree/ghs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "core/spanning_tree/values.h"
#include "core/text/invariant.h"

namespace mutirao {

namespace ghs {
namespace {

constexpr int nobody = -1;

[[noreturn]] void broken(int self, const char* what, long long have, long long expected) {
    broken_invariant("spanning tree, host " + std::to_string(self) + ", " + what, have, expected);
}

}  // namespace

Node::Node(int self, const std::vector<Neighbour>& neighbours, const HeadStart& known)
    : self_(self), members_{self}, everyone_(known.everyone) {
    members_.unite(known.members);
    for (const Neighbour& neighbour : neighbours) {
        const auto [low, high] = std::minmax(self, neighbour.host);
        if (neighbour.weight.low != low) broken(self, "link's low end", neighbour.weight.low, low);
        if (neighbour.weight.high != high)
            broken(self, "link's high end", neighbour.weight.high, high);
        const bool fellow = members_.contains(neighbour.host);
        edges_.push_back({neighbour.host, neighbour.weight,
                          fellow ? LinkState::rejected : LinkState::basic});
    }
    std::ranges::sort(edges_, {}, [](const Edge& edge) { return edge.weight; });
    for (const int host : known.branches) edge_to(host).state = LinkState::branch;
    finished_ = knows_everyone();
    if (finished_) state_ = State::found;
}

const Node::Edge& Node::edge_to(int host) const {
    const auto found = std::ranges::find(edges_, host, &Edge::host);
    if (found == edges_.end())
        broken(self_, "no such neighbour, of how many", host, std::ssize(edges_));
    return *found;
}

Output Node::on(int from, const Message& message) {
    Output out;
    if (finished_) return out;
    Edge& edge = edge_to(from);
    if (must_wait(edge, message)) {
        waiting_.push_back({from, message});
    } else {
        handle(edge, message, out);
    }
    retry_waiting(out);
    return out;
}

Output Node::wake() {
    Output out;
    if (finished_) return out;
    const auto nearest = std::ranges::find(edges_, LinkState::basic, &Edge::state);
    if (nearest != edges_.end()) take_if_better(nearest->host, nearest->weight);
    unreported_ = static_cast<int>(std::ranges::count(edges_, LinkState::branch, &Edge::state));
    if (unreported_ == 0) {
        state_ = State::found;
        change_root(out);
    } else {
        state_ = State::find;
        report_to_last_branch(out);
    }
    return out;
}

void Node::report_to_last_branch(Output& out) {
    if (unreported_ > 1) return;
    const auto last = std::ranges::find_if(edges_, [](const Edge& edge) {
        return edge.state == LinkState::branch && !edge.reported;
    });
    inbound_ = last->host;
    unreported_ = 0;
    state_ = State::found;
    out.push_back({inbound_, {.kind = Kind::report, .fragment = best_weight_, .members = members_}});
}

bool Node::must_wait(const Edge& edge, const Message& message) const {
    switch (message.kind) {
        case Kind::connect: return message.level >= level_ && edge.state == LinkState::basic;
        case Kind::test: return message.level > level_;
        case Kind::report: return edge.host == inbound_ && state_ == State::find;
        default: return false;
    }
}

void Node::retry_waiting(Output& out) {
    const auto ready = [this](const Waiting<Message>& kept) {
        return !must_wait(edge_to(kept.from), kept.message);
    };
    // Each one handled may free an earlier one, so look from the start again.
    for (auto next = std::ranges::find_if(waiting_, ready); next != waiting_.end();
         next = std::ranges::find_if(waiting_, ready)) {
        const Waiting<Message> kept = *next;
        waiting_.erase(next);
        handle(edge_to(kept.from), kept.message, out);
    }
}

void Node::handle(Edge& edge, const Message& message, Output& out) {
    using Handler = void (Node::*)(Edge&, const Message&, Output&);
    static constexpr std::array<Handler, 7> handlers = {
        &Node::on_connect, &Node::on_initiate, &Node::on_test,        &Node::on_accept,
        &Node::on_reject,  &Node::on_report,   &Node::on_change_root,
    };
    if (message.kind == Kind::finish) return finish(edge.host, out);
    // Not before: while a connect waits, its sender's fragment has not joined this one.
    members_.unite(message.members);
    if (!knows_everyone()) return (this->*handlers.at(static_cast<std::size_t>(message.kind)))(edge, message, out);
    if (message.kind == Kind::connect) edge.state = LinkState::branch;
    finish(nobody, out);
}

Message Node::initiate(int level, const Weight& fragment, State state) const {
    return {Kind::initiate, level, fragment, state, members_};
}

void Node::on_connect(Edge& edge, const Message& message, Output& out) {
    if (message.level < level_) {  // absorb the smaller fragment
        edge.state = LinkState::branch;
        out.push_back({edge.host, initiate(level_, fragment_, state_)});
        if (state_ == State::find) ++unreported_;
    } else {  // both chose this link: it is the core of a fragment one level higher
        out.push_back({edge.host, initiate(level_ + 1, edge.weight, State::find)});
    }
}

void Node::on_initiate(Edge& edge, const Message& message, Output& out) {
    level_ = message.level;
    fragment_ = message.fragment;
    state_ = message.state;
    inbound_ = edge.host;
    best_ = nobody;
    best_weight_ = Weight::infinite();
    for (const Edge& other : edges_) {
        if (other.host == edge.host || other.state != LinkState::branch) continue;
        out.push_back({other.host, initiate(level_, fragment_, state_)});
        if (state_ == State::find) ++unreported_;
    }
    if (state_ == State::find) test_next(out);
}

// A link to a known member needs no test, and no connect can be pending on it. A pending connect's
// link is its sender's fragment's lightest outgoing one, hence in the minimum spanning tree, and so
// is every link over which fragments have joined, those absorbed while it waits included. Were the
// sender a member already, the tree would hold the pending link and a way round it: a cycle.
void Node::test_next(Output& out) {
    for (Edge& edge : edges_) {
        if (edge.state != LinkState::basic) continue;
        if (!members_.contains(edge.host)) {
            testing_ = edge.host;
            out.push_back({testing_, {.kind = Kind::test, .level = level_, .fragment = fragment_}});
            return;
        }
        edge.state = LinkState::rejected;
    }
    testing_ = nobody;
    report_if_complete(out);
}

void Node::on_test(Edge& edge, const Message& message, Output& out) {
    if (message.fragment != fragment_) {
        out.push_back({edge.host, {.kind = Kind::accept}});
        return;
    }
    if (edge.state == LinkState::basic) edge.state = LinkState::rejected;
    if (testing_ == edge.host) {
        test_next(out);  // our own test tells the other end: no answer needed
    } else {
        out.push_back({edge.host, {.kind = Kind::reject, .members = members_}});
    }
}

void Node::on_accept(Edge& edge, const Message&, Output& out) {
    if (testing_ != edge.host) broken(self_, "accept without a test, from", edge.host, testing_);
    testing_ = nobody;
    take_if_better(edge.host, edge.weight);
    report_if_complete(out);
}

void Node::on_reject(Edge& edge, const Message&, Output& out) {
    if (testing_ != edge.host) broken(self_, "reject without a test, from", edge.host, testing_);
    if (edge.state == LinkState::basic) edge.state = LinkState::rejected;
    test_next(out);
}

void Node::take_if_better(int host, const Weight& weight) {
    if (weight < best_weight_) {
        best_ = host;
        best_weight_ = weight;
    }
}

void Node::report_if_complete(Output& out) {
    if (unreported_ > 0 || testing_ != nobody) return;
    state_ = State::found;
    out.push_back({inbound_, {.kind = Kind::report, .fragment = best_weight_, .members = members_}});
}

void Node::on_report(Edge& edge, const Message& message, Output& out) {
    if (level_ == 0 && state_ == State::find) {
        if (edge.reported) broken(self_, "second report, from", edge.host, level_);
        edge.reported = true;
        --unreported_;
        take_if_better(edge.host, message.fragment);
        report_to_last_branch(out);
    } else if (edge.host != inbound_) {
        if (unreported_ == 0) broken(self_, "report too many, from", edge.host, inbound_);
        --unreported_;
        take_if_better(edge.host, message.fragment);
        report_if_complete(out);
    } else if (message.fragment > best_weight_) {  // the better link lies on our side of the core
        change_root(out);
    }
}

void Node::on_change_root(Edge&, const Message&, Output& out) { change_root(out); }

void Node::change_root(Output& out) {
    if (best_ == nobody) broken(self_, "no link to move the root to, level", level_, best_);
    Edge& best = edge_to(best_);
    if (best.state == LinkState::branch) {
        out.push_back({best.host, {.kind = Kind::change_root, .members = members_}});
        return;
    }
    best.state = LinkState::branch;
    out.push_back({best.host, {.kind = Kind::connect, .level = level_, .members = members_}});
}

/// `informed`: the neighbour that knows already, if any.
void Node::finish(int informed, Output& out) {
    finished_ = true;
    state_ = State::found;
    waiting_.clear();
    for (const Edge& edge : edges_)
        if (edge.state == LinkState::branch && edge.host != informed)
            out.push_back({edge.host, {.kind = Kind::finish}});
}

std::vector<int> Node::branches() const {
    std::vector<int> hosts;
    for (const Edge& edge : edges_)
        if (edge.state == LinkState::branch) hosts.push_back(edge.host);
    std::ranges::sort(hosts);
    return hosts;
}

}  // namespace ghs
}  // namespace mutirao
