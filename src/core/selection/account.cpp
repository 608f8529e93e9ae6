#include "core/selection/account.h"

#include <cmath>
#include <utility>

namespace mutirao {

void Account::add(const Account& other) {
    took_us += other.took_us;
    saved_us += other.saved_us;
    error_us = std::hypot(error_us, other.error_us);
    probes_us += other.probes_us;
    unknown_calls += other.unknown_calls;
}

double Bookkeeping::count(std::uint64_t calls, const Running& running) {
    natively_ = running.natively;
    waiting_calls_ += calls;
    if (running.time_us <= 0) return 0;
    const std::uint64_t made = std::exchange(waiting_calls_, 0);
    const auto number = static_cast<double>(made);
    took_us_ = running.time_us;
    saved_us_ = 0;
    closed_.took_us += number * took_us_;
    if (natively_) return number * took_us_;
    const Ratio& native = running.native_to_it;
    if (!native.known()) {
        closed_.unknown_calls += made;
        return number * took_us_;
    }
    saved_us_ = (native.value - 1) * took_us_;
    closed_.saved_us += number * saved_us_;
    span_calls_ += number;
    span_error_us_ = deviations_of_95_percent * native.deviation() * native.value * took_us_;
    return number * took_us_;
}

double Bookkeeping::count_as_before(std::uint64_t calls) {
    const auto number = static_cast<double>(calls);
    closed_.took_us += number * took_us_;
    closed_.saved_us += number * saved_us_;
    return number * took_us_;
}

void Bookkeeping::compare_anew() {
    closed_ = account();
    span_calls_ = 0;
    waiting_calls_ = 0;
}

Account Bookkeeping::account() const {
    Account result = closed_;
    if (!natively_) result.unknown_calls += waiting_calls_;
    result.error_us = std::hypot(result.error_us, span_error_us_ * span_calls_);
    return result;
}

}  // namespace mutirao
