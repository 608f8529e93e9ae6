// Messages about many links, cut into pieces that fit a frame and put together again. With 24 hosts
// there is one piece; with 1000 a version has up to two hundred.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/spanning_tree/rounds_message.h"

namespace mutirao::rounds {

/// 20 bytes each, beside a tree of up to 1023 links: below 60 KB.
inline constexpr std::size_t links_per_message = 2500;

/// A message in pieces; those of kind news stand for themselves.
std::vector<Message> split(const Message& whole);

/// Pieces of one message at a time: a later round's displace what was there.
class Parts {
  public:
    /// The whole message when this was its last missing piece.
    std::optional<Message> add(const Message& part);
    void clear() { pieces_.clear(); }

    bool operator==(const Parts&) const = default;

  private:
    std::vector<std::optional<Message>> pieces_;
    RoundId id_;
};

}  // namespace mutirao::rounds
