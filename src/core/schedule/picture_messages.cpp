#include "core/schedule/picture_messages.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace mutirao {
namespace {

constexpr std::size_t most_messages = 2000;

}  // namespace

std::vector<int> hops_of(const std::vector<TimedMessage>& messages, std::size_t rank_count) {
    std::vector<std::size_t> by_start(messages.size());
    std::iota(by_start.begin(), by_start.end(), std::size_t{0});
    std::stable_sort(by_start.begin(), by_start.end(), [&](std::size_t left, std::size_t right) {
        return messages[left].start_us < messages[right].start_us;
    });
    // `messages` is in order of arrival, so one pass over both orders meets all that arrived first.
    std::vector<int> hops(messages.size(), 1);
    std::vector<int> rank_hops(rank_count, 0);
    std::size_t arrived = 0;
    for (const std::size_t i : by_start) {
        for (; arrived < messages.size() && messages[arrived].arrive_us <= messages[i].start_us;
             ++arrived) {
            int& most = rank_hops[static_cast<std::size_t>(messages[arrived].to)];
            most = std::max(most, hops[arrived]);
        }
        hops[i] = 1 + rank_hops[static_cast<std::size_t>(messages[i].from)];
    }
    return hops;
}

std::vector<std::size_t> worth_drawing(const std::vector<TimedMessage>& messages) {
    std::vector<std::size_t> chosen(messages.size());
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    if (chosen.size() <= most_messages) return chosen;
    std::map<std::pair<int, int>, std::pair<std::size_t, std::size_t>> ends;
    for (const std::size_t i : chosen)
        ends.try_emplace({messages[i].from, messages[i].to}, i, i).first->second.second = i;
    chosen.clear();
    for (const auto& [pair, first_last] : ends) {
        chosen.push_back(first_last.first);
        if (first_last.second != first_last.first) chosen.push_back(first_last.second);
    }
    std::sort(chosen.begin(), chosen.end());
    const std::size_t stride = (chosen.size() + most_messages - 1) / most_messages;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < chosen.size(); i += stride) chosen[kept++] = chosen[i];
    chosen.resize(kept);
    return chosen;
}

}  // namespace mutirao
