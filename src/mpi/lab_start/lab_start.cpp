// Preloaded by the WAN lab only, beside native and mutirao runs alike: MPI_Init runs and all pairs
// of ranks connect while the lab holds its delays at zero, then the delays are loaded. A start that
// would take ten seconds of handshakes takes one, and the first measured collective is clean.
#include <mpi.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/interpose/native.h"

namespace {

void connect_all_pairs() {
    int rank = 0;
    int size = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<MPI_Request> requests;
    char sent = 0;
    std::vector<char> received(static_cast<std::size_t>(size));
    for (int peer = 0; peer < size; ++peer) {
        if (peer != rank) {
            PMPI_Irecv(&received[static_cast<std::size_t>(peer)], 1, MPI_CHAR, peer, 0,
                       MPI_COMM_WORLD, &requests.emplace_back());
            PMPI_Isend(&sent, 1, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &requests.emplace_back());
        }
    }
    PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    PMPI_Barrier(MPI_COMM_WORLD);
}

bool ask_lab(const char* path, const std::string& line) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    const int lab = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char answer[256] = {};
    const bool asked =
        lab >= 0 && connect(lab, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        write(lab, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
        read(lab, answer, sizeof answer - 1) > 0 && std::strncmp(answer, "ok", 2) == 0;
    if (lab >= 0) {
        close(lab);
    }
    return asked;
}

void load_delays() {
    const char* const path = std::getenv("MUTILAB_CONTROL");
    if (path == nullptr) {
        return;
    }
    connect_all_pairs();
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && !ask_lab(path, "release\n")) {
        std::fprintf(stderr, "mutirao lab: the router at %s does not answer\n", path);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    PMPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

// Called by what is preloaded, src/preload, as those of mutirao are.
extern "C" __attribute__((visibility("default"))) int mutirao_MPI_Init(int* argc, char*** argv) {
    const int error = mutirao::mpi::next<int (*)(int*, char***)>("MPI_Init")(argc, argv);
    load_delays();
    return error;
}

extern "C" __attribute__((visibility("default"))) int mutirao_MPI_Init_thread(int* argc, char*** argv,
                                                                              int required,
                                                                              int* provided) {
    const auto native = mutirao::mpi::next<int (*)(int*, char***, int, int*)>("MPI_Init_thread");
    const int error = native(argc, argv, required, provided);
    load_delays();
    return error;
}
