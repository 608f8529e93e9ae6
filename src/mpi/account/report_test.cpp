#include "mpi/account/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "mpi/account/record.h"

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
    for (std::uint64_t call = 0; call < 10000; ++call) log_change(record, {{}, call, "b"});
    EXPECT_EQ(record.changes.size() + record.forgotten_changes, 10000u);
    EXPECT_EQ(record.changes[2047].call, 2047u);
    EXPECT_EQ(record.changes.back().call, 9999u);
}

Candidate arm(std::string_view name) { return {find_algorithm(Collective::allreduce, name), {}}; }

RulingRecord ruling(std::string chosen, std::uint64_t calls) {
    RulingRecord made;
    made.chosen = std::move(chosen);
    made.calls = calls;
    made.considered = {{arm("ring"), 3000}, {arm("native"), 4000}};
    return made;
}

/// Of 120 calls, 20 of them native.
void fill(Record& record, std::vector<RulingRecord> rulings, int hosts = 2) {
    record.ranks = 4;
    record.hosts = hosts;
    record.ruled = true;
    record.calls = 120;
    record.topology = std::make_shared<Topology>();
    ClassRecord& of_class = record.classes[{Collective::allreduce, 0, 13}];
    of_class.native_calls = 120;
    for (RulingRecord& each : rulings) {
        of_class.native_calls -= each.calls;
        add_ruling(of_class, std::move(each));
    }
}

std::string line_of(const Record& record) {
    Sums sums;
    sums.add(record);
    return Total(std::move(sums), 3.25).line();
}

void expect_said(const Record& record, std::string_view words) {
    EXPECT_NE(line_of(record).find(words), std::string::npos) << line_of(record);
}

Account& account_of(Record& record) { return record.classes.begin()->second.account.emplace(); }

