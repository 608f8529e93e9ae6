// What every wire format of this folder promises. Only tests include this.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace mutirao::test {

/// One encoding per message: of `rounds` encodings with up to three bits flipped, whatever decode()
/// accepts encodes to the very bytes that came; at least `least_accepted` are.
template <class Messages, class Decode>
void expect_only_own_encodings(const Messages& messages, Decode decode, int rounds,
                               int least_accepted) {
    std::mt19937 random(7);
    int accepted = 0;
    for (int round = 0; round < rounds; ++round) {
        auto bytes = encode(messages[random() % messages.size()]);
        for (std::uint32_t flips = random() % 4; flips > 0; --flips)
            bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << random() % 8);
        const auto decoded = decode(std::span<const std::byte>(bytes));
        if (!decoded) continue;
        ++accepted;
        EXPECT_TRUE(encode(*decoded) == bytes);
    }
    EXPECT_GT(accepted, least_accepted);
}

}  // namespace mutirao::test
