#include "mpi/watch/one_host.h"

#include "agent/sensors/host_speed.h"

namespace mutirao::mpi {

std::optional<NetworkView> OneHost::newer_than(std::uint64_t seen) {
    const std::lock_guard lock(mutex_);
    if (!view_) {
        view_.emplace();
        view_->changes = 1;
        view_->host_count = 1;
        view_->latency_us = view_->last_known_us = {0.0};
        view_->host_speeds = {agent::measure_host_speed()};
    }
    return seen == view_->changes ? std::nullopt : view_;
}

}  // namespace mutirao::mpi
