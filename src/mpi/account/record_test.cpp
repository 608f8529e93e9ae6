#include "mpi/account/record.h"

#include <gtest/gtest.h>

#include <iterator>

namespace mutirao::mpi {
namespace {

TEST(Record, RemembersTheFirstRulingAndTheLatest) {
    ClassRecord of_class;
    for (std::uint64_t call = 0; call < 40; ++call) {
        RulingRecord ruling;
        ruling.first_call = call;
        ruling.tree = {-1, 0, 0};
        add_ruling(of_class, ruling);
    }
    EXPECT_EQ(of_class.rulings.size() + of_class.forgotten_rulings, 40u);
    EXPECT_EQ(of_class.rulings.front().first_call, 0u);
    EXPECT_EQ(std::next(of_class.rulings.begin())->first_call, 25u);
    EXPECT_EQ(of_class.rulings.back().first_call, 39u);
    EXPECT_TRUE(of_class.rulings.front().tree.empty());
    EXPECT_FALSE(of_class.rulings.back().tree.empty());
}

TEST(Record, KeepsTheBeginAndTheEndOfALongLog) {
    Record record;
    for (std::uint64_t call = 0; call < 10000; ++call) log_change(record, {{}, call, "a", "b", ""});
    EXPECT_EQ(record.changes.size() + record.forgotten_changes, 10000u);
    EXPECT_EQ(record.changes[2047].call, 2047u);
    EXPECT_EQ(record.changes.back().call, 9999u);
}

}  // namespace
}  // namespace mutirao::mpi
