#include "mpi/decide/announcement_post.h"

#include <memory>

#include "core/algorithms/shape.h"
#include "core/text/invariant.h"

namespace mutirao::mpi {

AnnouncementPost::AnnouncementPost(MPI_Comm twin, Slot slot, const Members& members, int decider)
    : members_(members),
      decider_(decider),
      announcements_(twin, slot.announcements(), slot.owner()),
      reports_(twin, slot.reports(), slot.owner()) {}

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
        announcements_.send(members_.twin_rank_of[static_cast<std::size_t>(rank)], announcement.letter);
    }
}

void AnnouncementPost::send(const Announcement& announcement) {
    pass_on({announcement.route, announcements_.letter_of(encode(announcement))});
}

void AnnouncementPost::send(const Report& report) {
    const int decider = members_.twin_rank_of[static_cast<std::size_t>(decider_)];
    reports_.send(decider, reports_.letter_of(encode(report)));
}

std::vector<Announcement> AnnouncementPost::receive(std::optional<std::uint64_t> call) {
    std::vector<Announcement> heard;
    while (auto received = announcements_.receive()) {
        auto announcement =
            decode_announcement(received->content(), members_.rank_count(), members_.host_count());
        if (!announcement) {
            broken_invariant("a message that is no announcement (twin's rank, bytes)",
                             received->from, static_cast<long long>(received->letter->size()));
        }
        left_.push_back({announcement->route, received->letter});
        const bool can_wait = call && announcement->kind == Announcement::Kind::epoch && announcement->first_call > *call;
        if (!can_wait) {
            pass_on_what_was_left();  // in order
        }
        heard.push_back(std::move(*announcement));
    }
    return heard;
}

std::vector<Report> AnnouncementPost::receive_reports() {
    std::vector<Report> heard;
    while (const auto received = reports_.receive(1)) {
        if (auto report = decode_report(received->content(), members_.rank_count())) {
            heard.push_back(std::move(*report));
        }
    }
    return heard;
}

void AnnouncementPost::leave_sends_to(LeftBehind& left_behind) {
    for (Post* const each : {&announcements_, &reports_}) {
        const auto sends = std::make_shared<const Post::Sends>(each->take_sends());
        if (!sends->requests.empty()) {
            left_behind.abandon(sends->requests, sends);
        }
    }
}

}  // namespace mutirao::mpi
