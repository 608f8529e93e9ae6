#include "mpi/job/grid_allgather.h"

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

Grid::Grid(int rank_count, int my_rank)
    : rank_count_(rank_count),
      my_rank_(my_rank),
      width_(width_for(rank_count)),
      rows_((rank_count + width_ - 1) / width_),
      my_row_(my_rank / width_),
      my_column_(my_rank % width_) {}

int Grid::row_length(int row) const {
    return std::min(width_, rank_count_ - row * width_);
}

// From the next one on, so that not all send to the same one at once.
std::vector<int> Grid::others_in_row() const {
    const int length = row_length(my_row_);
    std::vector<int> ranks;
    for (int step = 1; step < length; ++step) {
        ranks.push_back(my_row_ * width_ + (my_column_ + step) % length);
    }
    return ranks;
}

std::vector<int> Grid::other_rows() const {
    std::vector<int> rows;
    for (int step = 1; step < rows_; ++step) {
        rows.push_back((my_row_ + step) % rows_);
    }
    return rows;
}

std::vector<Grid::Transfer> Grid::receives(int round) const {
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

std::vector<Grid::Transfer> Grid::sends(int round) const {
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

}  // namespace mutirao::mpi
