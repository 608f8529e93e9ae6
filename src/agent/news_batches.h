// News of links that wait to be sent, by receiver. While agents learn the network, each host hears of
// hundreds of links from every side within a second or two; sent on one by one, 24 hosts would
// exchange 150,000 messages. News of a link displace older ones of the same. A driver sends what
// waits here ahead of anything else to that host: who hears of a round must know what its root knew.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "agent/system.h"
#include "core/spanning_tree/rounds_message.h"

namespace mutirao::agent {

class NewsBatches {
  public:
    /// What is hurried along by nothing else waits for so long.
    static constexpr std::int64_t longest_wait_ns = 20 * ns_per_ms;

    explicit NewsBatches(int host_count) : batches_(static_cast<std::size_t>(host_count)) {}

    void add(int to, const rounds::Message& news, std::int64_t now_ns) {
        for (const rounds::LinkNews& each : news.links) {
            const auto [place, is_new] =
                batches_[static_cast<std::size_t>(to)].try_emplace({each.low, each.high}, each.state);
            if (!is_new && each.state > place->second) place->second = each.state;
        }
        if (due_ns_ == never_ns) due_ns_ = now_ns + longest_wait_ns;
    }

    /// In pieces that fit a frame; they wait no longer.
    std::vector<rounds::Message> take(int to) {
        auto batch = std::exchange(batches_[static_cast<std::size_t>(to)], {});
        if (batch.empty()) return {};
        rounds::Message news{.kind = rounds::Kind::news};
        for (const auto& [ends, state] : batch)
            news.links.push_back({ends.first, ends.second, state});
        return rounds::split(news);
    }

    /// When to send all that waits.
    std::int64_t next_ns() const { return due_ns_; }
    /// All was sent.
    void rest() { due_ns_ = never_ns; }

  private:
    std::vector<std::map<std::pair<int, int>, rounds::LinkState>> batches_;
    std::int64_t due_ns_ = never_ns;
};

}  // namespace mutirao::agent
