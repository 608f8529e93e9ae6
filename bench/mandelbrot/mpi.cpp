// MPI: rank 0 is the master, the others work. The launcher starts and watches them: where a rank dies,
// it ends the job. Messages are bytes, since all processes are alike.
#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>

#if defined(LAM_MPI)
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <vector>
#endif

#include "transport.h"

#if defined(LAM_MPI)
// LAM/MPI 7.1 writes empty pieces from pointers that it has never set, which kernels of today refuse
// (EFAULT) and those of its day did not: then MPI_Init fails, by chance. Linked into LAM's program, this
// writev takes the place of the C library's, and gives empty pieces an address.
extern "C" [[gnu::visibility("default")]] ssize_t writev(int descriptor, const iovec* pieces,
                                                         int count) {
    std::vector<iovec> checked(pieces, pieces + count);
    for (iovec& piece : checked) {
        if (piece.iov_len == 0) piece.iov_base = nullptr;
    }
    return syscall(SYS_writev, descriptor, checked.data(), count);
}
#endif

namespace mandelbrot {
namespace {

constexpr int tag = 1;

void send_to(int rank, const Message& message) {
    // The first versions of MPI, LAM's among them, take what they send without const.
    MPI_Send(const_cast<std::uint8_t*>(message.bytes().data()),
             static_cast<int>(message.bytes().size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

int receive_from(int rank, Message& message) {
    MPI_Status status;
    MPI_Recv(message.bytes().data(), static_cast<int>(message.bytes().size()), MPI_BYTE, rank, tag,
             MPI_COMM_WORLD, &status);
    return status.MPI_SOURCE;
}

class MpiMaster final : public MasterSide {
  public:
    Heard receive(Message& message) override {
        return {receive_from(MPI_ANY_SOURCE, message) - 1, false};
    }
    void send(int worker, const Message& message) override { send_to(worker + 1, message); }
};

class MpiWorker final : public WorkerSide {
  public:
    bool receive(Message& message) override { return receive_from(0, message) == 0; }
    void send(const Message& message) override { send_to(0, message); }
};

}  // namespace

void play(const Crew& crew, const MasterWork& master, const WorkerWork& worker) {
    MPI_Init(nullptr, nullptr);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != crew.workers + 1) {
        throw Failure(std::to_string(crew.workers) + " workers need " +
                      std::to_string(crew.workers + 1) + " ranks, not " + std::to_string(size));
    }
    if (rank == 0) {
        MpiMaster side;
        master(side);
    } else {
        MpiWorker side;
        worker(side);
    }
    MPI_Finalize();
}

}  // namespace mandelbrot
