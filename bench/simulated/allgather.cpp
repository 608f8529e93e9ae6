// The program of `mutirao study allgather`: all ranks simulated by SMPI, SimGrid's MPI. It runs one algorithm
// with each length: the MPI library's own, or one of the catalogue by the executor of preloaded programs. Rank
// 0 prints a line of JSON for each.
//
//   allgather-simulated native|ALGORITHM MODEL.network BYTES...
//
// Simulated time is deterministic, so that one call says all. One algorithm only, since the simulator keeps a
// list of all that a rank has sent, and walks it.
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/algorithms/over_placement.h"
#include "core/selection/ruling.h"
#include "core/text/json.h"
#include "mpi/executor/execution.h"
#include "tool/network_file.h"

namespace mutirao::simulated {
namespace {

constexpr int tag = 1;
constexpr double seconds_until_begin = 0.001;

std::byte expected(int rank, std::size_t offset) {
    // Odd factors, so that neither a rank nor an offset that is off by a power of two looks right.
    return static_cast<std::byte>((static_cast<std::size_t>(rank) * 131 + offset * 7 + (offset >> 8) * 13) % 251);
}

/// The memory of one rank's calls with blocks of one length.
class Blocks {
  public:
    /// Outputs of all ranks that are longer than this together are one memory, since they end up alike: a
    /// machine has no room for 128 times 64 MiB. Then only the last byte written counts.
    static constexpr std::size_t most_outputs_bytes = std::size_t{1} << 30;

    Blocks(int rank, int ranks, std::size_t block_bytes) : rank_(rank), ranks_(ranks), input_(block_bytes) {
        const std::size_t output_bytes = block_bytes * static_cast<std::size_t>(ranks);
        shared_ = output_bytes * static_cast<std::size_t>(ranks) > most_outputs_bytes;
        for (std::size_t i = 0; i < block_bytes; ++i) input_[i] = expected(rank, i);
        if (owner()) output_ = new std::byte[output_bytes];
        if (shared_) MPI_Bcast(&output_, sizeof output_, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    ~Blocks() {
        if (owner()) delete[] output_;
    }
    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;

    std::byte* input() { return input_.data(); }
    std::byte* output() { return output_; }
    /// Forgets what the last call wrote.
    void clear() {
        if (owner()) std::memset(output_, 255, input_.size() * static_cast<std::size_t>(ranks_));
    }
    /// Every byte of every rank's block.
    bool right() const {
        const std::byte* next = output_;
        for (int rank = 0; owner() && rank < ranks_; ++rank) {
            for (std::size_t i = 0; i < input_.size(); ++i) {
                if (*next++ != expected(rank, i)) return false;
            }
        }
        return true;
    }

  private:
    bool owner() const { return !shared_ || rank_ == 0; }

    int rank_, ranks_;
    bool shared_ = false;
    std::vector<std::byte> input_;
    std::byte* output_ = nullptr;
};

/// All ranks go on at the same simulated moment, which is returned, or less than a microsecond before it.
double begin_together() {
    double ready = MPI_Wtime(), begin = 0;
    MPI_Allreduce(&ready, &begin, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    begin += seconds_until_begin;
    smpi_usleep(static_cast<useconds_t>((begin - MPI_Wtime()) * 1e6));
    return begin;
}

/// What comes before the dash in the name of a simulated host, which is one core of the real one.
std::string host_of_core(const char* name) {
    const std::string text(name);
    return text.substr(0, text.find('-'));
}

/// The allgather is the MPI library's own, and warms up.
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

    void run(const Candidate& candidate, std::size_t length_bytes) {
        shape_.collective = Collective::allgather;
        shape_.length_bytes = length_bytes;
        Blocks blocks(rank_, ranks(), length_bytes);
        if (candidate.native()) {
            measure(blocks, [&] { call_native(blocks); });
        } else if (const auto ruling =
                       ruling_for(candidate, shape_, network_->topology(), network_->placement())) {
            run_ruled(*ruling, blocks);
        }
    }

  private:
    int ranks() const { return network_->rank_count(); }

    void call_native(Blocks& blocks) const {
        const auto count = static_cast<int>(shape_.length_bytes);
        MPI_Allgather(blocks.input(), count, MPI_BYTE, blocks.output(), count, MPI_BYTE, MPI_COMM_WORLD);
    }

    void run_ruled(const Ruling& ruling, Blocks& blocks) const {
        const Composer composer(ruling.candidate, shape_, network_->placement(), ruling.tree_or_null());
        const mpi::Plan plan(composer.part_of(rank_, shape_), network_->between_hosts().transport, members_);
        const mpi::Operation::Surroundings surroundings{.twin = MPI_COMM_WORLD};
        mpi::Operation operation;
        measure(blocks, [&] {
            mpi::Memory& memory = operation.memory(MPI_COMM_WORLD);
            memory.read(mpi::plain_bytes(blocks.input(), shape_.length_bytes));
            memory.write(mpi::plain_bytes(blocks.output(),
                                          shape_.length_bytes * static_cast<std::size_t>(ranks())));
            if (operation.run(plan, tag, surroundings) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
        });
    }

    /// Runs `call` on all ranks from the same simulated moment on, compares what it brought, and tells when each rank
    /// was done.
    template <class Call>
    void measure(Blocks& blocks, const Call& call) const {
        blocks.clear();
        const double begin = begin_together();
        call();
        const double took_us = (MPI_Wtime() - begin) * 1e6;
        MPI_Barrier(MPI_COMM_WORLD);  // outputs that are shared are complete
        const int right = blocks.right() ? 1 : 0;
        int all_right = 0;
        MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        std::vector<double> rank_us(static_cast<std::size_t>(ranks()));
        MPI_Gather(&took_us, 1, MPI_DOUBLE, rank_us.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank_ != 0) return;
        JsonWriter json;
        json.begin_object().member("bytes", shape_.length_bytes).member("right", all_right == 1);
        std::printf("%s\n", json.member("rank_us", rank_us).end_object().take().c_str());
        std::fflush(stdout);
    }

    int rank_;
    std::shared_ptr<const RankNetwork> network_;
    mpi::Members members_;
    CallShape shape_;
};

int run(const std::vector<std::string>& words) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const ParsedCandidate parsed = parse_candidate(Collective::allgather, words.at(1));
    tool::NetworkFile model;
    try {
        if (!parsed.candidate) throw tool::UsageError(parsed.error);
        model = tool::read_network_file(words.at(2));
    } catch (const tool::UsageError& error) {
        if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    Bench bench(std::move(model), rank, ranks);
    for (std::size_t i = 3; i < words.size(); ++i) bench.run(*parsed.candidate, std::stoul(words[i]));
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
