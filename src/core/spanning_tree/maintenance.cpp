#include "core/spanning_tree/maintenance.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "core/spanning_tree/values.h"
#include "core/text/invariant.h"

namespace mutirao::maintenance {
namespace {

constexpr int nobody = -1;

[[noreturn]] void broken(int self, const char* what, long long have, long long expected) {
    broken_invariant("tree maintenance, host " + std::to_string(self) + ", " + what, have,
                     expected);
}

std::pair<int, int> ends(const auto& link) { return {link.low, link.high}; }

void sort_by_ends(std::vector<Weight>& links) { std::ranges::sort(links, {}, ends<Weight>); }

/// The links of the round's tree that hold.
EdgeList kept_links(const Round& round) {
    EdgeList failed;
    for (const Change& change : round.changes)
        if (change.after > change.before) failed.push_back(ends(change));
    std::ranges::sort(failed);
    EdgeList kept;
    for (const auto& link : round.tree)
        if (round.hosts.contains(link.first) && round.hosts.contains(link.second) &&
            !std::ranges::binary_search(failed, link))
            kept.push_back(link);
    return kept;
}

ghs::HeadStart head_start(int self, const Round& round) {
    std::vector<std::vector<int>> neighbours(
        static_cast<std::size_t>(HostSet::word_bits) * round.hosts.words().size());
    for (const auto& [low, high] : kept_links(round)) {
        neighbours[static_cast<std::size_t>(low)].push_back(high);
        neighbours[static_cast<std::size_t>(high)].push_back(low);
    }
    ghs::HeadStart known{neighbours.at(static_cast<std::size_t>(self)), {self}, round.hosts};
    std::vector<int> fragment{self};
    for (std::size_t next = 0; next < fragment.size(); ++next) {
        for (const int other : neighbours[static_cast<std::size_t>(fragment[next])]) {
            if (known.members.contains(other)) continue;
            known.members.insert(other);
            fragment.push_back(other);
        }
    }
    return known;
}

/// Without a tree there is nothing that a link could have been left out of.
std::vector<Weight> recovered_links(const Round& round) {
    std::vector<Weight> recovered;
    if (round.tree.empty()) return recovered;
    EdgeList tree = round.tree;
    std::ranges::sort(tree);
    for (const Change& change : round.changes)
        if (change.after < change.before && round.hosts.contains(change.low) &&
            round.hosts.contains(change.high) &&
            !std::ranges::binary_search(tree, ends(change)))
            recovered.push_back({change.after, change.low, change.high});
    std::ranges::sort(recovered);
    return recovered;
}

/// Fragments take them only where no others join them.
std::vector<ghs::Neighbour> recovered_last(std::vector<ghs::Neighbour> links,
                                           const std::vector<Weight>& recovered) {
    for (ghs::Neighbour& link : links)
        link.weight.last_resort = std::ranges::binary_search(recovered, link.weight);
    return links;
}

}  // namespace

Node::Node(int self, const std::vector<ghs::Neighbour>& links, const Round& round)
    : self_(self),
      root_(round.root),
      recoveries_(recovered_links(round)),
      merging_(self, recovered_last(links, recoveries_), head_start(self, round)) {
    for (const ghs::Neighbour& link : links)
        if (!round.hosts.contains(link.host)) broken(self, "link out of the round", link.host, 0);
}

Output Node::start() {
    if (started_) broken(self_, "enters the round twice, root", root_, started_);
    started_ = true;
    Output out;
    pass_on(merging_.wake(), out);
    failures_over_.heard_of = is_root();
    proceed(out);
    for (const auto& early : std::exchange(early_, {})) handle(early.from, early.message, out);
    return out;
}

Output Node::on(int from, const Message& message) {
    Output out;
    if (started_) {
        handle(from, message, out);
    } else {
        early_.push_back({from, message});
    }
    return out;
}

void Node::handle(int from, const Message& message, Output& out) {
    using Handler = void (Node::*)(int, const Message&, Output&);
    static constexpr std::array<Handler, 7> handlers = {
        &Node::on_merge,   &Node::on_not_fail,    &Node::on_not_fail_ack, &Node::on_gosleep_fail,
        &Node::on_not_rec, &Node::on_not_rec_ack, &Node::on_gosleep_rec,
    };
    const auto kind = static_cast<std::size_t>(message.kind);
    if (kind >= handlers.size())
        broken(self_, "message kind of how many", static_cast<int>(kind), std::ssize(handlers));
    // What the search for the tree left on its way over slow links may arrive at any time.
    if (finished_ && message.kind != Kind::merge)
        broken(self_, "message after the end, of kind", static_cast<int>(kind), from);
    (this->*handlers[kind])(from, message, out);
    proceed(out);
}

/// Whatever has become possible.
void Node::proceed(Output& out) {
    if (finished_) return;
    suspect(failures_over_, Kind::not_fail, out);
    if (merging_.finished() && all_acknowledged(failures_over_)) acknowledge_failures(out);
    if (finished_) return;
    suspect(recoveries_over_, Kind::not_rec, out);
    if (all_acknowledged(recoveries_over_)) acknowledge_recoveries(out);
}

/// A branch is in the tree for sure, so its far end is below this host and has not heard yet.
void Node::suspect(Suspicion& suspicion, Kind kind, Output& out) {
    if (!suspicion.heard_of) return;
    for (const int host : below()) {
        if (suspicion.told.contains(host)) continue;
        suspicion.told.insert(host);
        out.push_back({host, {kind, {}, {}}});
    }
}

bool Node::all_acknowledged(const Suspicion& suspicion) const {
    return suspicion.heard_of && !suspicion.answered && suspicion.told == suspicion.acknowledged;
}

void Node::acknowledge_failures(Output& out) {
    failures_over_.answered = true;
    std::vector<Weight> links = std::exchange(failures_over_.links, {});
    if (!is_root()) {
        Weight above = merging_.weight(parent_);
        above.last_resort = false;
        links.push_back(above);
        sort_by_ends(links);
        out.push_back({parent_, {Kind::not_fail_ack, {}, std::move(links)}});
        return;
    }
    sort_by_ends(links);
    links_ = with_recoveries(links, recoveries_);
    if (links_ == links) {
        end_round(links, out);
        return;
    }
    tell_below({Kind::gosleep_fail, {}, std::move(links)}, out);
    recoveries_over_.heard_of = true;
}

void Node::acknowledge_recoveries(Output& out) {
    recoveries_over_.answered = true;
    std::vector<Weight> links = std::exchange(recoveries_over_.links, {});
    std::ranges::copy_if(links_, std::back_inserter(links),
                         [this](const Weight& link) { return link.low == self_; });
    sort_by_ends(links);
    if (!is_root()) {
        out.push_back({parent_, {Kind::not_rec_ack, {}, std::move(links)}});
        return;
    }
    if (links != links_)
        broken(self_, "links held against links chosen", std::ssize(links), std::ssize(links_));
    end_round(links, out);
}

void Node::on_merge(int from, const Message& message, Output& out) {
    pass_on(merging_.on(from, message.merging), out);
}

void Node::on_not_fail(int from, const Message&, Output&) {
    failures_over_.heard_of = true;
    parent_ = from;
}

void Node::on_not_fail_ack(int from, const Message& message, Output&) {
    gather(failures_over_, from, message);
}

void Node::on_gosleep_fail(int from, const Message& message, Output& out) {
    if (!failures_over_.answered) broken(self_, "failures are over too early", from, parent_);
    tell_below(message, out);
    links_ = with_recoveries(message.links, recoveries_);
}

void Node::on_not_rec(int from, const Message&, Output&) {
    if (links_.empty()) broken(self_, "recoveries are over before they begin", from, parent_);
    recoveries_over_.heard_of = true;
}

void Node::on_not_rec_ack(int from, const Message& message, Output&) {
    gather(recoveries_over_, from, message);
}

void Node::on_gosleep_rec(int from, const Message& message, Output& out) {
    if (from != parent_) broken(self_, "end of the round not from above", from, parent_);
    end_round(message.links, out);
}

void Node::gather(Suspicion& suspicion, int from, const Message& message) {
    if (!suspicion.told.contains(from)) broken(self_, "acknowledges unasked", from, parent_);
    suspicion.acknowledged.insert(from);
    suspicion.links.insert(suspicion.links.end(), message.links.begin(), message.links.end());
    sort_by_ends(suspicion.links);
}

void Node::end_round(const std::vector<Weight>& links, Output& out) {
    tell_below({Kind::gosleep_rec, {}, links}, out);
    finished_ = true;
    links_.clear();
    for (const Weight& link : links) tree_.emplace_back(link.low, link.high);
}

void Node::pass_on(const ghs::Output& merging, Output& out) {
    for (const ghs::Outgoing& outgoing : merging)
        out.push_back({outgoing.to, {Kind::merge, outgoing.message, {}}});
}

std::vector<int> Node::below() const {
    std::vector<int> hosts = merging_.branches();
    std::erase(hosts, parent_);
    return hosts;
}

void Node::tell_below(const Message& message, Output& out) const {
    for (const int host : below()) out.push_back({host, message});
}

int Node::waiting() const { return static_cast<int>(early_.size()) + merging_.waiting(); }

std::vector<Weight> with_recoveries(std::vector<Weight> tree, const std::vector<Weight>& recovered) {
    HostSet joined;
    int hosts = 0;
    for (const Weight& link : tree) {
        joined.unite({link.low, link.high});
        hosts = std::max(hosts, link.high + 1);
    }
    std::ranges::copy_if(recovered, std::back_inserter(tree), [&](const Weight& link) {
        return joined.contains(link.low) && joined.contains(link.high);
    });
    std::vector<Weight> links = lightest_forest(hosts, std::move(tree));
    sort_by_ends(links);
    return links;
}

}  // namespace mutirao::maintenance
