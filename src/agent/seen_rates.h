// What a job has seen of bandwidth: how fast long messages came from other hosts. Links carry no less.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace mutirao::agent {

/// May be used by several threads.
class SeenRates {
  public:
    void add(int host, double bytes_per_us) {
        const std::lock_guard hold(mutex_);
        double& fastest = fastest_[host];
        fastest = std::max(fastest, bytes_per_us);
    }
    /// The fastest from each host since the last time.
    std::map<int, double> take() {
        const std::lock_guard hold(mutex_);
        return std::exchange(fastest_, {});
    }

  private:
    std::mutex mutex_;
    std::map<int, double> fastest_;
};

}  // namespace mutirao::agent