// 250 ms natively, less 50 ms for probes, the start and waits.
TEST(Summary, SaysFirstWhatWasWonNetOfWhatItCost) {
    Record record;
    fill(record, {ruling("ring", 100)});
    record.adaptation.early_waited_ms = 6.75;
    account_of(record) = {.took_us = 200'000, .saved_us = 150'000, .error_us = 5000, .probes_us = 40'000};
    EXPECT_EQ(line_of(record),
              "mutirao: collectives 1.50 ± 0.03 times as fast, 100.0 ms saved on each rank (measured, net of what it "
              "cost); 100 of 120 collective calls ran by its algorithms; its start took 3.25 ms, and calls waited "
              "6.75 ms for it\n");
}

TEST(Summary, CountsProbesApart) {
    Record record;
    RulingRecord with_probes = ruling("ring", 50);
    with_probes.probe_calls = 7;
    fill(record, {with_probes});
    account_of(record) = {.took_us = 200'000, .saved_us = 150'000, .error_us = 5000};
    expect_said(record, "57 of 120 collective calls ran by its algorithms, 7 of them on probe;");
}

TEST(Summary, SaysWhatIsKnown) {
    const std::pair<std::optional<Account>, std::string> verdicts[] = {
        {Account{.took_us = 200'000, .saved_us = 1000, .error_us = 500, .probes_us = 17'750},
         "20.0 ms slower on each rank (measured, net of what it cost)"},
        {Account{.took_us = 200'000, .saved_us = 383'250, .error_us = 28'000},
         "collectives 2.9 ± 0.1 times as fast, 380.0 ms saved on each rank (measured, net of what it cost)"},
        {Account{.took_us = 200'000, .saved_us = 3250, .probes_us = -10'000},
         "collectives 1.05 ± 0.01 times as fast, 10.0 ms saved on each rank (measured, net of what it cost)"},
        {Account{.took_us = 200'000, .saved_us = 8000, .error_us = 7000}, "as fast as the MPI library's own"},
        {Account{.took_us = 200'000, .saved_us = 4000}, "as fast as the MPI library's own"},
        {std::nullopt, "whether it saved time is not known: nothing was compared with the MPI library's own"},
        {Account{}, "whether it saved time is not known: nothing was compared with the MPI library's own"},
        {Account{.took_us = 200'000, .saved_us = 43'250, .error_us = 2000, .unknown_calls = 10},
         "collectives 1.20 ± 0.01 times as fast, 40.0 ms saved on each rank (measured, net of what it cost)"},
        {Account{.took_us = 200'000, .saved_us = 150'000, .error_us = 5000, .unknown_calls = 60},
         "whether it saved time is not known: of 60 calls nothing says what the MPI library's own would have taken"}};
    for (const auto& [account, verdict] : verdicts) {
        Record record;
        fill(record, {ruling("ring", 100)});
        record.classes.begin()->second.account = account;
        EXPECT_EQ(line_of(record), "mutirao: " + verdict +
                                       "; 100 of 120 collective calls ran by its algorithms; its start took 3.25 ms\n");
    }
}

// 20 calls that were 1.5 ms shorter, 50 that were 0.4 ms longer, and 16 that were 8.05 ms shorter. Probes took 1.3 ms
// longer, the start 1.75 ms; errors of 2.5 and 3.2 ms that know nothing of each other are 4.061 ms.
TEST(Summary, AddsUpWhatCommunicatorsSaved) {
    Record first, second;
    fill(first, {ruling("ring", 70)});
    fill(second, {ruling("ring", 16)});
    account_of(first) = {.took_us = 191'300, .saved_us = 10'000, .error_us = 2500, .probes_us = 1300};
    account_of(second) = {.took_us = 354'200, .saved_us = 128'800, .error_us = 3200};
    Sums sums;
    sums.add(first);
    sums.add(second);
    const Total total(std::move(sums), 1.75);
    EXPECT_EQ(total.net_us, 10'000 + 128'800 - 1300 - 1750);
    EXPECT_NEAR(total.error_us, 4061, 1);
    EXPECT_EQ(total.faster(), true);
    EXPECT_EQ(total.what_ran, "collectives 1.25 ± 0.01 times as fast, 135.8 ms saved on each rank (measured, net of "
                              "what it cost); 86 of 240 collective calls ran by its algorithms");
}

TEST(Summary, SaysWhyTheMpiLibraryTookThem) {
    Record won;
    RulingRecord native = ruling("native", 0);
    native.probe_calls = 9;
    native.measured = {{arm("ring"), {1000, 1500, 1600}, 9}, {arm("native"), {900, 950, 1000}, 9}};
    fill(won, {native}, 1);
    won.classes.begin()->second.native_calls -= 9;
    account_of(won).probes_us = 4500;
    EXPECT_EQ(line_of(won),
              "mutirao: 111 of 120 collective calls ran natively, by the MPI library: on one host, native "
              "measured fastest; 9 tried out algorithms of mutirao's, which took 4.50 ms longer; its start took "
              "3.25 ms\n");
    Record early;
    fill(early, {});
    early.topology = nullptr;
    EXPECT_EQ(line_of(early),
              "mutirao: all 120 collective calls ran natively, by the MPI library: the program ended before "
              "the network was known; its start took 3.25 ms\n");
    Record untried;
    fill(untried, {}, 1);
    untried.classes.begin()->second.native_choice = ruling("native", 0);
    untried.classes.begin()->second.native_choice->settled = false;
    expect_said(untried, ": the program ended before other algorithms had been tried out;");
    Record alone;
    alone.native = true;
    alone.reason = "one rank";
    EXPECT_EQ(line_of(alone),
              "mutirao: all collective calls ran natively, by the MPI library: one rank; its start took "
              "3.25 ms\n");
    EXPECT_EQ(Total(Sums{}, 3.25).line(),
              "mutirao: the program made no collective call that mutirao handles; its start took 3.25 ms\n");
}

TEST(Summary, RemembersWhatForgottenRulingsRan) {
    Record record;
    fill(record, std::vector<RulingRecord>(40, ruling("ring", 3)));
    EXPECT_EQ(record.classes.begin()->second.forgotten_rulings, 24u);
    EXPECT_EQ(record.classes.begin()->second.forgotten_calls, 72u);
    expect_said(record, "120 of 120 collective calls ran by its algorithms");
}

TEST(Explanation, HasALineForEachKindOfCall) {
    Record record;
    fill(record, {ruling("ring", 100)});
    record.name = "MPI_COMM_WORLD";
    record.reason = "network measured";
    ClassRecord& of_class = record.classes.begin()->second;
    of_class.length_bytes = 4096;
    of_class.rulings.back().reason = "measured";
    EXPECT_EQ(explanation(record),
              "  MPI_COMM_WORLD (4 ranks) on 2 hosts, 120 calls; network measured\n"
              "    allreduce of 4 KiB: 20 by the MPI library, 100 by mutirao; ring (measured)\n");
}

TEST(Explanation, FitsAScreenWhateverThereIs) {
    Record record;
    fill(record, {});
    for (int length_class = 20; length_class < 200; ++length_class) record.classes[{Collective::barrier, 0, length_class}];
    const std::string text = explanation(record);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24);
    EXPECT_NE(text.find("161 more kinds of calls"), std::string::npos);
}

}  // namespace
}  // namespace mutirao::mpi
