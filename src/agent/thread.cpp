#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "agent/agent.h"
#include "agent/agent_loop.h"
#include "agent/segment.h"
#include "agent/system.h"

namespace mutirao::agent {
namespace {

constexpr const char* another_runs = "another agent of this name is running on this host";

}  // namespace

struct Thread::Inside {
    std::string name;
    std::unique_ptr<Segment> segment;
    std::optional<ViewReader> view;
    std::unique_ptr<AgentLoop> loop;
    File stop;
    std::thread thread;
    std::atomic<bool> running{false};
    std::atomic<bool> says_farewell{false};
    std::mutex mutex;  ///< of `reason`
    std::string reason;
    pid_t process = getpid();

    void fail(std::string why) {
        const std::lock_guard hold(mutex);
        reason = std::move(why);
        running = false;
    }
    /// Before there is a thread: nothing is left behind for others to find.
    void refuse(std::string why) {
        fail(std::move(why));
        loop.reset();
        view.reset();
        segment.reset();
    }
    void start(Endpoint endpoint, Job job);
    void work();
};

void Thread::Inside::start(Endpoint endpoint, Job job) {
    const SegmentIdentity identity{name, job.self, static_cast<int>(job.contacts.size()), job.id};
    const Segment::Outcome made = Segment::make(identity, segment);
    if (made == Segment::Outcome::held_by_another) {
        view = ViewReader::attach(name);
        return fail(another_runs);
    }
    if (made == Segment::Outcome::refused) return fail("no memory for the view");
    view.emplace(segment->reader());
    const auto incarnation = random_number();
    stop = File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!incarnation || !stop) return refuse("the system gives no random numbers or events");
    loop = std::make_unique<AgentLoop>(std::move(endpoint), std::move(job), *segment,
                                       *incarnation);
    if (!loop->usable()) return refuse("the system gives no way to wait for sockets");
    const AllSignalsBlocked blocked;
    running = true;
    thread = std::thread([this] { work(); });
}

void Thread::Inside::work() {
    try {
        loop->run(stop.number());
        if (says_farewell) loop->say_farewell();
        fail("stopped");
    } catch (const std::exception& error) {
        fail(error.what());
    }
    segment->end();
}

Thread::Thread(Endpoint endpoint, Job job, std::string segment)
    : inside_(std::make_unique<Inside>()) {
    inside_->name = segment.empty() ? segment_name(job.id, job.self) : std::move(segment);
    try {
        remove_stale_segments();
        inside_->start(std::move(endpoint), std::move(job));
    } catch (const std::exception& error) {
        inside_->refuse(error.what());
    }
}

Thread::~Thread() {
    if (inside_->process != getpid()) {
        // A forked child has no such thread, and its memory is its parent's.
        inside_->thread.detach();
        inside_.release();
        return;
    }
    if (!inside_->thread.joinable()) return;
    const std::uint64_t one = 1;
    while (write(inside_->stop.number(), &one, sizeof one) < 0 && errno == EINTR) continue;
    inside_->thread.join();
}

void Thread::saw(int host, double bytes_per_us) {
    if (running()) inside_->loop->saw(host, bytes_per_us);
}

void Thread::say_farewell() { inside_->says_farewell = true; }

bool Thread::running() const { return inside_->running && inside_->process == getpid(); }

std::string Thread::why_unnamed() const {
    return running() ? inside_->segment->why_unnamed() : std::string();
}

std::string Thread::why_not() const {
    // The lock may have been taken when the child was forked.
    if (inside_->process != getpid()) return "the agent is in the process that forked this one";
    const std::lock_guard hold(inside_->mutex);
    return inside_->reason;
}

const std::string& Thread::segment() const { return inside_->name; }
const ViewReader* Thread::view() const { return inside_->view ? &*inside_->view : nullptr; }

}  // namespace mutirao::agent
