// One allgather under SMPI, where all ranks are threads of one process: run, timed and compared.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace mutirao::simulated {

/// The memory of one rank's calls with blocks of one length.
class Blocks {
  public:
    /// Outputs of all ranks that are longer than this together are one memory, since they end up alike: a
    /// machine has no room for 128 times 64 MiB. Then only the last byte written counts.
    static constexpr std::size_t most_outputs_bytes = std::size_t{1} << 30;

    Blocks(int rank, int ranks, std::size_t block_bytes);
    ~Blocks();
    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;

    std::byte* input() { return input_.data(); }
    std::byte* output() { return output_; }
    std::size_t block_bytes() const { return input_.size(); }
    /// Forgets what the last call wrote.
    void clear();
    /// Every byte of every rank's block.
    bool right() const;

  private:
    int rank_, ranks_;
    bool shared_;
    std::vector<std::byte> input_;
    std::byte* output_ = nullptr;
};

struct Timed {
    std::vector<double> rank_us;  ///< on rank 0: from the common beginning to each rank's end
    bool right = true;            ///< the same on all ranks
};

/// Runs `call` on all ranks from the same simulated moment on, and compares what it brought.
Timed timed(Blocks& blocks, const std::function<void()>& call);

}  // namespace mutirao::simulated
