// The plain values that the messages of the tree's protocols are made of.
#pragma once

#include <tuple>

#include "core/text/number_set.h"

namespace mutirao {

/// Small enough to travel in messages.
using HostSet = NumberSet;

/// Hosts are numbered below this, which bounds what a set from elsewhere may claim.
inline constexpr int most_numbered_hosts = 65'536;

/// A message that is kept until its time comes.
template <class Message>
struct Waiting {
    int from = -1;
    Message message;

    bool operator==(const Waiting&) const = default;
    auto parts() const { return std::tie(from, message); }
};

}  // namespace mutirao
