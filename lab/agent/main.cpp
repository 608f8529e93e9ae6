// mutirao-lab-agent HOST COMMAND...: runs a command on a host of the lab, called like ssh, so that
// any MPI launcher can start its ranks there. Finds the lab by MUTILAB_CONTROL.
//
// It stays until everything that it started has ended, and takes all of it along when it is
// stopped or when the lab ends: a daemon that left its session comes back to it as its subreaper.
// What a launcher leaves, on the host where these run, is waited for only for a while.
// It is two processes, a guard and a keeper, so that killing one leaves the other to clear up.
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/system.h"

namespace mutirao::lab {
namespace {

// --- how it gets into a host of the lab ---------------------------------------------------------------------

constexpr std::size_t most_descriptors = 5;

struct Reply {
    std::string line;
    std::vector<UniqueFd> descriptors;
};

UniqueFd connect_to_lab() {
    const char* path = std::getenv("MUTILAB_CONTROL");
    if (path == nullptr) throw SetupError("no lab: MUTILAB_CONTROL is not set");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (std::strlen(path) >= sizeof address.sun_path) throw SetupError("MUTILAB_CONTROL too long");
    std::strcpy(address.sun_path, path);
    UniqueFd lab(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    require(lab && connect(lab.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
            "the lab at " + std::string(path) + " does not answer");
    return lab;
}

Reply ask(int lab, const std::string& request) {
    require(send(lab, request.data(), request.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(request.size()),
            "asking the lab");
    char line[512];
    alignas(cmsghdr) char ancillary[CMSG_SPACE(most_descriptors * sizeof(int))];
    iovec part{line, sizeof line};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = ancillary;
    message.msg_controllen = sizeof ancillary;
    const ssize_t size = recvmsg(lab, &message, MSG_CMSG_CLOEXEC);
    require(size > 0, "the lab's answer");
    Reply reply{std::string(line, static_cast<std::size_t>(size)), {}};
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        std::vector<int> received(count);
        std::memcpy(received.data(), CMSG_DATA(header), count * sizeof(int));
        for (const int fd : received) reply.descriptors.emplace_back(fd);
    }
    reply.line.erase(reply.line.find_last_not_of('\n') + 1);
    return reply;
}

// A launcher inside a rootless lab is in its user namespace already; joining it again is refused.
bool already_in(int user_namespace) {
    struct stat own{};
    struct stat other{};
    return stat("/proc/self/ns/user", &own) == 0 && fstat(user_namespace, &other) == 0 &&
           own.st_ino == other.st_ino;
}

/// Joins the host's namespaces, keeping the working folder, and sets MUTILAB_HOST. The connection
/// that is returned closes when the lab ends. Throws SetupError.
UniqueFd enter_host(const std::string& host) {
    UniqueFd lab = connect_to_lab();
    const Reply reply = ask(lab.get(), "enter " + host + "\n");
    if (reply.line.rfind("ok ", 0) != 0) {
        throw SetupError(reply.line.rfind("error ", 0) == 0 ? reply.line.substr(6) : reply.line);
    }
    char folder[PATH_MAX];
    const bool known = getcwd(folder, sizeof folder) != nullptr;
    for (const UniqueFd& space : reply.descriptors) {
        const bool is_user = reply.descriptors.size() == most_descriptors &&
                             &space == &reply.descriptors.front();
        if (is_user && already_in(space.get())) continue;
        require(setns(space.get(), 0) == 0, "entering " + host);
    }
    if (!known || chdir(folder) != 0) require(chdir("/") == 0, "entering the root folder");
    setenv("MUTILAB_HOST", reply.line.substr(3).c_str(), 1);
    return lab;
}

// How everything ends that this process started, also what has left its session or its parent.

struct Process {
    pid_t id;
    pid_t parent;
};

std::vector<Process> all_processes() {
    std::vector<Process> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        Process process{std::atoi(entry.path().filename().c_str()), 0};
        if (process.id == 0) continue;
        std::ifstream file(entry.path() / "stat");
        std::string text;
        std::getline(file, text);
        // Behind the name, which itself may hold anything.
        if (std::sscanf(text.c_str() + text.rfind(')') + 1, " %*c %d", &process.parent) == 1) found.push_back(process);
    }
    return found;
}

/// This process's own now, e.g. a shell's command once the shell ended.
std::vector<pid_t> children() {
    std::vector<pid_t> found;
    for (const Process& process : all_processes()) {
        if (process.parent == getpid()) found.push_back(process.id);
    }
    return found;
}

/// To all descendants that share this process's group: what a terminal does on Ctrl-C. A shell
/// alone would not end before the command that it waits for.
void signal_own_group(int signal) {
    const std::vector<Process> processes = all_processes();
    std::vector<pid_t> family{getpid()};
    for (std::size_t next = 0; next < family.size(); ++next) {
        for (const Process& process : processes) {
            if (process.parent != family[next]) continue;
            family.push_back(process.id);
            if (getpgid(process.id) == getpgrp()) kill(process.id, signal);
        }
    }
}

/// For a subreaper: orphans come back to it, so killing children until none comes back ends all.
void kill_descendants() {
    for (std::vector<pid_t> next = children(); !next.empty(); next = children()) {
        for (const pid_t child : next) kill(child, SIGKILL);
        for (const pid_t child : next) waitpid(child, nullptr, 0);
    }
}

// --- what it starts there, and watches -----------------------------------------------------------------------

constexpr int agent_failed = 255;  // as ssh
constexpr int grace_ms = 2000;     // for a stopped launcher's daemons to end by themselves
constexpr int patience_ms = 20'000;  // for those of one that has ended
constexpr const char* host_of_launchers = "control";
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
    bool launches;                ///< what the child leaves has nothing more to do
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
            if (only_stragglers && !std::exchange(asked_stragglers_, true)) {
                for (const pid_t child : children()) kill(child, SIGTERM);
            }
            const int left_ms = child_ended_ && duty_.launches ? patience_ms : -1;
            const int ready = poll(watched.data(), watched.size(), only_stragglers ? grace_ms : left_ms);
            if (ready == 0 && only_stragglers) kill_descendants();
            stopping_ = stopping_ || ready == 0;
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
        const Duty duty{"mutirao-lab-agent: the lab has ended\n", false, false};
        return Supervisor(duty, keeper, std::move(signals), std::move(lab)).run();
    }
    guard_end = UniqueFd();
    lab = UniqueFd();
    const pid_t child = start(request.command, before);
    return Supervisor({nullptr, true, request.host == host_of_launchers}, child, std::move(signals), std::move(keeper_end)).run();
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
