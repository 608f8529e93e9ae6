#include "simulate/maintenance_world.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/spanning_tree/values.h"
#include "core/text/bytes.h"

namespace mutirao::simulate {
namespace {

Graph usable(const Graph& graph) {
    Graph part{graph.hosts, graph.edges};
    std::erase_if(part.edges,
                  [](const WeightedEdge& edge) { return !std::isfinite(edge.weight.value); });
    return part;
}

bool joins_all(const Graph& graph) {
    return std::ranges::all_of(components(usable(graph)), [](int lowest) { return lowest == 0; });
}

std::vector<maintenance::Change> changes_between(const Graph& before, const Graph& after) {
    std::vector<maintenance::Change> changes;
    for (std::size_t i = 0; i < before.edges.size(); ++i) {
        const WeightedEdge& edge = after.edges[i];
        const double old_value = before.edges[i].weight.value;
        if (old_value != edge.weight.value)
            changes.push_back({edge.low, edge.high, old_value, edge.weight.value});
    }
    return changes;
}

}  // namespace

std::vector<std::byte> encode(const RoundMessage& message) {
    ByteWriter writer;
    writer.put(message.round, 4);
    writer.put_bytes(encode(message.message));
    return std::move(writer).take();
}

void RoundHost::open(const maintenance::Node& node, std::uint32_t round) {
    if (next_) broken_invariant("a round is open already beside", round, round_);
    next_ = node;
}

RoundHost::Output RoundHost::wake() {
    current_ = std::exchange(next_, std::nullopt);
    ++round_;
    return in_round(current_->start());
}

RoundHost::Output RoundHost::on(int from, const RoundMessage& message) {
    if (message.round == round_) return in_round(current_->on(from, message.message));
    if (message.round == round_ + 1 && next_) {
        if (!next_->on(from, message.message).empty())
            broken_invariant("a host speaks before it has entered round", message.round, round_);
        return {};
    }
    if (message.round > round_)
        broken_invariant("a message of a round that is not open", message.round, round_);
    return {};
}

RoundHost::Output RoundHost::in_round(const maintenance::Output& output) const {
    Output out;
    for (const auto& [to, message] : output) out.push_back({to, {round_, message}});
    return out;
}

std::vector<std::byte> RoundHost::fingerprint() const {
    ByteWriter state;
    state.number(round_, 4);
    for (const auto* node : {&current_, &next_})
        state.optional(*node, [&](const auto& each) { state.put_bytes(each.fingerprint()); });
    return std::move(state).take();
}

MaintenanceWorld::MaintenanceWorld(const Scenario& scenario)
    : channels_(std::vector<RoundHost>(static_cast<std::size_t>(scenario.now.hosts)),
                scenario.now.links()),
      weights_(scenario.now),
      tree_weights_(scenario.before),
      tree_(kruskal(scenario.before.hosts, scenario.before.edges)),
      roots_(scenario.roots),
      values_(scenario.values),
      changes_left_(scenario.changes) {
    if (!joins_all(weights_))
        broken_invariant("links that part the hosts", std::ssize(weights_.edges), host_count());
    find_possible_changes();
}

const MaintenanceWorld::Opened& MaintenanceWorld::opened(std::uint32_t round) const {
    const std::shared_ptr<const Opened>& found =
        newest_ && newest_->round.number == round ? newest_ : previous_;
    if (!found || found->round.number != round)
        broken_invariant("round asked for, newest", round, newest_round());
    return *found;
}

MaintenanceWorld::Choice MaintenanceWorld::delivery(std::size_t i) const {
    const auto choice = channels_.delivery(i);
    return {Choice::Kind::deliver, choice.from, choice.to};
}

std::size_t MaintenanceWorld::spontaneous_count() const {
    return channels_.spontaneous_count() + (can_open() ? 1 : 0) + possible_changes_.size();
}

MaintenanceWorld::Choice MaintenanceWorld::spontaneous(std::size_t i) const {
    if (i < channels_.spontaneous_count())
        return {Choice::Kind::enter, -1, channels_.spontaneous(i).to};
    i -= channels_.spontaneous_count();
    if (can_open() && i-- == 0) return {Choice::Kind::open, -1, -1};
    return possible_changes_[i];
}

/// A root that knows the end knows that all hosts have entered its round.
bool MaintenanceWorld::can_open() const {
    const bool changed = !changes_between(tree_weights_, weights_).empty();
    if (!newest_) return tree_.empty() || changed;
    const RoundHost& root = host(newest_->round.root);
    return changed && root.round() == newest_round() && root.node()->finished();
}

MaintenanceWorld::Output MaintenanceWorld::apply(const Choice& choice) {
    using Event = Channels<RoundHost>::Choice;
    Output sent;
    switch (choice.kind) {
        case Choice::Kind::deliver:
            sent = channels_.apply({Event::Kind::deliver, choice.from, choice.to});
            break;
        case Choice::Kind::enter: sent = channels_.apply({Event::Kind::wake, -1, choice.to}); break;
        case Choice::Kind::open: open_round(); break;
        case Choice::Kind::change: change(choice.from, choice.to, choice.value); break;
    }
    if (keeps_digest_) renew_digest();
    return sent;
}

void MaintenanceWorld::open_round() {
    maintenance::Round round;
    round.number = newest_round() + 1;
    round.root = roots_[round.number % roots_.size()];
    round.tree = newest_ ? host(newest_->round.root).node()->tree() : tree_;
    if (!round.tree.empty()) round.changes = changes_between(tree_weights_, weights_);
    for (int host = 0; host < host_count(); ++host) round.hosts.insert(host);
    const Graph links = usable(weights_);
    for (int host = 0; host < host_count(); ++host) {
        const maintenance::Node node(host, links.neighbours(host), round);
        channels_.alter(host, [&](RoundHost& machine) { machine.open(node, round.number); });
    }
    previous_ = newest_;
    newest_ = std::make_shared<const Opened>(
        Opened{std::move(round), weights_, kruskal(weights_.hosts, weights_.edges)});
    tree_weights_ = weights_;
}

void MaintenanceWorld::change(int low, int high, double value) {
    for (WeightedEdge& edge : weights_.edges)
        if (edge.low == low && edge.high == high) edge.weight.value = value;
    --changes_left_;
    find_possible_changes();
}

void MaintenanceWorld::find_possible_changes() {
    possible_changes_.clear();
    if (changes_left_ == 0) return;
    for (const WeightedEdge& edge : weights_.edges) {
        for (const double value : values_) {
            if (value == edge.weight.value) continue;
            if (!std::isfinite(value)) {
                Graph without = weights_;
                std::erase_if(without.edges, [&](const WeightedEdge& other) {
                    return other.low == edge.low && other.high == edge.high;
                });
                if (!joins_all(without)) continue;
            }
            possible_changes_.push_back({Choice::Kind::change, edge.low, edge.high, value});
        }
    }
}

void MaintenanceWorld::keep_digest() {
    keeps_digest_ = true;
    channels_.keep_digest();
    renew_digest();
}

void MaintenanceWorld::renew_digest() {
    ByteWriter state;
    state.number(newest_round(), 4);
    state.number(changes_left_, 4);
    for (const Graph* graph : {&weights_, &tree_weights_})
        for (const WeightedEdge& edge : graph->edges) fields(state, edge.weight);
    Digester digester(~std::uint64_t{0});
    digester.add(std::move(state).take());
    digest_ = channels_.digest();
    digest_ += digester.value();
}

namespace {

using maintenance::Kind;

std::vector<int> neighbours(const EdgeList& tree, int host) {
    std::vector<int> list;
    for (const auto& [low, high] : tree) {
        if (low == host) list.push_back(high);
        if (high == host) list.push_back(low);
    }
    std::ranges::sort(list);
    return list;
}

}  // namespace

MaintenanceRules::Counts MaintenanceRules::count(int, const RoundOutgoing& outgoing) const {
    const maintenance::Message& message = outgoing.message.message;
    const bool tells_end =
        message.kind == Kind::merge && message.merging.kind == ghs::Kind::finish;
    Counts counts{};
    counts[tells_end ? finishes : static_cast<std::size_t>(message.kind)] = 1;
    return counts;
}

std::string MaintenanceRules::objection(const MaintenanceWorld& world,
                                        const MaintenanceWorld::Choice& choice) const {
    using Choice = MaintenanceWorld::Choice;
    if (choice.kind == Choice::Kind::deliver) {
        const RoundMessage& next = world.next(choice.from, choice.to);
        const RoundHost& receiver = world.host(choice.to);
        if (next.round < receiver.round() && next.message.kind != Kind::merge)
            return "a message reaches host " + std::to_string(choice.to) + " after its round";
    }
    if (choice.kind == Choice::Kind::enter && world.host(choice.to).round() > 0)
        return host_objection(world, choice.to);
    if (choice.kind == Choice::Kind::open && world.newest_round() > 0)
        return host_objection(world, world.opened(world.newest_round()).round.root);
    return {};
}

std::string MaintenanceRules::objection_at_rest(const MaintenanceWorld& world) const {
    for (int host = 0; host < world.host_count(); ++host)
        if (world.host(host).round() < world.newest_round() && world.host(host).asleep()) return {};
    if (world.newest_round() == 0) return {};
    for (int host = 0; host < world.host_count(); ++host) {
        if (world.host(host).round() != world.newest_round())
            return "host " + std::to_string(host) + " cannot enter the newest round";
        const std::string objection = host_objection(world, host);
        if (!objection.empty()) return objection;
    }
    return {};
}

std::string MaintenanceRules::host_objection(const MaintenanceWorld& world, int host) {
    const maintenance::Node& node = *world.host(host).node();
    const EdgeList& expected = world.opened(world.host(host).round()).expected;
    const std::string who = "host " + std::to_string(host) + ": ";
    if (!node.finished()) return who + "nothing is in flight but the round has not ended";
    if (node.waiting() > 0) return who + std::to_string(node.waiting()) + " messages still wait";
    if (node.tree() != expected)
        return who + "tree" + text_of(node.tree()) + ", Kruskal's" + text_of(expected);
    if (node.branches() != neighbours(expected, host)) return who + "branches are not the tree's";
    if (node.state() != maintenance::State::found) return who + "has not settled";
    return {};
}

std::string MaintenanceRules::objection(const Counts& worst, const Graph& graph, int rounds) {
    const auto too_many = [](const std::string& what, double count, double most) {
        return count <= most ? std::string()
                             : std::to_string(count) + " messages " + what + ", more than " +
                                   std::to_string(most);
    };
    const double links = rounds * (graph.hosts - 1);
    for (std::size_t kind = 1; kind < kinds; ++kind)
        if (auto text = too_many("of kind " + std::to_string(kind), worst[kind], links);
            !text.empty())
            return text;
    if (auto text = too_many("that tell the merging's end", worst[finishes], 2 * links);
        !text.empty())
        return text;
    return too_many("of merging", worst[0], rounds * most_merges(graph));
}

double MaintenanceRules::most_merges(const Graph& graph) {
    const double hosts = graph.hosts;
    return 2 * static_cast<double>(graph.edges.size()) + 5 * hosts * std::log2(hosts) + 2 * hosts;
}

}  // namespace mutirao::simulate
