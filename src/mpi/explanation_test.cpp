#include "mpi/explanation.h"

#include <gtest/gtest.h>

namespace mutirao::mpi {
namespace {

Candidate candidate(Collective collective, std::string_view name) {
    return {find_algorithm(collective, name), {}};
}

void fill(Record& record) {
    record.name = "MPI_COMM_WORLD";
    record.ranks = 4;
    record.hosts = 2;
    record.ruled = true;
    record.calls = 120;
    record.reason = "network measured";
    const ShapeClass shapes{Collective::allgather, 0, 13};
    ClassRecord& of_class = record.classes[shapes];
    of_class.shapes = shapes;
    of_class.length_bytes = 4096;
    of_class.native_calls = 20;
    RulingRecord ruling;
    ruling.first_call = 20;
    ruling.calls = 100;
    ruling.chosen = "ring";
    ruling.reason = "measured";
    ruling.considered = {{candidate(Collective::allgather, "ring"), 1500},
                         {candidate(Collective::allgather, "native"), 2500}};
    ruling.measured = {{candidate(Collective::allgather, "ring"), {1400, 1600, 1700}, 9}};
    ruling.bound_us = 1200;
    add_ruling(of_class, ruling);
    of_class.account = Account{160'000, 100'000, 4000, 2000, 0};
}

TEST(Explanation, SaysWhatRanWhatItTookAndWhy) {
    Record record;
    fill(record);
    EXPECT_EQ(explanation(record),
              "MPI_COMM_WORLD: 4 ranks on 2 hosts, 120 calls; network measured\n"
              "  calls of            native  mutirao  predicted  measured                         "
              "native takes         bound     saved on a rank\n"
              "  allgather of 4 KiB  20      100      1.500 ms   1.600 ms (1.400 ms to 1.700 ms)  "
              "2.500 ms, predicted  1.200 ms  98.0 ms ± 4.00 ms\n"
              "    ring: measured\n");
}

TEST(Explanation, TellsEveryChange) {
    Record record;
    fill(record);
    const ShapeClass shapes = record.classes.begin()->first;
    log_change(record, {shapes, 20, "native", "ring", ""});
    log_change(record, {shapes, 40, "ring", "bruck", "", 4});
    log_change(record, {shapes, 60, "ring", "ring", "", 0, true});
    const std::string text = explanation(record);
    EXPECT_NE(text.find("  from call 21 on, allgather of 4 KiB: native -> ring\n"
                        "  from call 41 on, allgather of 4 KiB: ring -> bruck for 4 calls\n"
                        "  from call 61 on, allgather of 4 KiB: ring -> the same over another tree\n"),
              std::string::npos)
        << text;
}

TEST(Explanation, FitsAScreenWhateverThereIs) {
    Record record;
    fill(record);
    for (int length_class = 20; length_class < 200; ++length_class) {
        const ShapeClass shapes{Collective::barrier, 0, length_class};
        record.classes[shapes].shapes = shapes;
        for (std::uint64_t call = 0; call < 50; ++call) log_change(record, {shapes, call, "a", "b", ""});
    }
    const std::string text = explanation(record);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 80);
    EXPECT_NE(text.find("161 more kinds of calls"), std::string::npos);
    EXPECT_NE(text.find("8980 earlier changes"), std::string::npos);
}

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
