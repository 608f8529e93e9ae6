#include "core/selection/account.h"

#include <cmath>
#include <utility>

#include "core/selection/samples.h"

namespace mutirao {

void Account::add(const Account& other) {
    took_us += other.took_us;
    saved_us += other.saved_us;
    error_us = std::hypot(error_us, other.error_us);
    probes_us += other.probes_us;
    unknown_calls += other.unknown_calls;
}

void Saving::add(double mean_us) {
    if (present_us_.size() == most_block) present_us_.erase(present_us_.begin());
    present_us_.push_back(mean_us);
}

Difference Saving::step() const {
    if (!moved_ || before_us_.empty() || present_us_.size() < least_block) return {};
    return median_difference(before_us_, present_us_);
}

void Saving::add_step() {
    Difference& sum = by_itself_ ? own_ : others_;
    sum = sum + step();
    begun_ = begun_ || by_itself_;
    if (by_itself_ && probed_) *probed_ = *probed_ + step();
    moved_ = by_itself_ = false;
}

// Too few calls are no block: whatever comes next follows the block before. Without one nobody knows what changed.
void Saving::close(bool own) {
    if (present_us_.size() >= least_block) {
        add_step();
        before_us_ = std::move(present_us_);
        anew_ = false;
    }
    present_us_.clear();
    moved_ = true;
    by_itself_ = by_itself_ || own;
    known_ = known_ && !(own && before_us_.empty());
}

void Saving::own_change() { close(true); }
void Saving::others_change() { close(false); }

bool Saving::compare(const std::vector<double>& native_us) {
    if (present_us_.size() < least_block || native_us.empty()) return false;
    add_step();
    before_us_ = present_us_;
    const Difference native_more = median_difference(native_us, present_us_);
    probed_ = probed_ ? probed_->renewed_by(native_more) : native_more;
    return true;
}

void Saving::begin_anew(bool as_before) {
    if (as_before && is_behind()) return;  // what was changed before is still to be seen
    known_ = known_ && !(by_itself_ && is_behind());
    add_step();
    own_.doubt();
    if (probed_) probed_->doubt();
    before_us_ = as_before ? std::exchange(present_us_, {}) : std::vector<double>{};
    present_us_.clear();
    anew_ = true;
}

void Saving::forget(bool native_runs) {
    *this = {};
    known_ = native_runs;
}

double Saving::time_us() const {
    if (!present_us_.empty()) return median_of(present_us_);
    return by_itself_ || anew_ || before_us_.empty() ? 0 : median_of(before_us_);
}

// A few native calls on probe go over connections that what runs otherwise has kept open, or closed. However often they
// agree with each other, what its calls took in a row is as likely to be what a program without us waits for.
std::optional<Difference> Saving::per_call() const {
    if (!known_ && !probed_) return std::nullopt;
    if (!begun_ && by_itself_ && is_behind()) return std::nullopt;
    const Difference own = !known_ ? *probed_ : probed_ ? own_.renewed_by(*probed_) : own_;
    return own + others_ + step();
}

double Bookkeeping::count(std::uint64_t calls, const Running& running) {
    natively_ = running.natively;
    waiting_calls_ += calls;
    if (running.time_us <= 0) return 0;
    const std::uint64_t made = std::exchange(waiting_calls_, 0);
    const auto number = static_cast<double>(made);
    took_us_ = running.time_us;
    closed_.took_us += number * took_us_;
    if (!running.saved) {
        saved_us_ = 0;
        if (!natively_) uncompared_calls_ += made;
        return number * took_us_;
    }
    const double before_us = std::exchange(saved_us_, running.saved->us);
    const double behind_calls = running.saved_is_behind ? 0 : std::exchange(behind_calls_, 0);
    if (running.saved_is_behind) behind_calls_ += number;
    const auto compared_now = number + static_cast<double>(std::exchange(uncompared_calls_, 0));
    closed_.saved_us += compared_now * saved_us_ + behind_calls * (saved_us_ - before_us);
    span_calls_ += compared_now;
    span_error_us_ = deviations_of_95_percent * std::sqrt(running.saved->variance_us2);
    return number * took_us_;
}

double Bookkeeping::count_as_before(std::uint64_t calls) {
    const auto number = static_cast<double>(calls);
    if (natively_ && took_us_ == 0) untimed_native_calls_ += calls;
    closed_.took_us += number * took_us_;
    closed_.saved_us += number * saved_us_;
    return number * took_us_;
}

void Bookkeeping::compare_anew() {
    const std::uint64_t uncompared_calls = std::exchange(uncompared_calls_, 0);
    another_runs();
    uncompared_calls_ = uncompared_calls;
}

void Bookkeeping::another_runs() {
    closed_ = account();
    span_calls_ = 0;
    if (natively_) untimed_native_calls_ += waiting_calls_;
    waiting_calls_ = uncompared_calls_ = 0;
}

Account Bookkeeping::account() const {
    // What other classes' changes did to calls that were not clocked since is not known: in loops of several classes
    // up to this share of what was measured in one.
    constexpr double doubt_while_behind = 0.4;
    Account result = closed_;
    result.unknown_calls += uncompared_calls_ + (natively_ ? 0 : waiting_calls_);
    result.error_us = std::hypot(result.error_us, span_error_us_ * span_calls_,
                                 doubt_while_behind * behind_calls_ * saved_us_);
    return result;
}

}  // namespace mutirao
