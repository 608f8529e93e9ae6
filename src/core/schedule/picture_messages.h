// What a picture says of messages: how far each is from where it all began, and which are drawn.
#pragma once

#include <cstddef>
#include <vector>

#include "core/schedule/predictor.h"

namespace mutirao {

/// Per message: 1 if its sender had received nothing when it sent, else one more than the most
/// hops of what it had received. `messages` is in order of arrival.
std::vector<int> hops_of(const std::vector<TimedMessage>& messages, std::size_t rank_count);

/// All messages, or the first and the last between every two ranks, or an even choice of those.
std::vector<std::size_t> worth_drawing(const std::vector<TimedMessage>& messages);

}  // namespace mutirao
