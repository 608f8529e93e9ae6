// The allgather by which all ranks learn of each other, beside the program. MPI goes on with it only while
// ranks are inside calls, which may be seldom: so it takes one trip, or two where ranks are many, and not a
// logarithm of them as an MPI library's own MPI_Iallgather may (MPICH's takes five with 24 ranks, and every
// one of them may wait for the next call of the program).
//
// Ranks lie row by row in a grid. In the first round each sends what it says to its row, in the second the
// row's to its column: to one rank of every other row. The last row may be short; its ranks then stand for
// several columns.
#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/job/world.h"

namespace mutirao::mpi {

/// One rank's place in it.
class IntroductionGrid {
  public:
    IntroductionGrid(int rank_count, int my_rank);

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

class Introductions {
  public:
    /// Collective over `comm`; does not block. All messages have `tag`.
    void begin(const Introduction& mine, MPI_Comm comm, int tag);
    /// Whether all have come, and no other rank needs more from this one; does not block.
    bool complete();
    /// Once complete; by rank.
    const std::vector<Introduction>& all() const { return all_; }
    void forget() { all_ = {}; }

  private:
    void begin_round();

    MPI_Comm comm_ = MPI_COMM_NULL;
    int tag_ = 0;
    int my_rank_ = 0;
    int round_ = 0;
    std::vector<Introduction> all_;
    std::vector<MPI_Request> requests_;
};

}  // namespace mutirao::mpi
