#include "core/selection/decider.h"

#include <algorithm>
#include <utility>

namespace mutirao {
namespace {

/// A long quiet time is no licence.
constexpr double most_saved_up_us = 10e6;
/// A probe's calls are waited for so many times as long as they are expected to take, but not less than this.
constexpr double patience = 10, least_patience_us = 5e6;
/// Classes in which a change of another one is looked at: of all time, and so many.
constexpr double least_share = 0.01;
constexpr std::size_t most_clocked_again = 8;

}  // namespace

void Ledger::pay_in(double us) {
    if (balance_us_ < most_saved_up_us) balance_us_ += us;
}

void Decider::take_on(const ShapeClass& shapes, int reporters, bool watched) {
    classes_.try_emplace(shapes, shapes, reporters, watched);
}

ClassChoice* Decider::choice_of(const ShapeClass& shapes) {
    const auto found = classes_.find(shapes);
    return found == classes_.end() ? nullptr : &found->second;
}

const ClassChoice* Decider::find(const ShapeClass& shapes) const {
    const auto found = classes_.find(shapes);
    return found == classes_.end() ? nullptr : &found->second;
}

void Decider::on_outlook(const ShapeClass& shapes, Outlook outlook, const std::vector<Measured>& remembered,
                         const std::optional<Candidate>& preferred) {
    ClassChoice* const choice = choice_of(shapes);
    if (choice == nullptr || outlook.arms.empty()) return;
    choice->take(std::move(outlook));
    choice->remember(remembered);
    if (preferred && choice->is_untried()) choice->begin_with(*preferred);
    if (probing_ == choice && !choice->probing()) probing_ = nullptr;
}

void Decider::on_report(const TimeReport& report) {
    ClassChoice* const choice = choice_of(report.shapes);
    if (choice == nullptr || !choice->hear(report)) return;
    ledger_->charge(choice->still_to_charge_us());
    if (probing_ == choice) probing_ = nullptr;
}

std::vector<Decided> Decider::on_time(double now_us, std::span<const CallsMade> made) {
    const double before_us = std::exchange(counted_us_, now_us).value_or(now_us);
    for (const CallsMade& each : made) {
        const double in_us = now_us - none_until_us_.try_emplace(each.shapes, before_us).first->second;
        if (ClassChoice* const choice = choice_of(each.shapes)) ledger_->earn(choice->count(each.calls, in_us));
    }
    reinvest();
    if (probing_ != nullptr && now_us > probe_until_us_) std::exchange(probing_, nullptr)->give_up_probe();
    std::vector<Decided> decided;
    rule_what_changed(decided);
    if (probing_ == nullptr) begin_probe(now_us, decided);
    for (auto& [shapes, each] : classes_) {
        if (auto reason = each.newly_settled())
            decided.push_back({each.present(), false, std::move(*reason), each.measured()});
    }
    return decided;
}

// The promise is against native calls: of what is certainly saved, a share may be lost again in finding more.
void Decider::reinvest() {
    const Account all = account();
    const double saved_us = std::max(all.net_us() - all.error_us, 0.0);
    ledger_->reinvest(saved_us - std::exchange(reinvested_us_, saved_us));
}

void Decider::rule_what_changed(std::vector<Decided>& decided) {
    bool moves = false;
    for (auto& [shapes, each] : classes_) {
        if (!each.changed()) continue;
        moves = moves || each.moves();
        decided.push_back({each.rule(++last_id_), true, each.reason(), each.measured()});
    }
    clock_the_others(moves, decided);
}

// Where one class changes, ranks wait elsewhere in others: without what those take from then on nobody knows what was
// saved. Who is looked at for another reason has its turn after that.
void Decider::clock_the_others(bool one_moves, std::vector<Decided>& decided) {
    std::vector<ClassChoice*> others;
    for (auto& [shapes, each] : classes_) {
        const auto is_ruled = [&shapes](const Decided& one) { return one.ruling.shapes == shapes; };
        if (std::any_of(decided.begin(), decided.end(), is_ruled)) continue;
        if (one_moves) each.others_move();
        const bool is_next = one_moves ? each.can_be_clocked_again() : each.is_left_behind();
        if (is_next && each.share_of_time() >= least_share) others.push_back(&each);
    }
    const auto more = [](const ClassChoice* a, const ClassChoice* b) { return a->share_of_time() > b->share_of_time(); };
    std::sort(others.begin(), others.end(), more);
    if (others.size() > most_clocked_again) others.resize(most_clocked_again);
    for (ClassChoice* const each : others) {
        decided.push_back({each->rule(++last_id_), true, each->reason(), each->measured()});
    }
}

// In the class in which most is to be won per time, of those whose probe can be paid.
void Decider::begin_probe(double now_us, std::vector<Decided>& decided) {
    ClassChoice* best = nullptr;
    int arm = 0;
    for (auto& [shapes, each] : classes_) {
        if (!each.ready_for_probe()) continue;
        for (int i = 0; i < each.arm_count(); ++i) {
            const bool better = each.worth_a_probe(i) && (best == nullptr || each.promise(i) > best->promise(arm));
            if (!better || !ledger_->can_pay(each.price_us(i))) continue;
            best = &each;
            arm = i;
        }
    }
    if (best == nullptr) return;
    ledger_->charge(best->price_us(arm));
    std::string why = best->why_probed(arm);
    decided.push_back({best->rule_probe(++last_id_, arm), true, std::move(why), best->measured()});
    probing_ = best;
    const double expected_us = static_cast<double>(best->calls_clocked()) / std::max(best->calls_per_us(), 1e-12);
    probe_until_us_ = now_us + std::max(least_patience_us, patience * expected_us);
}

double Decider::expected_gain_us(std::span<const NativeTime> native) const {
    double gain_us = 0;
    for (const NativeTime& each : native) {
        const ClassChoice* const choice = find(each.shapes);
        const double share = choice == nullptr ? 1 : choice->least_predicted_share(each.time_us);
        gain_us += static_cast<double>(each.calls) * each.time_us * (1 - share);
    }
    return gain_us;
}

std::optional<double> Decider::saved_share() const {
    double sum = 0, unknown = 0;
    for (const auto& [shapes, each] : classes_) {
        const std::optional<double> own = each.saved_share();
        sum += own.value_or(0);
        if (!own && each.share_of_time() >= least_share) unknown += each.share_of_time();
    }
    if (unknown == 0) return sum;
    return sum > unknown ? std::optional(sum - unknown) : std::nullopt;
}

bool Decider::quiet() const {
    return probing_ == nullptr && std::none_of(classes_.begin(), classes_.end(),
                                               [](const auto& each) { return each.second.changed(); });
}

Account Decider::account() const {
    Account all;
    for (const auto& [shapes, each] : classes_) all.add(each.account());
    return all;
}

}  // namespace mutirao
