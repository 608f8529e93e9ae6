#include "tool/replay_tree.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "core/spanning_tree/kruskal.h"
#include "core/text/invariant.h"

namespace mutirao::tool {
namespace {

/// Far above what a round needs: what stops a round that does not end.
constexpr int most_messages_per_link = 64;

HostSet reachable(const Network& network, int from) {
    HostSet hosts{from};
    std::vector<int> open = {from};
    while (!open.empty()) {
        const int host = open.back();
        open.pop_back();
        for (int other = 0; other < network.host_count(); ++other) {
            if (hosts.contains(other) || !network.link(host, other).usable()) continue;
            hosts.insert(other);
            open.push_back(other);
        }
    }
    return hosts;
}

struct Letter {
    int from;
    int to;
    maintenance::Message message;
};

/// All hosts of one round.
class RoundInMemory {
  public:
    RoundInMemory(const Network& network, const maintenance::Round& round)
        : position_(static_cast<std::size_t>(network.host_count()), -1) {
        const std::vector<int> hosts = round.hosts.hosts();
        for (const int host : hosts) {
            std::vector<ghs::Neighbour> links;
            for (const int other : hosts) {
                if (other == host || !network.link(host, other).usable()) continue;
                links.push_back({other, link_weight(network, host, other)});
            }
            position_[static_cast<std::size_t>(host)] = static_cast<int>(nodes_.size());
            nodes_.emplace_back(host, links, round);
            limit_ += most_messages_per_link * static_cast<int>(links.size() + 1);
        }
        for (const int host : hosts) send(host, node(host).start());
    }

    /// Returns the number of messages.
    int run() {
        for (; !letters_.empty(); letters_.pop_front()) {
            if (++messages_ > limit_) broken_invariant("messages in a round", messages_, limit_);
            const Letter& letter = letters_.front();
            send(letter.to, node(letter.to).on(letter.from, letter.message));
        }
        return messages_;
    }

    /// As all hosts know it.
    const EdgeList& tree() const {
        for (const maintenance::Node& each : nodes_) {
            if (!each.finished()) broken_invariant("hosts that know the round's end", 0, 1);
            if (each.tree() != nodes_.front().tree()) {
                broken_invariant("trees of two hosts", static_cast<long long>(each.tree().size()),
                                 static_cast<long long>(nodes_.front().tree().size()));
            }
        }
        return nodes_.front().tree();
    }

  private:
    maintenance::Node& node(int host) {
        return nodes_[static_cast<std::size_t>(position_[static_cast<std::size_t>(host)])];
    }
    void send(int from, maintenance::Output output) {
        for (maintenance::Outgoing& each : output) {
            letters_.push_back({from, each.to, std::move(each.message)});
        }
    }

    std::vector<int> position_;
    std::vector<maintenance::Node> nodes_;
    std::deque<Letter> letters_;
    int messages_ = 0;
    int limit_ = 0;
};

}  // namespace

maintenance::Round MaintainedTree::next_round(const Network& announced, int inside) const {
    maintenance::Round round;
    round.number = rounds_ + 1;
    round.hosts = reachable(announced, inside);
    round.root = round.hosts.hosts().front();
    if (round.hosts != hosts_) return round;
    round.tree = tree_;
    for (int low = 0; low < announced.host_count(); ++low) {
        for (int high = low + 1; high < announced.host_count(); ++high) {
            const double before = base_.link(low, high).latency_us;
            const double after = announced.link(low, high).latency_us;
            if (before != after) round.changes.push_back({low, high, before, after});
        }
    }
    return round;
}

int MaintainedTree::adapt(const Network& announced, int inside) {
    const maintenance::Round round = next_round(announced, inside);
    if (round.hosts == hosts_ && round.changes.empty()) return 0;
    base_ = announced;
    hosts_ = round.hosts;
    tree_.clear();
    if (hosts_.count() == 1) return 0;
    RoundInMemory memory(announced, round);
    const int messages = memory.run();
    tree_ = memory.tree();
    rounds_ = round.number;
    return messages;
}

bool MaintainedTree::equals_kruskals() const {
    EdgeList edges = minimum_spanning_tree(base_);
    std::erase_if(edges, [&](const auto& edge) { return !hosts_.contains(edge.first); });
    return tree_ == edges;
}

}  // namespace mutirao::tool
