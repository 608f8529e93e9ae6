#include "mpi/job/twin.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "core/text/bytes.h"
#include "mpi/base/environment.h"
#include "mpi/base/native.h"
#include "mpi/base/runtime.h"
#include "mpi/base/waiting.h"
#include "mpi/watch/in_band.h"

namespace mutirao::mpi {
namespace {

int largest_tag() {
    int* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
    constexpr int guaranteed = 32767;
    return found != 0 ? *value : guaranteed;
}

std::size_t left_behind_limit() {
    return may_leave_sends_behind() ? static_cast<std::size_t>(limits_of_this_host().buffer_bytes) : 0;
}

/// By rank of `group`, their ranks in `among`.
std::vector<int> ranks_in(MPI_Group group, MPI_Group among) {
    int size = 0;
    PMPI_Group_size(group, &size);
    std::vector<int> own(static_cast<std::size_t>(size)), translated(own.size());
    std::iota(own.begin(), own.end(), 0);
    PMPI_Group_translate_ranks(group, size, own.data(), among, translated.data());
    return translated;
}

}  // namespace

// By its group and not as a duplicate, which would run the program's attribute callbacks.
std::shared_ptr<Twin> Twin::make(MPI_Comm comm, std::shared_ptr<Peers> peers) {
    const ErrorsReturned errors_returned(comm);
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    PMPI_Comm_group(comm, &group);
    const int error = PMPI_Comm_create(comm, group, &made);
    PMPI_Group_free(&group);
    if (error != MPI_SUCCESS || made == MPI_COMM_NULL) {
        return nullptr;
    }
    return std::shared_ptr<Twin>(new Twin(made, std::move(peers)));
}

Twin::Twin(MPI_Comm comm, std::shared_ptr<Peers> peers)
    : comm_(comm), peers_(std::move(peers)), slots_(slot_count(largest_tag())),
      left_behind_(left_behind_limit()) {
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    PMPI_Comm_group(comm_, &group_);
    int my_rank = 0;
    PMPI_Comm_rank(comm_, &my_rank);
    const std::vector<int> ranks = ranks_in(group_, peers_->group());
    world_ = part_of(peers_->world(), ranks, my_rank);
    id_ = fnv1a(std::as_bytes(std::span(ranks))) ^ peers_->id();
    source_ = peers_->source();
    lookout_ = peers_->lookout();
    if (wants_in_band(runtime().settings) && world_.host_count() > 1) {
        source_ = std::make_shared<InBandSource>(comm_, Slot(0).in_band(), world_, runtime().settings);
        std::iota(world_.source_host.begin(), world_.source_host.end(), 0);
        lookout_ = std::make_shared<Lookout>(source_, world_.my_host(), runtime().settings, world_.sockets);
    }
}

void Twin::saw(int twin_rank, double bytes_per_us) {
    const int host = world_.placement->host_of(twin_rank);
    if (source_ && host != world_.my_host()) {
        source_->saw(world_.source_host[static_cast<std::size_t>(host)], bytes_per_us);
    }
}

// A rank may send to another up to the end of its last call, when the other may be no more. Open MPI's
// MPI_Finalize waits for all; MPICH's does not, and over libfabric tries for ever to reach who has left.
void Twin::begin_farewell() {
    left_behind_.wait();
    if (carrier() != Carrier::other) {
        PMPI_Ibarrier(comm_, &farewell_);
    }
}

void Twin::end_farewell() {
    Patience patience;
    for (int done = 0; done == 0; patience.rest()) {
        PMPI_Test(&farewell_, &done, MPI_STATUS_IGNORE);
    }
    if (carrier() == Carrier::ucx) {
        receive_what_is_left();
    }
}

// Announcements that nobody needs any more.
void Twin::receive_what_is_left() {
    std::vector<std::byte> unread;
    for (int here = 1; here != 0;) {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &here, &message, &status);
        if (here != 0) {
            int length = 0;
            PMPI_Get_count(&status, MPI_BYTE, &length);
            unread.resize(static_cast<std::size_t>(length));
            PMPI_Mrecv(unread.data(), length, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        }
    }
}

void Twin::stop_measuring() {
    lookout_.reset();
    source_.reset();
}

}  // namespace mutirao::mpi
