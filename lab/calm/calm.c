/* A preload for MPI programs in the lab, and their launcher: turns polling that spins into short blocking waits.
 *
 * MPI libraries poll with a timeout of zero while they wait. Two dozen ranks that do so on two
 * cores starve each other and the router: a broadcast of 475 ms was measured as 492. After some
 * empty polls in a row a thread here waits up to a millisecond instead, and is woken at once by
 * what it polls for. For the lab only: on a real machine ranks have a core each.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

enum { patience = 50, wait_ms = 1 };

#define EXPORTED __attribute__((visibility("default")))

static _Thread_local int empty_polls __attribute__((tls_model("initial-exec")));

static int spins(void) { return empty_polls >= patience; }

static void note(int asked_not_to_wait, int ready) {
    if (ready > 0) {
        empty_polls = 0;
    } else if (asked_not_to_wait && ready == 0) {
        ++empty_polls;
    }
}

/* Looked up at the first call, since constructors of other libraries may poll before ours runs. */
static void find_real(void *function_pointer, const char *name) {
    void **slot = function_pointer;
    if (*slot == NULL) *slot = dlsym(RTLD_NEXT, name);
}

static int is_zero(const struct timespec *wait) {
    return wait != NULL && wait->tv_sec == 0 && wait->tv_nsec == 0;
}

static const struct timespec short_wait = {0, wait_ms * 1000000L};

EXPORTED int poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
    static int (*real)(struct pollfd *, nfds_t, int);
    find_real(&real, "poll");
    const int ready = real(fds, count, timeout_ms == 0 && spins() ? wait_ms : timeout_ms);
    note(timeout_ms == 0, ready);
    return ready;
}

EXPORTED int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *wait,
                   const sigset_t *mask) {
    static int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    find_real(&real, "ppoll");
    const int ready = real(fds, count, is_zero(wait) && spins() ? &short_wait : wait, mask);
    note(is_zero(wait), ready);
    return ready;
}

EXPORTED int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout_ms,
                         const sigset_t *mask) {
    static int (*real)(int, struct epoll_event *, int, int, const sigset_t *);
    find_real(&real, "epoll_pwait");
    const int ready =
        real(epoll, events, most, timeout_ms == 0 && spins() ? wait_ms : timeout_ms, mask);
    note(timeout_ms == 0, ready);
    return ready;
}

EXPORTED int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms) {
    return epoll_pwait(epoll, events, most, timeout_ms, NULL);
}

EXPORTED int select(int count, fd_set *readable, fd_set *writable, fd_set *exceptional,
                    struct timeval *wait) {
    static int (*real)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
    find_real(&real, "select");
    const int spinning = wait != NULL && wait->tv_sec == 0 && wait->tv_usec == 0;
    struct timeval patient = {0, wait_ms * 1000L};
    const int ready =
        real(count, readable, writable, exceptional, spinning && spins() ? &patient : wait);
    note(spinning, ready);
    return ready;
}

/* Open MPI 5's launcher has parent and child both put the child into a group of its own. A parent that comes after
 * the child's exec is told EACCES when that has long been done, and warns of it in nearly every job. */
EXPORTED int setpgid(pid_t process, pid_t group) {
    static int (*real)(pid_t, pid_t);
    find_real(&real, "setpgid");
    const int result = real(process, group);
    return result != 0 && errno == EACCES && getpgid(process) == group ? 0 : result;
}
