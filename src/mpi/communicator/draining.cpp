// What a freed communicator leaves: announcements that are still on their way. Its slot of a twin's
// tags is free for others when this rank has heard the last one.
#include <list>
#include <mutex>

#include "mpi/communicator/communicator.h"

namespace mutirao::mpi {
namespace {

std::mutex draining_mutex;

}  // namespace

// Ruled communicators are few and live long, so this list is short.
std::list<std::unique_ptr<Communicator::Ruled>>& Communicator::draining() {
    static auto* const list = new std::list<std::unique_ptr<Ruled>>;
    return *list;
}

void Communicator::drain(std::unique_ptr<Ruled> ruled, bool decides) {
    if (decides) {
        Announcement last;
        last.kind = Announcement::Kind::last;
        last.route = ruled->last_route;
        ruled->post.send(last);
        ruled->ended = true;
    }
    const std::lock_guard lock(draining_mutex);
    draining().push_back(std::move(ruled));
}

// Without the lock while MPI is asked: a communicator may end in that, and have something to drain.
void Communicator::drain_all() {
    std::list<std::unique_ptr<Ruled>> asked;
    {
        const std::unique_lock lock(draining_mutex, std::try_to_lock);
        if (!lock || draining().empty()) {
            return;
        }
        asked.swap(draining());
    }
    asked.remove_if([](const std::unique_ptr<Ruled>& each) {
        for (const Announcement& heard : each->post.receive()) {
            each->ended = each->ended || heard.kind == Announcement::Kind::last;
        }
        const bool over = each->ended && each->post.idle();
        if (over) {
            each->twin->slots().give_back(each->slot.number());
        }
        return over;
    });
    const std::lock_guard lock(draining_mutex);
    draining().splice(draining().end(), asked);
}

void Communicator::stop_draining() {
    const std::lock_guard lock(draining_mutex);
    draining().clear();
}

}  // namespace mutirao::mpi
