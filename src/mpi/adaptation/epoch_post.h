// Carries the decider's words (core/epochs) to every rank of a communicator: from host to host along
// the tree that the words name, and from each host's leader to the ranks beside it. Words move on
// only while ranks are inside calls, but always before a rank needs them itself.
#pragma once

#include <mpi.h>

#include <vector>

#include "core/epochs/epochs.h"
#include "mpi/communicator/hosts.h"
#include "mpi/drivers/post.h"
#include "mpi/tags.h"

namespace mutirao::mpi {

class EpochPost {
  public:
    /// `hosts` outlives the post.
    EpochPost(MPI_Comm comm, const Hosts& hosts) : hosts_(hosts), post_(comm, epoch_tag) {}

    /// The decider's words, to all others.
    void send(const Epoch& epoch) { pass_on(epoch, encode(epoch)); }
    /// Words that have arrived; they are passed on before they are returned. Does not block.
    std::vector<Epoch> receive();
    /// Waits for the sends under way.
    void finish() { post_.finish(); }

  private:
    void pass_on(const Epoch& epoch, Post::Bytes bytes);

    const Hosts& hosts_;
    Post post_;
};

}  // namespace mutirao::mpi
