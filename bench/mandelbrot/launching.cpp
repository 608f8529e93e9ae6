#include "launching.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <thread>

namespace mandelbrot {
namespace {

constexpr auto patience = std::chrono::seconds(2);

/// In the child: nothing between fork and exec may allocate, since threads may hold locks.
[[noreturn]] void become_worker(char* const* arguments, int master_process) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == master_process) execv(arguments[0], arguments);
    _exit(127);
}

/// As a shell reads it: paths of programs and addresses hold no quotes.
std::string quoted(const std::vector<std::string>& words) {
    std::string line = "exec";
    for (const std::string& word : words) line += " '" + word + "'";
    return line;
}

}  // namespace

std::string this_program() {
    std::array<char, PATH_MAX> path{};
    if (readlink("/proc/self/exe", path.data(), path.size() - 1) < 0) {
        throw Failure("cannot find this program");
    }
    return path.data();
}

LaunchedWorkers::LaunchedWorkers(const Crew& crew, const std::string& master) {
    const std::vector<std::string> worker{this_program(), "--worker-of", master,
                                          "--workers",    std::to_string(crew.workers),
                                          "--side",       std::to_string(crew.side)};
    const int self = getpid();
    for (int i = 0; i < crew.workers; ++i) {
        std::vector<std::string> words = worker;
        if (!crew.hosts.empty()) {
            words = {crew.remote_shell, crew.hosts[static_cast<std::size_t>(i)], quoted(worker)};
        }
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        const int process = fork();
        if (process == 0) become_worker(arguments.data(), self);
        if (process < 0) throw Failure(std::string("cannot launch a worker: ") + std::strerror(errno));
        processes_.push_back(process);
    }
}

void LaunchedWorkers::check_all_run() const {
    for (const int process : processes_) {
        siginfo_t ended{};
        waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT);
        if (ended.si_pid != 0) throw Failure("a worker ended before all had connected");
    }
}

LaunchedWorkers::~LaunchedWorkers() {
    const auto end = std::chrono::steady_clock::now() + patience;
    for (const int process : processes_) {
        while (waitpid(process, nullptr, WNOHANG) == 0) {
            if (std::chrono::steady_clock::now() > end) kill(process, SIGKILL);
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }
}

}  // namespace mandelbrot
