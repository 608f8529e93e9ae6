// Starts worker processes of this very program, on this host or by a remote shell, for the transports
// that bring no launcher: the paper's sockets needed one of their own, too.
#pragma once

#include <string>
#include <vector>

#include "transport.h"

namespace mandelbrot {

/// Its path.
std::string this_program();

/// Workers that end with this object, and with this process, however it ends.
class LaunchedWorkers {
  public:
    /// Each is told that its master is at `master`. Not from a thread that ends before they do.
    LaunchedWorkers(const Crew& crew, const std::string& master);
    /// Those that were told to stop have a moment for it.
    ~LaunchedWorkers();
    /// Failure where one has ended; for as long as not all have connected, who would miss it else?
    void check_all_run() const;
    LaunchedWorkers(const LaunchedWorkers&) = delete;
    LaunchedWorkers& operator=(const LaunchedWorkers&) = delete;

  private:
    std::vector<int> processes_;
};

}  // namespace mandelbrot
