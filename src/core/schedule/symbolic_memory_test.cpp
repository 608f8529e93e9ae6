// Stretches against plain arrays with one entry per byte.
#include "core/schedule/symbolic_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

namespace mutirao {
namespace {

constexpr std::size_t size_bytes = 40;
/// What a byte holds: (expression, source offset); expression -1 where undefined.
using Byte = std::pair<Expressions::Id, std::size_t>;

std::size_t stretch_count(const std::array<Byte, size_bytes>& bytes) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size_bytes; ++i) {
        const bool continues = i > 0 && bytes[i - 1].first == bytes[i].first &&
                               bytes[i - 1].second + 1 == bytes[i].second;
        count += bytes[i].first >= 0 && !continues;
    }
    return count;
}

// Catches parts beside a write that are lost or cut wrongly, and gaps that reads step over.
TEST(SymbolicMemory, AgreesWithOneEntryPerByte) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        SymbolicMemory memory;
        std::array<Byte, size_bytes> expected;
        expected.fill({-1, 0});
        for (int turn = 0; turn < 60; ++turn) {
            const std::size_t begin = random() % size_bytes;
            const std::size_t end = begin + random() % (size_bytes - begin + 1);
            const std::size_t middle = begin + random() % (end - begin + 1);
            std::vector<Stretch> stretches;
            for (const auto& [from, to] : {std::pair(begin, middle), std::pair(middle, end)}) {
                const auto expression = static_cast<Expressions::Id>(random() % 2);
                const std::size_t shift = random() % 2;
                if (from < to) stretches.push_back({from, to, expression, shift});
                for (std::size_t i = from; i < to; ++i) expected[i] = {expression, i + shift};
            }
            memory.write(begin, end, stretches);

            const std::size_t first = random() % size_bytes;
            const std::size_t last = first + random() % (size_bytes - first + 1);
            std::vector<Stretch> found;
            const auto undefined = memory.read(first, last, found);
            const auto hole = std::find_if(expected.begin() + first, expected.begin() + last,
                                           [](const Byte& byte) { return byte.first < 0; });
            const auto end_defined = static_cast<std::size_t>(hole - expected.begin());
            ASSERT_EQ(undefined.value_or(last), end_defined) << "seed " << seed;
            std::size_t at = first;
            for (const Stretch& stretch : found) {
                ASSERT_EQ(stretch.begin_bytes, at);
                for (; at < stretch.end_bytes; ++at)
                    ASSERT_EQ(Byte(stretch.expression, at + stretch.shift_bytes), expected[at])
                        << "seed " << seed;
            }
            ASSERT_EQ(at, end_defined);
        }
        std::vector<Stretch> all;
        for (std::size_t i = 0; i < size_bytes;) {
            std::vector<Stretch> rest;
            const auto undefined = memory.read(i, size_bytes, rest);
            all.insert(all.end(), rest.begin(), rest.end());
            i = undefined.value_or(size_bytes) + 1;
        }
        EXPECT_EQ(all.size(), stretch_count(expected)) << "neighbours not joined, seed " << seed;
    }
}

}  // namespace
}  // namespace mutirao
