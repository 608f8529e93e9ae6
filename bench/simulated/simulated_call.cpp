#include "simulated_call.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace mutirao::simulated {
namespace {

constexpr double seconds_until_begin = 0.001;

std::byte expected(int rank, std::size_t offset) {
    // Odd factors, so that neither a rank nor an offset that is off by a power of two looks right.
    return static_cast<std::byte>((static_cast<std::size_t>(rank) * 131 + offset * 7 + (offset >> 8) * 13) % 251);
}

/// All ranks go on at the same simulated moment, which is returned, or less than a microsecond before it.
double begin_together() {
    double ready = MPI_Wtime(), begin = 0;
    MPI_Allreduce(&ready, &begin, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    begin += seconds_until_begin;
    smpi_usleep(static_cast<useconds_t>((begin - MPI_Wtime()) * 1e6));
    return begin;
}

}  // namespace

Blocks::Blocks(int rank, int ranks, std::size_t block_bytes)
    : rank_(rank), ranks_(ranks), input_(block_bytes) {
    const std::size_t output_bytes = block_bytes * static_cast<std::size_t>(ranks);
    shared_ = output_bytes * static_cast<std::size_t>(ranks) > most_outputs_bytes;
    for (std::size_t i = 0; i < block_bytes; ++i) input_[i] = expected(rank, i);
    if (!shared_ || rank == 0) output_ = new std::byte[output_bytes];
    if (shared_) MPI_Bcast(&output_, sizeof output_, MPI_BYTE, 0, MPI_COMM_WORLD);
}

Blocks::~Blocks() {
    if (!shared_ || rank_ == 0) delete[] output_;
}

void Blocks::clear() {
    if (shared_ && rank_ != 0) return;
    std::memset(output_, 255, block_bytes() * static_cast<std::size_t>(ranks_));
}

bool Blocks::right() const {
    if (shared_ && rank_ != 0) return true;
    const std::byte* next = output_;
    for (int rank = 0; rank < ranks_; ++rank) {
        for (std::size_t i = 0; i < block_bytes(); ++i) {
            if (*next++ != expected(rank, i)) return false;
        }
    }
    return true;
}

Timed timed(Blocks& blocks, const std::function<void()>& call) {
    blocks.clear();
    const double begin = begin_together();
    call();
    const double took_us = (MPI_Wtime() - begin) * 1e6;
    MPI_Barrier(MPI_COMM_WORLD);  // outputs that are shared are complete

    Timed result;
    const int right = blocks.right() ? 1 : 0;
    int all_right = 0, ranks = 0, rank = 0;
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    result.right = all_right == 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    result.rank_us.resize(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
    MPI_Gather(&took_us, 1, MPI_DOUBLE, result.rank_us.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return result;
}

}  // namespace mutirao::simulated
