// Greedy earliest completion (Bhat, Raghavendra and Prasanna 2003,
// doi:10.1016/S0743-7315(03)00008-X: "earliest completing edge first"), then each host's sends in
// the best order for the tree that came out.
//
// A sender is busy per message for the larger of its send overhead and the time its port takes;
// the message is with the receiver after both overheads, the latency and the transmission at the
// slowest of link and ports.
// Cost: hosts^2 log(hosts), since a sender's receivers keep their order whenever it is ready.
#include <algorithm>

#include "core/network/tree.h"
#include "core/network/tree_order.h"

namespace mutirao {

namespace {

class Greedy {
  public:
    Greedy(const Network& network, int root, std::size_t length_bytes)
        : network_(network),
          length_bytes_(length_bytes),
          parent_(static_cast<std::size_t>(network.host_count()), -1),
          reached_(static_cast<std::size_t>(network.host_count()), false) {
        add_sender(root, 0);
    }

    std::optional<Tree> run(int root) {
        for (int missing = network_.host_count() - 1; missing > 0; --missing) {
            if (!reach_next()) return std::nullopt;
        }
        Tree tree = tree_from_parents(std::move(parent_), root);
        serve_longest_first(tree, {[this](int from, int to) { return delivery_us(from, to); },
                                   [this](int from) { return busy_us(from); }});
        return tree;
    }

  private:
    struct Receiver {
        double delivery_us;
        int host;
    };
    struct Sender {
        int host;
        double ready_us;
        std::vector<Receiver> receivers;  // nearest last, so that reached ones are popped
    };

    double busy_us(int from) const {
        const HostCosts& costs = network_.host(from);
        return std::max(costs.send_overhead_us,
                        transmission_us(length_bytes_, costs.port_bytes_per_us));
    }

    double delivery_us(int from, int to) const {
        const Link link = network_.link(from, to);
        const HostCosts& sender = network_.host(from);
        const HostCosts& receiver = network_.host(to);
        const double bandwidth = std::min({link.bandwidth_bytes_per_us, sender.port_bytes_per_us,
                                           receiver.port_bytes_per_us});
        return sender.send_overhead_us + link.latency_us +
               transmission_us(length_bytes_, bandwidth) + receiver.receive_overhead_us;
    }

    void add_sender(int host, double ready_us) {
        reached_[static_cast<std::size_t>(host)] = true;
        Sender sender{host, ready_us, {}};
        for (int to = 0; to < network_.host_count(); ++to) {
            const bool useful = !reached_[static_cast<std::size_t>(to)];
            if (useful && std::isfinite(delivery_us(host, to))) {
                sender.receivers.push_back({delivery_us(host, to), to});
            }
        }
        std::sort(sender.receivers.begin(), sender.receivers.end(),
                  [](const Receiver& a, const Receiver& b) {
                      return a.delivery_us != b.delivery_us ? a.delivery_us > b.delivery_us
                                                            : a.host > b.host;
                  });
        senders_.push_back(std::move(sender));
    }

    /// Gives the message to the host that can have it earliest; false if none can be reached.
    bool reach_next() {
        Sender* best = nullptr;
        double best_us = std::numeric_limits<double>::infinity();
        for (Sender& sender : senders_) {
            auto& receivers = sender.receivers;
            while (!receivers.empty() &&
                   reached_[static_cast<std::size_t>(receivers.back().host)]) {
                receivers.pop_back();
            }
            if (receivers.empty()) continue;
            const double arrival_us = sender.ready_us + receivers.back().delivery_us;
            if (arrival_us < best_us) {
                best = &sender;
                best_us = arrival_us;
            }
        }
        if (best == nullptr) return false;
        const int host = best->receivers.back().host;
        parent_[static_cast<std::size_t>(host)] = best->host;
        best->ready_us += busy_us(best->host);
        add_sender(host, best_us);
        return true;
    }

    const Network& network_;
    std::size_t length_bytes_;
    std::vector<int> parent_;
    std::vector<bool> reached_;
    std::vector<Sender> senders_;  // in the order in which they were reached
};

}  // namespace

std::optional<Tree> greedy_tree(const Network& network, int root, std::size_t length_bytes) {
    return Greedy(network, root, length_bytes).run(root);
}

}  // namespace mutirao
