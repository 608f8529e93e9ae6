// Carries the decider's announcements to every rank of a communicator along the route that they name,
// and the ranks' reports to the decider. Announcements move on only while ranks are
// inside calls, but always before a rank needs them itself.
#pragma once

#include <mpi.h>

#include <vector>

#include "core/epochs/announcement.h"
#include "mpi/base/world.h"
#include "mpi/base/post.h"
#include "mpi/base/slots.h"

namespace mutirao::mpi {

class AnnouncementPost {
  public:
    /// `members` outlives the post, and is placed.
    AnnouncementPost(MPI_Comm twin, Slot slot, const Members& members, int decider);

    int decider() const { return decider_; }

    /// The decider's, to all others.
    void send(const Announcement& announcement);
    /// What has arrived; it is passed on before it is returned. Does not block.
    std::vector<Announcement> receive();

    void report(const Report& report);
    /// The decider's: what ranks have reported.
    std::vector<Report> receive_reports();

    /// No sends are under way.
    bool idle() { return announcements_.idle() && reports_.idle(); }

  private:
    void pass_on(const Announcement& announcement, std::shared_ptr<const Post::Bytes> bytes);
    std::vector<int> listeners(const Route& route) const;
    int leader(int host) const;

    const Members& members_;
    const std::uint64_t owner_;
    const int decider_;
    Post announcements_;
    Post reports_;
};

}  // namespace mutirao::mpi
