// Starts worker processes of this very program, on this host or by a remote shell, for the transports
// that bring no launcher: the paper's sockets needed one of their own, too.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "transport.h"

namespace mandelbrot {

inline constexpr auto patience_with_workers = std::chrono::seconds(2);

/// In the child: nothing between fork and exec may allocate, since threads may hold locks.
[[noreturn]] inline void become_worker(char* const* arguments, int master_process) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == master_process) execv(arguments[0], arguments);
    _exit(127);
}

/// A worker that ends with an error has said why, and the master, which might wait for it for ever, ends, too. One that
/// was killed is the transport's to notice, also where a remote shell tells of it.
inline void end_with_worker(int, siginfo_t* ended, void*) {
    if (ended->si_code == CLD_EXITED && ended->si_status != 0 && ended->si_status != 128 + SIGKILL) _exit(1);
}

/// As a shell reads it: paths of programs and addresses hold no quotes.
inline std::string quoted(const std::vector<std::string>& words) {
    std::string line = "exec";
    for (const std::string& word : words) line += " '" + word + "'";
    return line;
}

/// The command line of a worker whose master is at `master`.
inline std::vector<std::string> worker_words(const Crew& crew, const std::string& master) {
    const std::string this_program = std::filesystem::read_symlink("/proc/self/exe");
    return {this_program, "--worker-of", master, "--workers", std::to_string(crew.workers), "--side",
            std::to_string(crew.side)};
}

/// With a null pointer behind the last.
inline std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Workers that end with this object, and with this process, however it ends.
class LaunchedWorkers {
  public:
    /// Each is told that its master is at `master`. Not from a thread that ends before they do.
    LaunchedWorkers(const Crew& crew, const std::string& master) {
        const std::vector<std::string> worker = worker_words(crew, master);
        const int self = getpid();
        struct sigaction action{};
        action.sa_sigaction = end_with_worker;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigaction(SIGCHLD, &action, nullptr);
        for (int i = 0; i < crew.workers; ++i) {
            std::vector<std::string> words = worker;
            if (!crew.hosts.empty()) {
                words = {crew.remote_shell, crew.hosts[static_cast<std::size_t>(i)], quoted(worker)};
            }
            const std::vector<char*> arguments = pointers_to(words);
            const int process = fork();
            if (process == 0) become_worker(arguments.data(), self);
            if (process < 0) throw Failure(std::string("cannot launch a worker: ") + std::strerror(errno));
            processes_.push_back(process);
        }
    }
    /// Those that were told to stop have a moment for it.
    ~LaunchedWorkers() {
        const auto end = std::chrono::steady_clock::now() + patience_with_workers;
        for (const int process : processes_) {
            while (waitpid(process, nullptr, WNOHANG) == 0) {
                if (std::chrono::steady_clock::now() > end) kill(process, SIGKILL);
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
        }
    }
    LaunchedWorkers(const LaunchedWorkers&) = delete;
    LaunchedWorkers& operator=(const LaunchedWorkers&) = delete;

  private:
    std::vector<int> processes_;
};

}  // namespace mandelbrot
