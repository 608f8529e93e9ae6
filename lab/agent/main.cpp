// mutirao-lab-agent HOST COMMAND...: runs a command on a host of the lab, called like ssh, so that
// any MPI launcher can start its ranks there. Finds the lab by MUTILAB_CONTROL.
//
// It stays until everything that it started has ended, and takes all of it along when it is
// stopped or when the lab ends: a daemon that left its session comes back to it as its subreaper.
// It is two processes, a guard and a keeper, so that killing one leaves the other to clear up.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "agent/processes.h"
#include "common/system.h"

namespace mutirao::lab {
namespace {

constexpr int agent_failed = 255;  // as ssh
constexpr int grace_ms = 2000;     // for a stopped launcher's daemons to end by themselves
constexpr std::array passed_on{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

struct Request {
    std::string host;
    std::string command;  // for a shell, as ssh would pass it
};

Request parse(int count, char** words) {
    const std::string with_value = "bcDEeFIiJLlmOopQRSWw";  // ssh's options, which do nothing here
    int next = 1;
    for (; next < count && words[next][0] == '-'; ++next) {
        const std::string option = words[next];
        if (option == "--") {
            ++next;
            break;
        }
        if (option.size() == 2 && with_value.find(option[1]) != std::string::npos) ++next;
    }
    if (next + 1 >= count) throw SetupError("usage: mutirao-lab-agent HOST COMMAND...");
    Request request{words[next], {}};
    for (++next; next < count; ++next) {
        request.command += (request.command.empty() ? "" : " ") + std::string(words[next]);
    }
    return request;
}

UniqueFd block_signals(sigset_t& before) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (const int signal : passed_on) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, &before);
    return UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

// What the two processes do differently.
struct Duty {
    const char* on_lifeline_end;  ///< said before everything is ended; nullptr: nothing
    bool to_group;                ///< a Ctrl-C is for all that the child waits for, not it alone
};

class Supervisor {
  public:
    /// `lifeline` becomes readable when there is no reason to go on.
    Supervisor(const Duty& duty, pid_t child, UniqueFd signals, UniqueFd lifeline)
        : duty_(duty),
          child_(child),
          signals_(std::move(signals)),
          lifeline_(std::move(lifeline)) {}

    int run() {
        std::array<pollfd, 2> watched{pollfd{signals_.get(), POLLIN, 0},
                                      pollfd{lifeline_.get(), POLLIN, 0}};
        while (reap()) {
            const bool only_stragglers = stopping_ && child_ended_;
            if (only_stragglers && !asked_stragglers_) signal_children(SIGTERM);
            asked_stragglers_ = only_stragglers;
            const int ready = poll(watched.data(), watched.size(), only_stragglers ? grace_ms : -1);
            if (ready == 0 && only_stragglers) kill_descendants();
            if ((watched[0].revents & POLLIN) != 0) read_signals();
            if (watched[1].revents != 0) {
                if (duty_.on_lifeline_end != nullptr) std::fputs(duty_.on_lifeline_end, stderr);
                kill_descendants();
                return agent_failed;
            }
        }
        return exit_code_;
    }

  private:
    // False when nothing is left.
    bool reap() {
        int status = 0;
        pid_t ended = 0;
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
            if (ended != child_) continue;
            child_ended_ = true;
            stopping_ = stopping_ || WIFSIGNALED(status);
            exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        return ended == 0;
    }

    void read_signals() {
        signalfd_siginfo received{};
        while (read(signals_.get(), &received, sizeof received) == sizeof received) {
            const int signal = static_cast<int>(received.ssi_signo);
            if (signal == SIGCHLD) continue;
            stopping_ = stopping_ || (signal != SIGUSR1 && signal != SIGUSR2);
            // A terminal's Ctrl-C has reached the whole foreground group already.
            const bool from_terminal = received.ssi_code == SI_KERNEL;
            if (from_terminal || child_ended_) continue;
            if (duty_.to_group && (signal == SIGINT || signal == SIGQUIT)) {
                signal_own_group(signal);
            } else {
                kill(child_, signal);
            }
        }
    }

    Duty duty_;
    pid_t child_;
    UniqueFd signals_;
    UniqueFd lifeline_;
    bool child_ended_ = false;
    bool stopping_ = false;
    bool asked_stragglers_ = false;
    int exit_code_ = 0;
};

pid_t start(const std::string& command, const sigset_t& mask) {
    const pid_t keeper = getpid();
    const pid_t child = fork();
    require(child >= 0, "starting the command");
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) _exit(agent_failed);  // it died before we asked to be told
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(agent_failed);
}

int run(int count, char** words) {
    const Request request = parse(count, words);
    UniqueFd lab = enter_host(request.host);
    sigset_t before;
    UniqueFd signals = block_signals(before);
    int ends[2];
    require(pipe2(ends, O_CLOEXEC) == 0, "making a pipe");
    UniqueFd keeper_end(ends[0]);
    UniqueFd guard_end(ends[1]);  // the kernel closes it when the guard is killed
    const pid_t keeper = fork();
    require(keeper >= 0, "starting the keeper");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (keeper != 0) {
        const Duty duty{"mutirao-lab-agent: the lab has ended\n", false};
        return Supervisor(duty, keeper, std::move(signals), std::move(lab)).run();
    }
    guard_end = UniqueFd();
    lab = UniqueFd();
    const pid_t child = start(request.command, before);
    return Supervisor({nullptr, true}, child, std::move(signals), std::move(keeper_end)).run();
}

}  // namespace
}  // namespace mutirao::lab

int main(int count, char** words) {
    try {
        return mutirao::lab::run(count, words);
    } catch (const mutirao::lab::SetupError& error) {
        std::fprintf(stderr, "mutirao-lab-agent: %s\n", error.what());
        return mutirao::lab::agent_failed;
    }
}
