// The allgather by which all ranks learn of each other, beside the program, and by which they learn at the
// end that all have come there. MPI goes on with it only while ranks are inside calls, which may be seldom:
// so it takes one trip, or two where ranks are many, and not a logarithm of them as an MPI library's own
// MPI_Iallgather may (MPICH's takes five with 24 ranks, and every one of them may wait for the next call of
// the program).
//
// Ranks lie row by row in a grid. In the first round each sends what it says to its row, in the second the
// row's to its column: to one rank of every other row. The last row may be short; its ranks then stand for
// several columns.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace mutirao::mpi {

/// One rank's place in it.
class Grid {
  public:
    Grid(int rank_count, int my_rank);

    /// What `count` ranks from `first_rank` on say, to or from `peer`.
    struct Transfer {
        int peer;
        int first_rank;
        int count;
    };
    static constexpr int rounds = 2;
    std::vector<Transfer> sends(int round) const;
    std::vector<Transfer> receives(int round) const;

  private:
    int row_length(int row) const;
    /// Who of a row sends it to `column`.
    int rank_for(int row, int column) const { return row * width_ + column % row_length(row); }
    std::vector<int> others_in_row() const;
    std::vector<int> other_rows() const;

    int rank_count_;
    int my_rank_;
    int width_;
    int rows_;
    int my_row_;
    int my_column_;
};

template <typename Item>
class GridAllgather {
  public:
    /// Collective over `comm`; does not block. All messages have `tag`.
    void begin(const Item& mine, MPI_Comm comm, int tag) {
        comm_ = comm;
        tag_ = tag;
        PMPI_Comm_rank(comm, &my_rank_);
        int rank_count = 0;
        PMPI_Comm_size(comm, &rank_count);
        all_.resize(static_cast<std::size_t>(rank_count));
        all_[static_cast<std::size_t>(my_rank_)] = mine;
        begin_round();
    }

    /// Whether all have come, and no other rank needs more from this one; does not block.
    bool complete() {
        while (round_ < Grid::rounds) {
            int done = 0;
            PMPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                         MPI_STATUSES_IGNORE);
            if (done == 0) {
                return false;
            }
            requests_.clear();
            if (++round_ < Grid::rounds) {
                begin_round();
            }
        }
        return true;
    }

    /// Once complete; by rank.
    const std::vector<Item>& all() const { return all_; }
    void forget() { all_ = {}; }

  private:
    void begin_round() {
        const Grid grid(static_cast<int>(all_.size()), my_rank_);
        const auto bytes = [](int count) { return count * static_cast<int>(sizeof(Item)); };
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

    MPI_Comm comm_ = MPI_COMM_NULL;
    int tag_ = 0;
    int my_rank_ = 0;
    int round_ = 0;
    std::vector<Item> all_;
    std::vector<MPI_Request> requests_;
};

}  // namespace mutirao::mpi
