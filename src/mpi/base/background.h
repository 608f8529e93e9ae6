// What goes on beside a program's calls in the program's own threads: whenever one of them is inside a
// call, and while it waits there.
#pragma once

namespace mutirao::mpi {

class Background {
  public:
    virtual ~Background() = default;
    /// Must not block, and may be called by several threads at once.
    virtual void progress() = 0;
};

}  // namespace mutirao::mpi
