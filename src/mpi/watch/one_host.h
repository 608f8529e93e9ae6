// A job on one host has no links to be measured: what is known of its network is how fast the host is.
#pragma once

#include <mutex>
#include <optional>

#include "mpi/watch/network_source.h"

namespace mutirao::mpi {

class OneHost final : public NetworkSource {
  public:
    /// The first time takes some 2 ms: the host is measured then.
    std::optional<NetworkView> newer_than(std::uint64_t seen) override;
    std::string about() const override { return "where there is no network to watch"; }

  private:
    std::mutex mutex_;
    std::optional<NetworkView> view_;
};

}  // namespace mutirao::mpi
