// mutirao-lab-router: one process that is a whole wide-area network. It makes the hosts, moves
// their packets, and listens on the control socket. Writes one line when it is up (`ready`) or
// cannot be (the reason), then nothing.
//
// Packets are handled between processes that compete for the processor, so it asks for real-time
// scheduling; where that is not permitted it still works, later by some tenths of a millisecond.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "common/system.h"
#include "router/commands.h"
#include "router/forwarder.h"
#include "router/host_namespaces.h"
#include "router/link_table.h"

namespace mutirao::lab {
namespace {

struct Options {
    std::string socket_path;
    std::string tcp;                 ///< a profile's name
    std::vector<std::string> hosts;  ///< the control host last
    bool until_stdin_closes = false;
};

Options parse(const std::vector<std::string>& words) {
    if (words.size() < 5)
        throw SetupError("usage: mutirao-lab-router lasting|until-stdin-closes SOCKET plain|tuned|bbr HOST... CONTROL");
    return {words[1], words[2], {words.begin() + 3, words.end()}, words[0] == "until-stdin-closes"};
}

// Five descriptors a host: more than the usual 1024 for the larger labs.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

bool ask_for_punctuality() {
    prctl(PR_SET_TIMERSLACK, 1UL);
    sched_param priority{};
    priority.sched_priority = 10;
    // Children inherit nothing of it: there are none, the agents start all programs.
    if (sched_setscheduler(0, SCHED_FIFO, &priority) == 0) return true;
    setpriority(PRIO_PROCESS, 0, -20);
    return false;
}

UniqueFd open_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    return UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC));
}

void watch(int epoll, int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    require(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "watching a descriptor");
}

void say_ready_and_let_go() {
    std::puts("ready");
    std::fflush(stdout);
    const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
    dup2(nothing.get(), STDOUT_FILENO);
    dup2(nothing.get(), STDERR_FILENO);
}

// A sleeper is woken some 50 us late: wake early, and spend the rest looking for new packets.
constexpr Nanoseconds wake_early_ns = 100'000;

timespec time_until(Nanoseconds due) {
    const Nanoseconds wait = std::max<Nanoseconds>(0, due - monotonic_now() - wake_early_ns);
    return {wait / 1'000'000'000, wait % 1'000'000'000};
}

class Router {
  public:
    explicit Router(const Options& options)
        : options_(options),
          hosts_(namespaces_.make_hosts(options.hosts, options.tcp)),
          links_(static_cast<int>(hosts_.size())),
          forwarder_(hosts_, links_),
          epoll_(epoll_create1(EPOLL_CLOEXEC)),
          signals_(open_signals()),
          state_{hosts_, namespaces_, links_, forwarder_, ask_for_punctuality()},
          control_(options.socket_path, epoll_.get(), state_) {
        for (std::size_t host = 0; host < hosts_.size(); ++host) {
            const int fd = forwarder_.socket_of(host);
            host_of_fd_.resize(std::max(host_of_fd_.size(), static_cast<std::size_t>(fd) + 1), -1);
            host_of_fd_[static_cast<std::size_t>(fd)] = static_cast<int>(host);
            watch(epoll_.get(), fd);
        }
        watch(epoll_.get(), signals_.get());
        if (options.until_stdin_closes) watch(epoll_.get(), STDIN_FILENO);
    }

    void run() {
        std::array<epoll_event, 64> events{};
        while (!control_.shut_down_asked()) {
            const auto due = forwarder_.next_due();
            const timespec wait = due ? time_until(*due) : timespec{};
            const int count = epoll_pwait2(epoll_.get(), events.data(), events.size(),
                                           due ? &wait : nullptr, nullptr);
            for (int event = 0; event < count; ++event) {
                const auto& [what, data] = events[static_cast<std::size_t>(event)];
                if (!handle(data.fd, what)) return;
            }
            forwarder_.deliver();
        }
    }

  private:
    bool handle(int fd, unsigned events) {
        const auto index = static_cast<std::size_t>(fd);
        if (index < host_of_fd_.size() && host_of_fd_[index] >= 0) {
            forwarder_.take_from(static_cast<std::size_t>(host_of_fd_[index]));
            return true;
        }
        if (control_.handle(fd, events)) return true;
        return fd != signals_.get() && !(options_.until_stdin_closes && fd == STDIN_FILENO);
    }

    Options options_;
    RouterNamespaces namespaces_;
    std::vector<Host> hosts_;
    LinkTable links_;
    Forwarder forwarder_;
    UniqueFd epoll_;
    UniqueFd signals_;
    LabState state_;
    ControlServer control_;
    std::vector<int> host_of_fd_;  // -1: no host's
};

}  // namespace
}  // namespace mutirao::lab

int main(int count, char** words) {
    using namespace mutirao::lab;
    try {
        raise_descriptor_limit();
        Router router(parse({words + 1, words + count}));
        say_ready_and_let_go();
        router.run();
        return 0;
    } catch (const SetupError& error) {
        std::puts(error.what());
        return 1;
    }
}
