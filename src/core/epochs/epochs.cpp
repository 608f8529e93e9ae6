#include "core/epochs/epochs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/invariant.h"

namespace mutirao {
namespace {

// A few quick calls say little about the pace of those to come, and an epoch cannot be cut short.
constexpr std::uint64_t most_growth = 4;
// So much faster than at the last look calls are taken to be: those that were held up may only be catching up.
constexpr double most_speedup = 2;
constexpr std::uint64_t most_horizon_calls = 100'000;
/// So many epochs go by until the ranks are asked again how far they are ahead.
constexpr std::uint32_t epochs_per_question = 4;
constexpr std::uint32_t most_keep_epochs = 1024;

/// So often in a row nobody must have been ahead before announcements hold at once.
constexpr int least_without_lead = 2;

/// With a quarter to spare.
std::uint64_t horizon_for(std::uint64_t lead_calls) {
    return std::min(lead_calls + lead_calls / 4, most_horizon_calls);
}

}  // namespace

std::uint64_t EpochDecider::epoch_calls(std::uint64_t call, double now_us) {
    if (!paced_us_ || call == paced_call_) {
        if (!paced_us_) {
            paced_us_ = now_us;
            paced_call_ = call;
        }
        return epoch_calls_;
    }
    const double measured_us = (now_us - *paced_us_) / static_cast<double>(call - paced_call_);
    us_per_call_ = std::max(measured_us, us_per_call_ / most_speedup);
    paced_us_ = now_us;
    paced_call_ = call;
    const double wanted = std::ceil(pace_.least_epoch_us / std::max(us_per_call_, 1e-3));
    const std::uint64_t most = std::min(most_growth * epoch_calls_, pace_.most_calls);
    // A call or two of rounding must not make an epoch of two calls where one would do.
    return wanted <= 1 ? 1 : static_cast<std::uint64_t>(std::min(wanted, static_cast<double>(most)));
}

void EpochDecider::adapt_horizon() {
    if (!heard_ || number_ < keep_horizon_until_) return;
    without_lead_ = largest_lead_ == 0 ? without_lead_ + 1 : 0;
    // A long horizon falls slowly: leads that long come and go.
    constexpr std::uint64_t long_horizon = 8;
    const bool at_once = epoch_calls_ == 1 && without_lead_ >= least_without_lead;
    const std::uint64_t least =
        horizon_calls_ > long_horizon ? horizon_calls_ * 3 / 4 : at_once ? 0 : 1;
    horizon_calls_ = std::max(horizon_for(largest_lead_), least);
}

Announcement EpochDecider::enter(std::uint64_t call, double now_us) {
    epoch_calls_ = epoch_calls(call, now_us);
    if (epoch_calls_ > 1) horizon_calls_ = std::max<std::uint64_t>(horizon_calls_, 1);
    Announcement made;
    made.number = ++number_;
    made.first_call = announced_until_;
    made.next_first_call = announced_until_ + epoch_calls_;
    made.sent_in_call = call;
    if (number_ >= asked_in_ + epochs_per_question || number_ == 1) {
        adapt_horizon();
        asked_in_ = number_;
        largest_lead_ = 0;
        heard_ = false;
        made.asks_for_lead = true;
    }
    made.horizon_calls = ahead_calls();
    announced_until_ = made.next_first_call;
    return made;
}

void EpochDecider::hear(const LeadReport& report) {
    heard_ = true;
    largest_lead_ = std::max(largest_lead_, report.lead_calls);
    // What was announced with a shorter horizon says nothing of this one.
    const bool waited = report.waited && report.number > raised_in_;
    const std::uint64_t wanted =
        std::max<std::uint64_t>(horizon_for(report.lead_calls),
                                waited ? std::max<std::uint64_t>(2 * horizon_calls_, 1) : 0);
    if (report.lead_calls > 0 || waited) without_lead_ = 0;
    if (wanted <= horizon_calls_) return;
    horizon_calls_ = std::min(wanted, most_horizon_calls);
    raised_in_ = number_;
    if (waited) {
        keep_horizon_until_ = number_ + keep_epochs_;
        keep_epochs_ = std::min(2 * keep_epochs_, most_keep_epochs);
    }
}

void EpochFollower::hear(Announcement announcement) {
    if (announcement.number > number_)
        announced_.emplace(announcement.number, std::move(announcement));
}

std::optional<Announcement> EpochFollower::advance() {
    auto announced = announced_.extract(number_ + 1);
    if (announced.empty()) return std::nullopt;
    const Announcement& epoch = announced.mapped();
    if (epoch.first_call != end_) {
        broken_invariant("an epoch begins where the one before ends",
                         static_cast<long long>(epoch.first_call), static_cast<long long>(end_));
    }
    number_ = epoch.number;
    calls_ = epoch.next_first_call - epoch.first_call;
    end_ = epoch.next_first_call;
    return std::move(announced.mapped());
}

bool EpochFollower::worth_reporting(const Announcement& heard, std::uint64_t lead_calls) {
    constexpr std::uint64_t least_with_a_margin = 4;
    const std::uint64_t margin = heard.horizon_calls / 8;
    const bool close = heard.horizon_calls >= least_with_a_margin &&
                       lead_calls + margin > heard.horizon_calls;
    return heard.asks_for_lead || close || lead_calls > heard.horizon_calls;
}

}  // namespace mutirao
