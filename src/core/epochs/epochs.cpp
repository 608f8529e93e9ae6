#include "core/epochs/epochs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/invariant.h"

namespace mutirao {
namespace {

// Words must be there in time, although they may wait at hosts that are not inside a call.
constexpr double epoch_per_travel = 1.2;
constexpr double least_epoch_us = 200'000;
// A few quick calls, at the beginning above all, say little about the pace of those to come; and an
// epoch that has become too long in calls cannot be cut short.
constexpr double most_growth = 2;
constexpr double most_calls = 100'000;
// Before any two calls: so slow that one call makes an epoch.
constexpr double no_pace_us = 1e300;

}  // namespace

double EpochDecider::us_per_call(double now_us) const {
    const std::uint64_t calls = next_begin_ - paced_call_;
    return calls == 0 ? no_pace_us : (now_us - paced_us_) / static_cast<double>(calls);
}

std::optional<Epoch> EpochDecider::enter(std::uint64_t call, double now_us, double travel_us) {
    if (call < next_begin_) {
        paced_call_ = call;
        paced_us_ = now_us;
        wake_ = next_begin_;
        return std::nullopt;
    }
    const double epoch_us = std::max(least_epoch_us, epoch_per_travel * travel_us);
    const double calls = std::clamp(std::ceil(epoch_us / std::max(us_per_call(now_us), 1e-3)), 1.0,
                                    std::min(most_growth * calls_, most_calls));
    calls_ = calls;
    Epoch epoch;
    epoch.number = ++number_;
    epoch.first_call = told_until_;
    epoch.next_first_call = told_until_ + static_cast<std::uint64_t>(calls);
    paced_call_ = call;
    paced_us_ = now_us;
    wake_ = call + 1;
    next_begin_ = std::exchange(told_until_, epoch.next_first_call);
    return epoch;
}

void EpochFollower::hear(Epoch epoch) {
    if (epoch.number > number_) told_.emplace(epoch.number, std::move(epoch));
}

std::optional<Epoch> EpochFollower::advance() {
    auto told = told_.extract(number_ + 1);
    if (told.empty()) return std::nullopt;
    const Epoch& epoch = told.mapped();
    if (epoch.first_call != next_begin_) {
        broken_invariant("an epoch begins where the one before ends",
                         static_cast<long long>(epoch.first_call),
                         static_cast<long long>(next_begin_));
    }
    number_ = epoch.number;
    begin_ = epoch.first_call;
    next_begin_ = epoch.next_first_call;
    return std::move(told.mapped());
}

}  // namespace mutirao
