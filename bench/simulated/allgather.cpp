// The program of `mutirao study allgather`: all ranks simulated by SMPI, SimGrid's MPI. For each length it
// runs the MPI library's own allgather, and if asked all of the catalogue by the executor of preloaded
// programs and the contest by which mutirao chooses; rank 0 prints a line of JSON for each.
//
//   allgather native|catalogue MODEL.network BYTES...
//
// Simulated time is deterministic, so that one call says all, and a contest is told the same time of an arm
// however often it asks. A call of the MPI library's own goes before each length, to warm up.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <string>

#include "core/selection/candidates.h"
#include "core/selection/contest.h"
#include "core/text/json.h"
#include "mpi/executor/execution.h"
#include "simulated_call.h"
#include "tool/network_file.h"

namespace mutirao::simulated {
namespace {

constexpr int tag = 1;

/// What comes before the dash in the name of a simulated host, which is one core of the real one.
std::string host_of_core(const char* name) {
    const std::string text(name);
    return text.substr(0, text.find('-'));
}

Placement placement_of_world(int ranks) {
    char name[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    std::vector<char> names(static_cast<std::size_t>(ranks) * sizeof name);
    MPI_Allgather(name, sizeof name, MPI_CHAR, names.data(), sizeof name, MPI_CHAR, MPI_COMM_WORLD);
    std::map<std::string, int> numbers;
    std::vector<int> host_of_rank;
    for (std::size_t at = 0; at < names.size(); at += sizeof name) {
        const int next = static_cast<int>(numbers.size());
        host_of_rank.push_back(numbers.try_emplace(host_of_core(&names[at]), next).first->second);
    }
    return Placement(std::move(host_of_rank));
}

class Bench {
  public:
    Bench(tool::NetworkFile model, int rank, int ranks)
        : rank_(rank),
          network_(std::make_shared<const RankNetwork>(tool::topology_of(model),
                                                       placement_of_world(ranks), model.memory)) {
        members_.my_rank = rank;
        members_.twin_rank_of.resize(static_cast<std::size_t>(ranks));
        std::iota(members_.twin_rank_of.begin(), members_.twin_rank_of.end(), 0);
        members_.placement = std::make_shared<const Placement>(network_->placement());
    }

    void run(std::size_t length_bytes, bool whole_catalogue) {
        shape_.collective = Collective::allgather;
        shape_.length_bytes = length_bytes;
        times_.clear();
        Blocks blocks(rank_, ranks(), length_bytes);
        call_native(blocks);
        take(native_candidate(Collective::allgather), timed(blocks, [&] { call_native(blocks); }));
        if (!whole_catalogue) return;
        for (const Candidate& candidate : candidates_in_one_piece(Collective::allgather)) {
            if (!candidate.native() && !like_another(candidate)) run_candidate(candidate, blocks);
        }
        if (rank_ == 0) choose();
    }

  private:
    int ranks() const { return network_->rank_count(); }

    /// Between two hosts all trees are the same.
    static bool like_another(const Candidate& candidate) {
        return candidate.algorithm->needs_tree() &&
               candidate.parameters.tree != candidate.algorithm->trees.front();
    }

    void call_native(Blocks& blocks) const {
        const auto count = static_cast<int>(shape_.length_bytes);
        MPI_Allgather(blocks.input(), count, MPI_BYTE, blocks.output(), count, MPI_BYTE, MPI_COMM_WORLD);
    }

    void run_candidate(const Candidate& candidate, Blocks& blocks) {
        const auto ruling =
            ruling_for(candidate, shape_, network_->topology(), network_->placement());
        if (!ruling) return;
        mpi::Execution execution(std::make_shared<const mpi::Plan>(
            *build_schedule(*ruling, shape_, network_->placement(), rank_),
            network_->between_hosts().transport, members_));
        const mpi::Execution::Surroundings surroundings{.twin = MPI_COMM_WORLD};
        take(candidate, timed(blocks, [&] {
            mpi::Memory memory(MPI_COMM_WORLD);
            memory.read(mpi::plain_bytes(blocks.input(), shape_.length_bytes));
            memory.write(mpi::plain_bytes(blocks.output(),
                                          shape_.length_bytes * static_cast<std::size_t>(ranks())));
            if (execution.run(memory, tag, surroundings) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
        }));
    }

    void take(const Candidate& candidate, Timed timed) {
        if (rank_ != 0) return;
        JsonWriter json;
        json.begin_object().member("bytes", shape_.length_bytes).member("candidate", to_string(candidate));
        json.member("us", *std::max_element(timed.rank_us.begin(), timed.rank_us.end()));
        print(json.member("right", timed.right).end_object());
        times_.emplace(to_string(candidate), std::move(timed.rank_us));
    }

    /// As in a program, whose ranks report what their calls took.
    void choose() const {
        const Decision decision = decide(shape_, network_, Settings{});
        auto contest = contest_for(shape_, decision, *network_, ranks(), false);
        std::uint64_t window = 0;
        while (contest && !contest->settled()) {
            const Ruling ruling = contest->ruling();
            for (int rank = 0; rank < ranks(); ++rank) {
                TrialReport report{ruling.shapes, ruling.trial, window, {}};
                for (int arm = 0; arm < ruling.arm_count(); ++arm) {
                    report.times_us.push_back(times_.at(to_string(ruling.arm(arm).candidate))
                                                  [static_cast<std::size_t>(rank)]);
                }
                contest->hear(report);
            }
            ++window;
        }
        JsonWriter json;
        json.begin_object().member("bytes", shape_.length_bytes);
        json.member("predicted_choice", decision.considered.empty() ? "" : to_string(decision.considered.front().candidate));
        json.member("chosen", to_string(contest ? contest->chosen() : decision.chosen));
        print(json.member("reason", contest ? contest->reason() : decision.reason).end_object());
    }

    static void print(JsonWriter& json) {
        std::printf("%s\n", json.take().c_str());
        std::fflush(stdout);
    }

    int rank_;
    std::shared_ptr<const RankNetwork> network_;
    mpi::Members members_;
    CallShape shape_;
    std::map<std::string, std::vector<double>> times_;
};

int run(const std::vector<std::string>& words) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::ifstream input(words.at(2));
    tool::NetworkFile model = tool::read_network(input, words[2]);
    if (!model.error.empty()) {
        if (rank == 0) std::fprintf(stderr, "%s\n", model.error.c_str());
        return 2;
    }
    Bench bench(std::move(model), rank, ranks);
    for (std::size_t i = 3; i < words.size(); ++i)
        bench.run(std::stoul(words[i]), words[1] == "catalogue");
    return 0;
}

}  // namespace
}  // namespace mutirao::simulated

// SMPI looks it up.
[[gnu::visibility("default")]] int main(int argument_count, char** arguments) {
    MPI_Init(&argument_count, &arguments);
    const int result = mutirao::simulated::run({arguments, arguments + argument_count});
    MPI_Finalize();
    return result;
}
