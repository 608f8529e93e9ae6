// Carries the decider's announcements to every rank of a communicator along the route that they name,
// and the ranks' reports to the decider. Announcements move on only while ranks are inside calls. What nobody needs for
// a call goes behind the call's own messages: over a connection that lay idle, a word ahead of them takes one of the ten
// packets that TCP lets through, and what is planned to fit into these then waits a round trip.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/epochs/epochs.h"
#include "mpi/base/world.h"
#include "mpi/base/post.h"
#include "mpi/executor/execution.h"
#include "mpi/job/job.h"

namespace mutirao::mpi {

class AnnouncementPost {
  public:
    /// `members` outlives the post, and is placed.
    AnnouncementPost(MPI_Comm twin, Slot slot, const Members& members, int decider);

    int decider() const { return decider_; }

    /// The decider's, to all others.
    void send(const Announcement& announcement);
    /// What has arrived; it is passed on before it is returned, but for what only later calls need, if this rank is about
    /// to send messages of `call`. Does not block.
    std::vector<Announcement> receive(std::optional<std::uint64_t> call = {});

    /// Messages of the call are under way.
    void pass_on_what_was_left() {
        for (const Passed& each : std::exchange(left_, {})) pass_on(each);
    }

    /// Goes out with send_reports(), after the call.
    void report(const Report& report) { to_report_.push_back(report); }
    void send_reports() {
        for (const Report& each : std::exchange(to_report_, {})) send(each);
    }
    /// The decider's: what ranks have reported.
    std::vector<Report> receive_reports();

    /// The communicator is freed. All ranks have what they need for its calls, since who hands on an announcement needs it
    /// no later; nobody waits for what is still under way.
    void leave_sends_to(LeftBehind& left_behind);

  private:
    struct Passed {
        Route route;
        Post::Letter letter;
    };

    void pass_on(const Passed& announcement);
    std::vector<int> listeners(const Route& route) const;
    void send(const Report& report);

    const Members& members_;
    const int decider_;
    Post announcements_;
    Post reports_;
    std::vector<Passed> left_;  ///< to be passed on
    std::vector<Report> to_report_;
};

}  // namespace mutirao::mpi
