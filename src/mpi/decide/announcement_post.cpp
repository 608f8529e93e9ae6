#include "mpi/decide/announcement_post.h"

#include <memory>
#include <utility>

#include "core/algorithms/shape.h"
#include "core/text/invariant.h"

namespace mutirao::mpi {

AnnouncementPost::AnnouncementPost(MPI_Comm twin, Slot slot, const Members& members, int decider)
    : members_(members),
      owner_(slot.owner()),
      decider_(decider),
      announcements_(twin, slot.announcements()),
      reports_(twin, slot.reports()) {}

// Whom this rank tells.
std::vector<int> AnnouncementPost::listeners(const Route& route) const {
    const int me = members_.my_rank;
    const int ranks = members_.rank_count();
    std::vector<int> all;
    switch (route.kind) {
        case Route::Kind::straight:
            for (int rank = 0; me == decider_ && rank < ranks; ++rank) {
                if (rank != me) all.push_back(rank);
            }
            return all;
        case Route::Kind::binomial: {
            const TreePlace place = k_nomial_place(virtual_rank(me, decider_, ranks), ranks, 2);
            return with_real_ranks(place, decider_, ranks).children;
        }
        case Route::Kind::hosts: break;
    }
    // Who speaks for a host: the decider for its own, so that nothing is told twice.
    const auto leader = [&](int host) { return members_.placement->leader(host, decider_); };
    const int here = members_.placement->host_of(me);
    if (leader(here) != me) {
        return all;
    }
    for (std::size_t host = 0; host < route.parent_of_host.size(); ++host) {
        if (route.parent_of_host[host] == here) all.push_back(leader(static_cast<int>(host)));
    }
    for (const int rank : members_.placement->ranks_of(here)) {
        if (rank != me) all.push_back(rank);
    }
    return all;
}

void AnnouncementPost::pass_on(const Passed& announcement) {
    for (const int rank : listeners(announcement.route)) {
        announcements_.send(members_.twin_rank_of[static_cast<std::size_t>(rank)], announcement.bytes);
    }
}

void AnnouncementPost::send(const Announcement& announcement) {
    pass_on({announcement.route, std::make_shared<const Post::Bytes>(encode(announcement))});
}

void AnnouncementPost::send(const Report& report) {
    const int decider = members_.twin_rank_of[static_cast<std::size_t>(decider_)];
    reports_.send(decider, std::make_shared<const Post::Bytes>(encode(report, owner_)));
}

std::vector<Announcement> AnnouncementPost::receive(std::optional<std::uint64_t> call) {
    std::vector<Announcement> heard;
    while (auto received = announcements_.receive()) {
        auto announcement =
            decode_announcement(received->bytes, members_.rank_count(), members_.host_count());
        if (!announcement) {
            broken_invariant("a message that is no announcement (twin's rank, bytes)",
                             received->from, static_cast<long long>(received->bytes.size()));
        }
        left_.push_back({announcement->route, std::make_shared<const Post::Bytes>(std::move(received->bytes))});
        const bool can_wait = call && announcement->kind == Announcement::Kind::epoch && announcement->first_call > *call;
        if (!can_wait) {
            pass_on_what_was_left();  // in order: nothing follows the last one
        }
        heard.push_back(std::move(*announcement));
    }
    return heard;
}

std::vector<Report> AnnouncementPost::receive_reports() {
    std::vector<Report> heard;
    while (const auto received = reports_.receive(1)) {
        if (auto report = decode_report(received->bytes, members_.rank_count(), owner_)) {
            heard.push_back(std::move(*report));
        }
    }
    return heard;
}

}  // namespace mutirao::mpi
