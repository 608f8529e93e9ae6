// What a transport must do, and all that the master and the workers know of it. Each program is linked
// with one of sockets.cpp, mpi.cpp, pvm.cpp, via.cpp, zeromq.cpp and grpc.cpp, which defines play().
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "message.h"
#include "tool/arguments.h"

namespace mandelbrot {

using mutirao::tool::Failure;

/// What the master hears: a whole message of a worker, or that the worker is gone, once.
struct Heard {
    int worker = 0;
    bool gone = false;
};

class MasterSide {
  public:
    virtual ~MasterSide() = default;
    /// Waits. Workers are 0 to one less than were asked for.
    virtual Heard receive(Message& message) = 0;
    /// To a worker that is gone: nothing happens, and receive() tells.
    virtual void send(int worker, const Message& message) = 0;
};

class WorkerSide {
  public:
    virtual ~WorkerSide() = default;
    /// False: the master is gone.
    virtual bool receive(Message& message) = 0;
    virtual void send(const Message& message) = 0;
};

struct Crew {
    int workers = 0;
    int side = 0;                      ///< of tasks: all messages are as long
    std::string address = "127.0.0.1"; ///< IPv4, of this host, where the master listens
    std::vector<std::string> hosts;    ///< of each worker; none: this one
    std::string remote_shell;          ///< launches them there, called as ssh is: HOST COMMAND
    std::string master;                ///< where it is, for a worker that a master has launched; else empty
};

using MasterWork = std::function<void(MasterSide&)>;
using WorkerWork = std::function<void(WorkerSide&)>;

/// Begins the transport, launches the workers if that is not done yet, and plays this process's role
/// to its end.
void play(const Crew& crew, const MasterWork& master, const WorkerWork& worker);

/// The same where a master launches its workers, whose sides are made from the crew.
template <class Master, class Worker>
void play_launched(const Crew& crew, const MasterWork& master, const WorkerWork& worker) {
    if (crew.master.empty()) {
        Master side(crew);
        master(side);
    } else {
        Worker side(crew);
        worker(side);
    }
}

}  // namespace mandelbrot
