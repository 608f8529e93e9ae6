#include "mpi/job/introductions.h"

#include <algorithm>
#include <cmath>

namespace mutirao::mpi {
namespace {

/// So many ranks send to each other at once.
constexpr int most_in_one_row = 64;

int width_for(int rank_count) {
    return rank_count <= most_in_one_row
               ? rank_count
               : static_cast<int>(std::ceil(std::sqrt(static_cast<double>(rank_count))));
}

}  // namespace

IntroductionGrid::IntroductionGrid(int rank_count, int my_rank)
    : rank_count_(rank_count),
      my_rank_(my_rank),
      width_(width_for(rank_count)),
      rows_((rank_count + width_ - 1) / width_),
      my_row_(my_rank / width_),
      my_column_(my_rank % width_) {}

int IntroductionGrid::row_length(int row) const {
    return std::min(width_, rank_count_ - row * width_);
}

// From the next one on, so that not all send to the same one at once.
std::vector<int> IntroductionGrid::others_in_row() const {
    const int length = row_length(my_row_);
    std::vector<int> ranks;
    for (int step = 1; step < length; ++step) {
        ranks.push_back(my_row_ * width_ + (my_column_ + step) % length);
    }
    return ranks;
}

std::vector<int> IntroductionGrid::other_rows() const {
    std::vector<int> rows;
    for (int step = 1; step < rows_; ++step) {
        rows.push_back((my_row_ + step) % rows_);
    }
    return rows;
}

std::vector<IntroductionGrid::Transfer> IntroductionGrid::receives(int round) const {
    std::vector<Transfer> all;
    if (round == 0) {
        for (const int peer : others_in_row()) {
            all.push_back({peer, peer, 1});
        }
        return all;
    }
    for (const int row : other_rows()) {
        all.push_back({rank_for(row, my_column_), row * width_, row_length(row)});
    }
    return all;
}

std::vector<IntroductionGrid::Transfer> IntroductionGrid::sends(int round) const {
    std::vector<Transfer> all;
    if (round == 0) {
        for (const int peer : others_in_row()) {
            all.push_back({peer, my_rank_, 1});
        }
        return all;
    }
    for (const int row : other_rows()) {
        for (int column = 0; column < row_length(row); ++column) {
            if (rank_for(my_row_, column) == my_rank_) {
                all.push_back({row * width_ + column, my_row_ * width_, row_length(my_row_)});
            }
        }
    }
    return all;
}

void Introductions::begin(const Introduction& mine, MPI_Comm comm, int tag) {
    comm_ = comm;
    tag_ = tag;
    PMPI_Comm_rank(comm, &my_rank_);
    int rank_count = 0;
    PMPI_Comm_size(comm, &rank_count);
    all_.resize(static_cast<std::size_t>(rank_count));
    all_[static_cast<std::size_t>(my_rank_)] = mine;
    begin_round();
}

void Introductions::begin_round() {
    const IntroductionGrid grid(static_cast<int>(all_.size()), my_rank_);
    const auto bytes = [](int count) { return count * static_cast<int>(sizeof(Introduction)); };
    const auto place = [this](int rank) { return all_.data() + rank; };
    for (const auto& each : grid.receives(round_)) {
        PMPI_Irecv(place(each.first_rank), bytes(each.count), MPI_BYTE, each.peer, tag_, comm_,
                   &requests_.emplace_back(MPI_REQUEST_NULL));
    }
    for (const auto& each : grid.sends(round_)) {
        PMPI_Isend(place(each.first_rank), bytes(each.count), MPI_BYTE, each.peer, tag_, comm_,
                   &requests_.emplace_back(MPI_REQUEST_NULL));
    }
}

bool Introductions::complete() {
    while (round_ < IntroductionGrid::rounds) {
        int done = 0;
        PMPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                     MPI_STATUSES_IGNORE);
        if (done == 0) {
            return false;
        }
        requests_.clear();
        if (++round_ < IntroductionGrid::rounds) {
            begin_round();
        }
    }
    return true;
}

}  // namespace mutirao::mpi
