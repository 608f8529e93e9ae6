// How some programs end, or leave a collective, that few think of. argv[1]: which; argv[2]: for how many ms they call.
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

std::string what;
int rank;

int sum_of_all() {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

void finish() {
    const int sum = sum_of_all();
    if (rank == 0) std::printf("%s: %d ranks\n", what.c_str(), sum);
    std::fflush(stdout);
    MPI_Finalize();
}

void throws(MPI_Comm*, int*, ...) { throw std::runtime_error("by the program's handler"); }
void leaves_thread(MPI_Comm*, int*, ...) { pthread_exit(&what); }

void set_handler(MPI_Comm_errhandler_function* function) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
}

void err() {
    int word = 0;
    MPI_Bcast(&word, 1, MPI_INT, 99, MPI_COMM_WORLD);
}

bool is_caught() {
    set_handler(throws);
    try {
        err();
    } catch (const std::runtime_error& error) {
        return error.what() == std::string("by the program's handler");
    }
    return false;
}

bool thread_is_left() {
    set_handler(leaves_thread);
    pthread_t thread;
    void* result = nullptr;
    pthread_create(&thread, nullptr, [](void*) -> void* { err(); return nullptr; }, nullptr);
    pthread_join(thread, &result);
    return result == &what;
}

struct AtTheEnd {
    ~AtTheEnd() {
        if (what == "destructor") finish();
    }
} at_the_end;

}  // namespace

int main(int argc, char** argv) {
    what = argv[1];
    if (what == "atexit") std::atexit(finish);
    int provided = 0;  // MPICH takes no exception where threads may call it
    MPI_Init_thread(&argc, &argv, what == "leaves" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (what == "closed") close(STDERR_FILENO);
    const double end_s = MPI_Wtime() + std::atoi(argv[2]) / 1e3;
    for (int goes_on = 1; goes_on != 0;) {
        for (int call = 0; call < 50; ++call) sum_of_all();
        goes_on = MPI_Wtime() < end_s;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (what == "throws" && !is_caught()) return 1;
    if (what == "leaves" && !thread_is_left()) return 1;
    if (what != "destructor" && what != "atexit") finish();
    return 0;
}
