#include "mpi/executor/arrival_rate.h"

#include <gtest/gtest.h>

namespace mutirao::mpi {
namespace {

constexpr std::size_t piece_bytes = 100'000;

TEST(ArrivalRate, CountsWhatCameAfterALookInVain) {
    ArrivalRate rate(7);
    rate.looked_in_vain(1000);
    rate.looked_in_vain(2000);
    rate.arrived(7, piece_bytes, 3000);
    EXPECT_FALSE(rate.waits());
    rate.arrived(5, 10 * piece_bytes, 4000);  // from another
    rate.arrived(7, piece_bytes, 5000);
    rate.arrived(7, piece_bytes, 6000);
    ASSERT_TRUE(rate.seen());
    EXPECT_EQ(rate.seen()->rank, 7);
    EXPECT_DOUBLE_EQ(rate.seen()->bytes_per_us, 2.0 * piece_bytes / 4000);
}

// Fault: taking the speed at which waiting data are copied for the link's.
TEST(ArrivalRate, SaysNothingOfDataThatWereThereAlready) {
    ArrivalRate rate(7);
    for (int piece = 0; piece < 5; ++piece) rate.arrived(7, piece_bytes, 3000 + 500 * piece);
    EXPECT_FALSE(rate.seen());
}

TEST(ArrivalRate, SaysNothingOfLittleOrOfAMoment) {
    ArrivalRate little(7);
    little.looked_in_vain(0);
    little.arrived(7, piece_bytes, 1000);
    little.arrived(7, piece_bytes, 9000);
    EXPECT_FALSE(little.seen());
    ArrivalRate soon(7);
    soon.looked_in_vain(0);
    for (int piece = 0; piece < 5; ++piece) soon.arrived(7, piece_bytes, 100 + piece);
    EXPECT_FALSE(soon.seen());
}

}  // namespace
}  // namespace mutirao::mpi
