// PVM 3.4: the master spawns the workers through the daemon, which must run, and asks it to be told
// when one ends. Messages go from task to daemon to task, PVM's own default.
#include <pvm3.h>

#include <algorithm>
#include <vector>

#include "launching.h"
#include "transport.h"

namespace mandelbrot {
namespace {

enum Tag { message_tag = 1, gone_tag = 2 };

int checked(int result, const char* what) {
    if (result < 0) {
        throw Failure(std::string("PVM: ") + what + " failed (" + std::to_string(result) + ")");
    }
    return result;
}

/// A member of the virtual machine from here on; leaves it at the end.
class Membership {
  public:
    Membership() {
        pvm_setopt(PvmAutoErr, 0);
        checked(pvm_mytid(), "finding the daemon");
    }
    ~Membership() { pvm_exit(); }
    Membership(const Membership&) = delete;
    Membership& operator=(const Membership&) = delete;
};

struct Received {
    int tag = 0;
    int from = 0;
};

Received receive_any() {
    const int buffer = checked(pvm_recv(-1, -1), "receiving");
    int length = 0;
    Received received;
    checked(pvm_bufinfo(buffer, &length, &received.tag, &received.from), "looking at a message");
    return received;
}

void unpack(Message& message) {
    checked(pvm_upkbyte(reinterpret_cast<char*>(message.bytes().data()),
                        static_cast<int>(message.bytes().size()), 1),
            "unpacking");
}

/// To a task that is gone: the daemon drops it.
void send_to(int task, const Message& message) {
    checked(pvm_initsend(PvmDataRaw), "making a message");
    char* bytes = reinterpret_cast<char*>(const_cast<std::uint8_t*>(message.bytes().data()));
    checked(pvm_pkbyte(bytes, static_cast<int>(message.bytes().size()), 1), "packing");
    pvm_send(task, message_tag);
}

class PvmMaster final : public MasterSide {
  public:
    explicit PvmMaster(const Crew& crew) : tasks_(static_cast<std::size_t>(crew.workers)) {
        std::vector<std::string> words = worker_words(crew, "pvm");
        std::vector<char*> arguments = pointers_to(words);
        for (int number = 0; number < crew.workers; ++number) {
            const auto at = static_cast<std::size_t>(number);
            std::string host = crew.hosts.empty() ? "" : crew.hosts[at];
            if (pvm_spawn(arguments[0], &arguments[1], host.empty() ? PvmTaskDefault : PvmTaskHost,
                          host.data(), 1, &tasks_[at]) != 1) {
                throw Failure("PVM: the daemon could not spawn all workers");
            }
        }
        checked(pvm_notify(PvmTaskExit, gone_tag, crew.workers, tasks_.data()), "watching workers");
    }

    Heard receive(Message& message) override {
        Received received = receive_any();
        const bool gone = received.tag == gone_tag;
        if (gone) {
            checked(pvm_upkint(&received.from, 1, 1), "unpacking");
        } else {
            unpack(message);
        }
        const auto found = std::ranges::find(tasks_, received.from);
        if (found == tasks_.end()) throw Failure("PVM: a message of a task that is no worker");
        return {static_cast<int>(found - tasks_.begin()), gone};
    }

    void send(int worker, const Message& message) override {
        send_to(tasks_[static_cast<std::size_t>(worker)], message);
    }

  private:
    std::vector<int> tasks_;
};

class PvmWorker final : public WorkerSide {
  public:
    explicit PvmWorker(const Crew&) : master_(checked(pvm_parent(), "finding the master")) {
        checked(pvm_notify(PvmTaskExit, gone_tag, 1, &master_), "watching the master");
    }

    bool receive(Message& message) override {
        if (receive_any().tag == gone_tag) return false;
        unpack(message);
        return true;
    }
    void send(const Message& message) override { send_to(master_, message); }

  private:
    int master_;
};

}  // namespace

void play(const Crew& crew, const MasterWork& master, const WorkerWork& worker) {
    const Membership membership;
    play_launched<PvmMaster, PvmWorker>(crew, master, worker);
}

}  // namespace mandelbrot
