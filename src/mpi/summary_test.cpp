#include "mpi/summary.h"

#include <gtest/gtest.h>

namespace mutirao::mpi {
namespace {

Candidate arm(std::string_view name) { return {find_algorithm(Collective::allreduce, name), {}}; }

RulingRecord ruling(std::string chosen, std::uint64_t calls) {
    RulingRecord made;
    made.chosen = std::move(chosen);
    made.calls = calls;
    made.considered = {{arm("ring"), 3000}, {arm("native"), 4000}};
    return made;
}

RulingRecord measured_ruling(std::string chosen, std::uint64_t calls) {
    RulingRecord made = ruling(std::move(chosen), calls);
    made.measured = {{arm("ring"), {1000, 1500, 1600}, 9}, {arm("native"), {2400, 2500, 2600}, 9}};
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
    return summary(sums, 3.25);
}

TEST(Summary, SaysWhatRanWhatItSavedAndWhatItCost) {
    Record record;
    fill(record, {measured_ruling("ring", 100)});
    record.adaptation.early_waited_ms = 2;
    EXPECT_EQ(line_of(record),
              "mutirao: 100 of 120 collective calls ran by its algorithms: 150.0 ms a rank instead of "
              "250.0 ms by the MPI library's own (measured), 100.0 ms saved; its start took 3.25 ms, and "
              "calls waited 2.00 ms for it\n");
}

TEST(Summary, CountsTrialsApartAndSaysWhatIsPredicted) {
    Record record;
    fill(record, {ruling("ring | native", 7), ruling("ring", 50)});
    EXPECT_EQ(line_of(record),
              "mutirao: 57 of 120 collective calls ran by its algorithms, 7 of them on trial; the others took "
              "150.0 ms a rank instead of 200.0 ms by the MPI library's own (predicted), 50.0 ms saved; its start "
              "took 3.25 ms\n");
}

TEST(Summary, SaysLostAsPlainlyAsSaved) {
    Record record;
    RulingRecord slow = measured_ruling("ring", 10);
    slow.measured[0].time_us.median = 3500;
    fill(record, {slow});
    EXPECT_NE(line_of(record).find("(measured), 10.0 ms lost;"), std::string::npos) << line_of(record);
}

TEST(Summary, DoesNotGuess) {
    Record record;
    RulingRecord forced = ruling("ring", 100);
    forced.considered.clear();
    fill(record, {forced});
    EXPECT_EQ(line_of(record),
              "mutirao: 100 of 120 collective calls ran by its algorithms: what the MPI library's own would "
              "have taken is not known; its start took 3.25 ms\n");
}

TEST(Summary, SaysWhyTheMpiLibraryTookThem) {
    Record won;
    fill(won, {ruling("native | ring", 9), measured_ruling("native", 0)}, 1);
    EXPECT_EQ(line_of(won),
              "mutirao: 111 of 120 collective calls ran natively, by the MPI library: on one host, native "
              "measured fastest; the other 9 tried out algorithms of mutirao's; its start took 3.25 ms\n");
    Record early;
    fill(early, {});
    early.topology = nullptr;
    EXPECT_EQ(line_of(early),
              "mutirao: all 120 collective calls ran natively, by the MPI library: the program ended before "
              "the network was known; its start took 3.25 ms\n");
    Record untried;
    fill(untried, {}, 1);
    untried.classes.begin()->second.native_choice = ruling("native", 0);
    EXPECT_NE(line_of(untried).find(": the program ended before other algorithms had been tried out;"),
              std::string::npos)
        << line_of(untried);
    Record alone;
    alone.native = true;
    alone.reason = "one rank";
    EXPECT_EQ(line_of(alone),
              "mutirao: all collective calls ran natively, by the MPI library: one rank; its start took "
              "3.25 ms\n");
    EXPECT_EQ(summary(Sums{}, 3.25),
              "mutirao: the program made no collective call that mutirao handles; its start took 3.25 ms\n");
}

TEST(Summary, RemembersWhatForgottenRulingsRan) {
    Record record;
    fill(record, std::vector<RulingRecord>(40, measured_ruling("ring", 3)));
    const ClassRecord& of_class = record.classes.begin()->second;
    EXPECT_EQ(of_class.forgotten_rulings, 24u);
    EXPECT_EQ(of_class.forgotten.calls, 72u);
    EXPECT_NE(line_of(record).find("120 of 120 collective calls ran by its algorithms: 180.0 ms a rank instead "
                                   "of 300.0 ms"),
              std::string::npos)
        << line_of(record);
}

}  // namespace
}  // namespace mutirao::mpi
