// The catalogue's rows that are made of the MPI library's own collectives: a library that chooses badly for one
// of them often has others that do the same work sooner. They are the mock-ups of PGMPITuneLib (Hunold and
// Carpen-Amarie, HPC Asia 2018), but for those with a reduce_scatter_block: MPICH 5.0's gives wrong results for elements
// with holes. What runs a row stands in src/mpi/executor/native_compositions.cpp.
#include <string_view>
#include <utility>
#include <vector>

#include "core/algorithms/algorithm.h"

namespace mutirao {
namespace {

/// A shorter message is not worth cutting into blocks.
constexpr std::size_t least_bytes_of_blocks = 4096;

bool in_blocks(Collective collective) { return row_of(collective).in_blocks != InBlocks::none; }

Algorithm made_of(std::vector<Collective> calls, Collective collective, std::string_view name,
                  std::string_view summary) {
    const bool cut = in_blocks(calls.front()) && !in_blocks(collective);
    return {.collective = collective,
            .name = name,
            .summary = summary,
            .source = "Hunold and Carpen-Amarie 2018, doi:10.1145/3149457.3149461",
            .least_bytes = cut ? least_bytes_of_blocks : 0,
            .keeps_order = row_of(collective).reduces,
            .calls = std::move(calls)};
}

}  // namespace

std::vector<Algorithm> native_composition_rows() {
    using enum Collective;
    return {
        made_of({scatter, allgather}, broadcast, "native_scatter_allgather",
                "the MPI library's scatter and allgather of a block for every rank"),
        made_of({allgather}, gather, "native_allgather",
                "the MPI library's allgather, of which the root alone keeps anything"),
        made_of({broadcast}, scatter, "native_broadcast",
                "the MPI library's broadcast of all blocks, of which each rank keeps its own"),
        made_of({gather, broadcast}, allgather, "native_gather_broadcast",
                "the MPI library's gather to the first rank and broadcast from there"),
        made_of({allreduce}, reduce, "native_allreduce",
                "the MPI library's allreduce, of which the root alone keeps the result"),
        made_of({reduce, broadcast}, allreduce, "native_reduce_broadcast",
                "the MPI library's reduce to the first rank and broadcast from there"),
        made_of({allreduce}, reduce_scatter_block, "native_allreduce",
                "the MPI library's allreduce of all blocks, of which each rank keeps its own"),
        made_of({reduce, scatter}, reduce_scatter_block, "native_reduce_scatter",
                "the MPI library's reduce to the first rank and scatter from there"),
    };
}

}  // namespace mutirao
