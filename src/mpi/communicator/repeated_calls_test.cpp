#include "mpi/communicator/repeated_calls.h"

#include <gtest/gtest.h>

namespace mutirao::mpi {
namespace {

const int some_function = 0, another_function = 0;

CallWords call_of(std::uintptr_t count, std::uint64_t freed_types = 0) {
    return {&some_function, {count, 7, 3, 1}, freed_types};
}

TEST(RepeatedCalls, KnowsACallByAllThatTheProgramPassed) {
    RepeatedCalls repeated;
    std::uint64_t native_calls = 0;
    EXPECT_EQ(repeated.find(call_of(8)), nullptr);
    repeated.remember(call_of(8), {&native_calls, 3});
    ASSERT_NE(repeated.find(call_of(8)), nullptr);
    EXPECT_EQ(repeated.find(call_of(8))->native_calls, &native_calls);
    EXPECT_EQ(repeated.find(call_of(8))->units, 3);

    CallWords other = call_of(8);
    other.function = &another_function;
    EXPECT_EQ(repeated.find(other), nullptr);
    for (std::size_t word = 0; word < CallWords::most_words; ++word) {
        other = call_of(8);
        other.words[word] ^= std::uintptr_t{1} << 40;
        EXPECT_EQ(repeated.find(other), nullptr) << word;
    }
    EXPECT_EQ(repeated.find(call_of(8, 1)), nullptr) << "a handle may be another type's by now";
}

TEST(RepeatedCalls, ForgetsAllWhereRulingsChange) {
    RepeatedCalls repeated;
    std::uint64_t native_calls = 0;
    for (std::uintptr_t count = 1; count <= 8; ++count) repeated.remember(call_of(count), {&native_calls});
    repeated.forget();
    for (std::uintptr_t count = 1; count <= 8; ++count) {
        EXPECT_EQ(repeated.find(call_of(count)), nullptr);
    }
}

// Where two share a place the later one has it, and the earlier one is not taken for it.
TEST(RepeatedCalls, EachIsCountedAsItself) {
    RepeatedCalls repeated;
    std::array<std::uint64_t, 100> native_calls{};
    for (std::size_t i = 0; i < native_calls.size(); ++i) {
        repeated.remember(call_of(i), {&native_calls[i]});
        EXPECT_EQ(repeated.find(call_of(i))->native_calls, &native_calls[i]);
        for (std::size_t earlier = 0; earlier < i; ++earlier) {
            const RepeatedCalls::Known* const found = repeated.find(call_of(earlier));
            EXPECT_TRUE(found == nullptr || found->native_calls == &native_calls[earlier]);
        }
    }
}

}  // namespace
}  // namespace mutirao::mpi
