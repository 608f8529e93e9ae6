#include "core/selection/class_choice.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/units.h"

namespace mutirao {
namespace {

/// What is not faster by more than this is as fast: ties are the MPI library's, and the incumbent's.
constexpr double tie_margin = 0.03;
/// As near to the lower bound as this nothing is left to be won.
constexpr double near_bound = 1.05;
/// Of the lower bound.
constexpr double flood_share = 0.25;
/// After news a rival takes over if it is predicted to be faster by both.
constexpr double news_margin = 0.05, news_margin_us = 50;
/// Predictions that changed by less leave what was found out as it is.
constexpr double changed_ratio = 1.2;
/// What is predicted to be gained as before, but for this share, is taken to be saved as before.
constexpr double usual_change = 0.25;

constexpr double connecting_pays_from = 2;
constexpr int most_probes = 3;
constexpr double first_probe_us = 200;
constexpr std::uint32_t most_probe_samples = 8;
/// The incumbent's calls that must be known before anything is tried; if they are long ago they are not enough.
constexpr std::size_t least_controls = 3;
constexpr std::size_t enough_controls = 8;
/// Of fewer that scatter by more, some may be of another pace: a program's first calls seldom are as all others.
constexpr double most_scatter_of_few = 0.3;
constexpr std::uint64_t recent_calls = 32;
/// The incumbent's first calls after a probe are the probe's, too.
constexpr std::uint32_t charged_after_probe = 2;
/// Of a new incumbent, clocked to see whether it keeps what its probe promised.
constexpr std::uint32_t confirming_samples = 8;
constexpr std::size_t least_confirming = 4;
constexpr std::uint64_t first_control_calls = 64;
/// The same of one that runs by prediction alone and may be slower, and after any news.
constexpr std::uint64_t first_check_calls = 14;
/// By so much an arm must be predicted to be faster, where predictions err by no more than that.
constexpr double least_promise = 0.1, most_trusted_error = 0.5;
/// What takes so many times as long as predicted either waits for late ranks, whatever runs, or is not known well.
constexpr double far_beyond = 3;
/// Of a time over what is predicted.
constexpr double most_miss = 1.5, least_miss = 0.1;
/// Times of an earlier job are right by this.
constexpr double remembered_error = 0.15;
/// A probe whose last call took so much less than the one before has not yet shown what the arm can do. Unless it is
/// far slower it is taken to go on like that for a call, known as well as a prediction.
constexpr double still_warming = 0.75, far_slower = 2, warming_variance = 0.01;
/// What one that goes back is taken to be known by.
constexpr double returning_variance = 1e-4;

std::string with_time(const Arm& arm, double time_us) {
    return to_string(arm.candidate) + " " + duration(time_us);
}

/// Native was measured long ago: that counts less, and nothing if it does not agree with what is measured now.
Ratio renewed(Ratio before, const Ratio& now) {
    if (!before.known() || !now.known()) return now.known() ? now : before;
    before.variance *= 2;
    const double apart = std::abs(before.value - now.value) / now.value;
    return apart > clear_deviations * std::sqrt(before.variance + now.variance) ? now : now.with(before);
}

bool is_one_way(Collective collective) {
    return row_of(collective).rooted || collective == Collective::scan || collective == Collective::exscan;
}

}  // namespace

ClassChoice::ClassChoice(const ShapeClass& shapes, int reporters, bool watched)
    : shapes_(shapes), watched_(watched), clocked_(reporters, is_one_way(shapes.collective)) {}

// --- what is expected --------------------------------------------------------------------------------

double ClassChoice::predicted_us(const Rival& rival) const {
    return (rival.warm_us + coldness_ * (rival.cold_us - rival.warm_us)) * slower(rival);
}

double ClassChoice::usual_miss() const {
    for (const int number : {0, incumbent_}) {
        if (rival(number).miss > 0) return rival(number).miss;
    }
    return 1;
}

double ClassChoice::scaled_us(const Rival& rival) const {
    return predicted_us(rival) * (rival.miss > 0 ? rival.miss : usual_miss());
}

double ClassChoice::by_prediction_us(const Rival& rival) const {
    return waiting_us_.value_or(0) + scaled_us(rival);
}

/// The root goes on before the last message has arrived: calls take less than the bound, and say nothing of what a
/// message takes.
bool ClassChoice::calls_overlap() const {
    return times_.size() > 0 && ends_within(1, times_.time_us());
}

/// Several messages of one root are under way at a time: what each of them takes is not what the program waits for, and
/// predictions tell nothing else.
bool ClassChoice::is_flood(double time_us) const { return ends_within(flood_share, time_us); }

bool ClassChoice::ends_within(double share_of_bound, double time_us) const {
    return clocked_.one_way() && calls_are_alone() && bound_us_ && time_us < share_of_bound * *bound_us_;
}

double ClassChoice::incumbent_us() const {
    return times_.size() > 0 && !calls_overlap() ? times_.time_us() : by_prediction_us(rival(incumbent_));
}

double ClassChoice::native_us() const {
    const Rival& native = rival(0);
    if (native_runs()) return incumbent_us();
    return native.to_incumbent.known() ? native.to_incumbent.value * incumbent_us() : by_prediction_us(native);
}

const Ratio& ClassChoice::best_known(const Rival& rival) {
    return rival.settling.known() ? rival.settling : rival.to_incumbent;
}

double ClassChoice::expected_us(int number) const {
    const Rival& it = rival(number);
    if (number == incumbent_) return incumbent_us();
    if (const Ratio& ratio = best_known(it); ratio.known()) return ratio.value * incumbent_us();
    return it.remembered ? *it.remembered * native_us() : by_prediction_us(it);
}

/// By which share it may take more or less than expected.
double ClassChoice::doubt(int number) const {
    const Rival& it = rival(number);
    if (const Ratio& ratio = best_known(it); ratio.known()) return clear_deviations * ratio.deviation();
    return it.remembered ? remembered_error : error_;
}

/// What is waited for, whatever runs, is not in doubt.
double ClassChoice::most_us(int number) const {
    const Rival& it = rival(number);
    const bool by_prediction = !best_known(it).known() && !it.remembered;
    const double waiting_us = by_prediction ? waiting_us_.value_or(0) : 0;
    const double us = expected_us(number);
    return us + doubt(number) * (us - waiting_us);
}

/// A probe's first call goes over connections that lie idle. Native has those of the program's first calls.
double ClassChoice::most_at_first_us(int number) const {
    if (number == 0) return most_us(number);
    const Rival& it = rival(number);
    const double miss = it.miss > 0 ? it.miss : usual_miss();
    return std::max(most_us(number), waiting_us_.value_or(0) + it.cold_us * miss);
}

/// Nearly all of the incumbent's calls take more.
double ClassChoice::low_quantile_us() const {
    return incumbent_us() * (1 - deviations_of_95_percent * relative_scatter(times_.times_us));
}

/// On this network.
const SampleSeries& ClassChoice::series_of(int number) const {
    return number == incumbent_ ? times_ : rival(number).times;
}

// What calls were measured to take, beside what is predicted of them, tells how warm connections are, and how wrong
// the predictions of this class are. What is beyond any such error is the program's own: ranks wait for late ones,
// whatever runs. That changes with the network, too, as the program's other messages go over it; errors do not.
void ClassChoice::learn_from_times() {
    const auto known = [this](int number) { return series_of(number).size() >= (number == incumbent_ ? 2 : 1); };
    for (int i = 0; i < arm_count(); ++i) {
        if (!known(i)) continue;
        const Rival& it = rival(i);
        const double time_us = series_of(i).time_us(), span_us = it.cold_us - it.warm_us;
        if (i == 0 && native_runs() && span_us > 0)
            coldness_ = std::clamp((time_us - it.warm_us) / span_us, 0.0, 1.0);
        if (i == 0 && native_runs() && it.slowest_ratio > 1) {
            slow_native_ = 0;
            slow_native_ = std::clamp((time_us / predicted_us(it) - 1) / (it.slowest_ratio - 1), 0.0, 1.0);
        }
        const double miss = paced_ ? 1 : heard_news_ && it.miss > 0 ? it.miss : most_miss;
        const double beyond_us = std::max(time_us - miss * predicted_us(it), 0.0);
        waiting_us_ = std::min(waiting_us_.value_or(beyond_us), beyond_us);  // a link that got slower is no lateness
    }
    for (int i = 0; i < arm_count(); ++i) {
        if (!known(i)) continue;
        rival(i).miss = miss_of(rival(i), series_of(i).time_us());
        misses_[rival(i).arm.candidate.algorithm] = rival(i).miss;
    }
}

double ClassChoice::miss_of(const Rival& rival, double time_us) const {
    if (paced_ || calls_overlap()) return 1;
    return std::max(time_us - waiting_us_.value_or(0), least_miss * predicted_us(rival)) / predicted_us(rival);
}

// --- predictions ---------------------------------------------------------------------------------------

void ClassChoice::take(Outlook outlook) {
    std::vector<Rival> fresh;
    for (Prospect& each : outlook.arms) fresh.push_back({std::move(each.arm), each.cold_us, each.warm_us, each.slowest_ratio, each.connecting_us});
    error_ = outlook.error;
    bound_us_ = outlook.bound_us;
    if (rivals_.empty()) {
        rivals_ = std::move(fresh);
        return learn_from_times();
    }
    if (!are_news(outlook.news_us, fresh)) return refine(std::move(fresh), outlook.news_us > 0);
    // Whatever is on probe ends without a verdict: the network that it began on is gone.
    give_up_probe();
    challenged_ = -1;
    const std::vector<Rival> before = std::exchange(rivals_, std::move(fresh));
    carry_over(before, before[static_cast<std::size_t>(std::exchange(incumbent_, 0))]);
}

// A link that changes by little beside what calls take may be as slow as the program's own messages make it for a moment.
// A reply that is overdue makes it longer little by little, too: predictions are held against those of the last news.
bool ClassChoice::are_news(double news_us, const std::vector<Rival>& fresh) const {
    constexpr double least_share = 0.1;
    if (news_us == 0 || news_us > least_share * incumbent_us()) return news_us > 0;
    const auto differ = [](double a_us, double b_us) { return std::max(a_us, b_us) >= changed_ratio * std::min(a_us, b_us); };
    return std::ranges::any_of(fresh, [&](const Rival& now) {
        return std::ranges::any_of(rivals_, [&](const Rival& old) {
            return old.arm == now.arm &&
                   (differ(now.cold_us, old.heeded.cold_us) || differ(now.warm_us, old.heeded.warm_us));
        });
    });
}

// What runs or was measured stays, with what is predicted of it now; the others are those of the new outlook.
void ClassChoice::refine(std::vector<Rival> fresh, bool news_are_ignored) {
    std::vector<Rival> kept;
    const auto place_of = [&](int number) { return number < 0 ? -1 : static_cast<int>(kept.size()); };
    int incumbent = -1, probed = -1, challenged = -1;
    for (int i = 0; i < arm_count(); ++i) {
        const bool runs = i == incumbent_ || i == probed_ || i == challenged_;
        Rival& it = rival(i);
        const auto same = std::find_if(fresh.begin(), fresh.end(), [&](const Rival& each) {
            return each.arm.candidate == it.arm.candidate;
        });
        if (!runs && !it.to_incumbent.known() && i != 0) continue;
        if (i == incumbent_) incumbent = place_of(i);
        if (i == probed_) probed = place_of(i);
        if (i == challenged_) challenged = place_of(i);
        if (same != fresh.end()) {
            it.cold_us = same->cold_us;
            it.warm_us = same->warm_us;
            if (!news_are_ignored) it.heeded = same->heeded;
            it.slowest_ratio = same->slowest_ratio;
            fresh.erase(same);
        }
        kept.push_back(std::move(it));
    }
    constexpr std::size_t most_rivals = 16;
    for (Rival& each : fresh) {
        if (kept.size() < most_rivals) kept.push_back(std::move(each));
    }
    rivals_ = std::move(kept);
    incumbent_ = incumbent;
    probed_ = probed;
    challenged_ = challenged;
    told_settled_ = false;
    learn_from_times();
}

// What was measured holds where the prediction is as it was; elsewhere it scales what is predicted now.
void ClassChoice::carry_over(const std::vector<Rival>& before, const Rival& ran) {
    const auto as_before = [&](const Rival& now, const Rival& old) {
        const double ratio = predicted_us(now) / predicted_us(old);
        return ratio < changed_ratio && ratio > 1 / changed_ratio;
    };
    // Another may have become the incumbent while this outlook was thought of: it is compared as it was predicted.
    const auto is_ran = [&ran](const Rival& each) { return each.arm == ran.arm; };
    if (std::none_of(rivals_.begin(), rivals_.end(), is_ran)) {
        rivals_.push_back({ran.arm, ran.cold_us, ran.warm_us, ran.slowest_ratio, 0});
    }
    bool runs_as_before = false;
    for (int i = 0; i < arm_count(); ++i) {
        Rival& each = rival(i);
        if (each.arm == ran.arm) {
            incumbent_ = i;
            runs_as_before = as_before(each, ran);
        }
        for (const Rival& old : before) {
            if (old.arm.candidate != each.arm.candidate) continue;
            if (predicted_us(each) * changed_ratio < predicted_us(old)) each.improved = true;
            each.miss = old.miss;
        }
        if (each.miss == 0) each.miss = misses_[each.arm.candidate.algorithm];
    }
    for (Rival& each : rivals_) {
        for (const Rival& old : before) {
            if (!runs_as_before || !(old.arm == each.arm) || !as_before(each, old)) continue;
            each.to_incumbent = old.to_incumbent;
            each.times = old.times;
            each.probes = old.probes;
            each.closed = old.closed;
        }
    }
    const auto gain_us = [this](const Rival& native, const Rival& it) { return predicted_us(native) - predicted_us(it); };
    const double before_us = gain_us(before.front(), ran), now_us = gain_us(rival(0), rival(incumbent_));
    follow_the_news(runs_as_before, std::abs(now_us - before_us) <= usual_change * std::abs(before_us));
}

// Only algorithms that were measured once, before the news, are known well enough to rule without a probe. What is no longer
// measured to be faster than the MPI library's own must be predicted to be. Where neither what runs nor another is
// predicted to take another time than before, predictions say no more than they did: by their error it must be faster.
// The same over another tree is no other: it was found faster than native, and news come piece by piece. What was once
// waited for may look like an error of predictions, so these themselves must name what takes over.
int ClassChoice::best_after_news(bool runs_as_before) const {
    int best = incumbent_;
    for (int i = 0; i < arm_count(); ++i) {
        const Rival& it = rival(i);
        const bool eligible = i == 0 || (it.miss > 0 && predicted_us(it) < predicted_us(rival(incumbent_)));
        if (eligible && !it.closed && !it.to_incumbent.known() && after_news_us(i) < after_news_us(best)) best = i;
    }
    const bool as_before = runs_as_before && !rival(best).improved;
    const double margin = as_before ? std::max(error_, news_margin) : news_margin;
    if (!is_clearly_faster(best, incumbent_, margin)) best = incumbent_;
    const bool proven = runs_as_before && best == incumbent_;
    const bool goes_on = rival(best).arm.candidate == rival(incumbent_).arm.candidate;
    return proven || is_clearly_faster(best, 0, goes_on ? 0 : news_margin) ? best : 0;
}

/// By prediction, what runs, too: what its calls took holds what ranks waited for, which the news may have changed.
double ClassChoice::after_news_us(int number) const {
    const Rival& it = rival(number);
    const Ratio& ratio = best_known(it);
    return number != incumbent_ && ratio.known() ? ratio.value * by_prediction_us(rival(incumbent_)) : by_prediction_us(it);
}

/// Apart from what is waited for, whatever runs.
bool ClassChoice::is_clearly_faster(int number, int other, double margin) const {
    const double us = after_news_us(number), other_us = after_news_us(other), waiting_us = waiting_us_.value_or(0);
    return us < other_us - news_margin_us && us - waiting_us < (other_us - waiting_us) * (1 - margin);
}

// By predictions alone, scaled by what was measured. An incumbent that stays is clocked anew if it changed.
void ClassChoice::follow_the_news(bool runs_as_before, bool gains_as_before) {
    told_settled_ = false;
    next_control_ = std::max(next_control_, calls_ + first_check_calls);
    if (!runs_as_before) times_ = {};
    const int best = best_after_news(runs_as_before);
    times_are_old_ = runs_as_before && best == incumbent_;
    if (times_are_old_) return saving_.begin_anew(true);
    moves_ = best != incumbent_;
    if (best == incumbent_) {
        reason_ = "the network changed: predicted " + duration(incumbent_us()) + " now, and no other is clearly faster";
    } else {
        reason_ = "the network changed: predicted " + duration(after_news_us(best)) + ", " +
                  with_time(rival(incumbent_).arm, after_news_us(incumbent_));
        for (Rival& each : rivals_) each.to_incumbent = {};
    }
    books_.another_runs();
    native_before_.reset();
    clock_anew();
    if (moves_ || !gains_as_before) {
        saving_.forget(best == 0);
    } else {
        saving_.begin_anew(false);
    }
    incumbent_ = best;
    next_control_ = calls_ + (native_may_be_faster() ? first_check_calls : first_control_calls);
    changed_ = true;
}

/// Than what runs by prediction alone, as far as predictions err.
bool ClassChoice::native_may_be_faster() const {
    return scaled_us(rival(0)) / (1 + error_) < scaled_us(rival(incumbent_)) * (1 + error_);
}

// What was learned of predictions' errors stays.
void ClassChoice::clock_anew() {
    times_ = {};
    for (Rival& each : rivals_) each.times = {};
    waiting_us_.reset();
    heard_news_ = true;
}

void ClassChoice::remember(const std::vector<Measured>& remembered) {
    const auto native = std::find_if(remembered.begin(), remembered.end(),
                                     [](const Measured& each) { return each.candidate.native(); });
    if (native == remembered.end() || native->time_us.median <= 0) return;
    for (Rival& each : rivals_) {
        for (const Measured& known : remembered) {
            if (known.candidate == each.arm.candidate)
                each.remembered = known.time_us.median / native->time_us.median;
        }
    }
}

bool ClassChoice::is_untried() const {
    return native_runs() && !probing() && !heard_news_ &&
           std::none_of(rivals_.begin(), rivals_.end(), [](const Rival& each) { return each.probes > 0; });
}

// Native is probed soon, to see whether that is still right.
void ClassChoice::begin_with(const Candidate& preferred) {
    for (int i = 1; i < arm_count(); ++i) {
        if (!(rival(i).arm.candidate == preferred)) continue;
        incumbent_ = i;
        times_ = {};
        next_control_ = calls_ + confirming_samples;
        reason_ = "measured by an earlier job";
        changed_ = moves_ = true;
        books_.another_runs();
        saving_.forget(false);
        native_before_ = clocked_;
    }
}

// --- samples -----------------------------------------------------------------------------------------

void ClassChoice::begin(std::uint32_t id, const Clocking& clocking, int rival_on_probe) {
    clocked_.begin(id, clocking);
    probed_ = rival_on_probe;
    counts_ = true;
    taken_ = 0;
    changed_ = false;
}

bool ClassChoice::hear(const TimeReport& report) {
    if (native_before_ && report.ruling == native_before_->ruling()) native_before_->add(report);
    if (report.ruling != clocked_.ruling() || !counts_ || changed_) return false;
    clocked_.add(report);
    take_incumbent_samples();
    const bool over = probing() && judge_probe();
    if (!changed_) confirm();
    return over;
}

// The first sample connects, or follows another arm.
void ClassChoice::take_incumbent_samples() {
    const Clocking& clocking = clocked_.clocking();
    for (; taken_ < clocked_.size() && clocked_.knows(taken_); ++taken_) {
        const bool of_probe = taken_ >= clocking.lead && taken_ < clocked_.probe_end();
        const bool first = taken_ == (clocking.probe > 0 ? clocked_.probe_end() : 0);
        if (of_probe || first) continue;
        if (std::exchange(times_are_old_, false)) clock_anew();
        if (times_.add(clocked_.sample(taken_))) reopen();
        saving_.add(clocked_.mean_us(taken_));
        sampled_at_ = calls_;
    }
    learn_from_times();
    compare_with_native_before();
}

// The first one connects.
void ClassChoice::compare_with_native_before() {
    if (!native_before_) return;
    std::uint32_t end = 1;
    while (end < native_before_->size() && native_before_->knows(end)) ++end;
    const std::vector<double> native_us = native_before_->means_us(1, end);
    if (native_us.size() < least_controls || !saving_.compare(native_us)) return;
    books_.time_native(median_of(native_us));
    native_before_.reset();
}

// What was measured against other times of the incumbent says nothing; each arm keeps the probes that it has had.
void ClassChoice::reopen() {
    told_settled_ = false;
    for (Rival& each : rivals_) {
        each.to_incumbent = each.settling = {};
        each.closed = false;
    }
}

// --- a probe's end -----------------------------------------------------------------------------------

/// What the incumbent took around the probe; where that is little, before it, too.
std::vector<double> ClassChoice::controls_us() const {
    if (calls_are_alone()) {
        const std::size_t most = std::min(times_.size(), enough_controls);
        return {times_.times_us.end() - static_cast<std::ptrdiff_t>(most), times_.times_us.end()};
    }
    std::vector<double> around = clocked_.times_us(0, clocked_.clocking().lead);
    const std::vector<double> after = clocked_.times_us(clocked_.probe_end() + 1, clocked_.size());
    around.insert(around.end(), after.begin(), after.end());
    return around;
}

/// A few calls around a probe tell less of their scatter than all that are known.
double ClassChoice::usual_scatter() const {
    return calls_are_alone() && times_.size() >= enough_controls ? relative_scatter(times_.times_us) : 0;
}

/// Where the incumbent's calls around a probe took far longer or shorter than usual something else went on.
bool ClassChoice::is_usual(double control_us) const {
    constexpr double most_ratio = 1.5;
    const double usual_us = times_.time_us();
    return times_.size() < enough_controls || !calls_are_alone() ||
           (control_us < usual_us * most_ratio && control_us > usual_us / most_ratio);
}

double ClassChoice::loss_us(double control_us) const {
    const std::uint32_t end = clocked_.probe_end();
    double lost_us = 0;
    for (const double time_us : clocked_.times_us(clocked_.clocking().lead, end)) lost_us += time_us - control_us;
    for (const double time_us : clocked_.times_us(end, std::min(end + charged_after_probe, clocked_.size())))
        lost_us += std::max(time_us - control_us, 0.0);
    return lost_us * clocked_.clocking().calls_per_sample;
}

// As soon as it is clear whether the probe is faster, or when all is known. Over connections that lie idle TCP begins
// slowly: the first calls of a probe are slower than those of a program that keeps to its arm, so its later half is
// compared.
std::optional<ClassChoice::Verdict> ClassChoice::verdict() const {
    const std::uint32_t begin = clocked_.clocking().lead, end = clocked_.probe_end();
    std::uint32_t known_end = begin + 1;
    while (known_end < end && clocked_.knows_until(known_end + 1)) ++known_end;
    if (known_end == begin + 1) return std::nullopt;
    Verdict it;
    it.all = known_end == end;
    const bool whole = it.all && clocked_.knows_until(clocked_.size());
    const std::uint32_t later = known_end - (known_end - begin + 1) / 2;
    it.probe_us = clocked_.times_us(later, known_end);
    it.probe_means_us = clocked_.means_us(later, known_end);
    const std::vector<double> controls = controls_us();
    it.control_us = median_of(controls);
    it.usual = is_usual(it.control_us);
    it.last_over_one_before = it.probe_us.back() / clocked_.sample(known_end - 2).time_us;
    it.warms = it.last_over_one_before < still_warming;
    it.now = ratio_of(it.probe_us, controls, usual_scatter());
    const Ratio& before = rival(probed_).to_incumbent;
    it.known = probed_ == 0 ? renewed(before, it.now) : it.now.with(before);
    it.faster = it.usual && it.known.known() && it.known.high() < 1 && it.known.value <= 1 - tie_margin;
    it.slower = it.usual && !(it.warms && it.all) && it.now.known() && it.now.low() > (it.warms ? far_slower : 1);
    it.no_faster = it.slower || (it.all && !it.warms && it.known.known() && it.known.low() > 1 - tie_margin);
    if (!it.faster && !it.slower && it.all && clocked_.one_way() && calls_are_alone()) {
        if (!clocked_.knows(end)) return std::nullopt;
        it.sooner_us = sooner_us();
        it.no_faster = it.no_faster && it.sooner_us == 0;
    }
    if (!it.faster && !it.no_faster && it.sooner_us == 0 && !whole) return std::nullopt;
    return it;
}

// Where ranks wait for a root that keeps a pace of its own, calls take as long whatever they run by. But the first call
// of a probe ends earlier by what its messages are faster, and the first one after it later by as much.
double ClassChoice::sooner_us() const {
    const std::vector<double>& around_us = saving_.block_us();
    if (around_us.size() < least_controls) return 0;
    const double usual_us = median_of(around_us);
    const double earlier_us = usual_us - clocked_.mean_us(clocked_.clocking().lead);
    const double sooner_us = std::min(earlier_us, clocked_.mean_us(clocked_.probe_end()) - usual_us);
    const double least_us = std::max(tie_margin * usual_us, clear_deviations * scatter_of(around_us));
    return sooner_us > least_us ? sooner_us : 0;
}

// One that is clearly slower is called off, and one that wins goes on; true: it is over.
bool ClassChoice::judge_probe() {
    const std::optional<Verdict> found = verdict();
    if (!found) return false;
    const double lost_us = loss_us(found->control_us);
    books_.add_probe(lost_us);
    still_to_charge_us_ = std::max(lost_us, 0.0) - charged_us_;
    if (probed_ == 0) {
        books_.compare_anew();
        if (found->usual && !found->faster) saving_.compare(found->probe_means_us);
        next_control_ = 2 * std::max(calls_, first_control_calls);
    }
    Rival& it = rival(probed_);
    if (found->usual) learn_from_probe(it, *found);
    ++it.probes;
    it.closed = found->no_faster || it.probes >= most_probes;
    const int number = std::exchange(probed_, -1);
    const double took_us = median_of(found->probe_us);
    if (found->sooner_us > 0 || found->faster || found->slower) paced_ = found->sooner_us > 0;
    if (found->sooner_us > 0) {
        make_incumbent(number, found->known, "ranks wait for the root, but messages arrive " +
                                                 duration(found->sooner_us) + " sooner than by " +
                                                 to_string(rival(incumbent_).arm.candidate));
    } else if (found->faster) {
        make_incumbent(number, found->known,
                       "measured " + duration(took_us) + ", " + with_time(rival(incumbent_).arm, found->control_us));
    } else if (!found->all) {
        reason_ = with_time(it.arm, took_us) + " is slower than " + duration(found->control_us);
        changed_ = true;
    }
    return true;
}

void ClassChoice::learn_from_probe(Rival& it, const Verdict& found) {
    const bool native = &it == &rival(0);
    for (const double time_us : found.probe_us) it.times.add({time_us, 0});
    it.to_incumbent = found.slower && !native ? found.now : found.known;
    it.settling = {};
    if (found.warms && !native)
        it.settling = {found.probe_us.back() / found.control_us * found.last_over_one_before, warming_variance};
}

void ClassChoice::give_up_probe() {
    counts_ = counts_ && !probing();
    probed_ = -1;
}

void ClassChoice::make_incumbent(int number, const Ratio& to_before, std::string reason) {
    books_.another_runs();
    saving_.own_change();
    for (int i = 0; i < arm_count(); ++i) {
        Ratio& each = rival(i).to_incumbent;
        if (i != number && each.known()) each = each.over(to_before);
        rival(i).settling = {};
    }
    Rival& before = rival(incumbent_);
    before.to_incumbent = {1 / to_before.value, to_before.variance};
    before.times = std::exchange(times_, {});
    before.closed = true;
    challenged_ = std::exchange(incumbent_, number);
    next_control_ = calls_ + first_control_calls;
    reason_ = std::move(reason);
    changed_ = moves_ = true;
    told_settled_ = false;
}

void ClassChoice::confirm() {
    if (challenged_ < 0 || times_.size() < least_confirming) return;
    const Rival& before = rival(challenged_);
    const std::vector<double> its = before.times.times_us;
    const bool whole = times_.size() + 1 >= confirming_samples;
    const bool longer = clearly_longer(times_.times_us, its);
    const bool no_faster = whole && times_.time_us() > median_of(its) * (1 - tie_margin);
    const bool as_long = no_faster && !longer && times_.time_us() < median_of(its) * (1 + tie_margin);
    if (as_long && wins_by_prediction_alone()) paced_ = true;
    const bool slower = longer || (no_faster && !paced_);
    const bool drags = clearly_longer(times_.laps_us, before.times.laps_us);
    const int back = challenged_;
    if (slower || drags || whole) challenged_ = -1;
    if (!slower && !drags) return;
    const double now_us = incumbent_us();
    make_incumbent(back, {slower ? median_of(its) / now_us : 1, returning_variance},
                   slower ? "the other took " + duration(now_us) + " when it ran alone, this " + duration(median_of(its))
                          : "with the other what is around the calls took longer");
    challenged_ = -1;
}

// A root with a pace of its own: calls that follow a first one which had to connect catch up and look short, and from
// then on all take as long as before. Messages come sooner all the same.
bool ClassChoice::wins_by_prediction_alone() const {
    return clocked_.one_way() && calls_are_alone() &&
           predicted_us(rival(incumbent_)) < predicted_us(rival(challenged_)) * (1 - least_promise);
}

// --- what is left to be tried ------------------------------------------------------------------------

bool ClassChoice::near_the_bound() const {
    return bound_us_ && times_.size() > 0 && incumbent_us() <= near_bound * *bound_us_;
}

bool ClassChoice::is_due_for_control() const {
    const bool proven = rival(0).to_incumbent.known();
    return !native_runs() && calls_ >= next_control_ && (watched_ || !proven);
}

bool ClassChoice::ready_for_probe() const {
    return arm_count() > 1 && times_are_enough() && !times_.shifts() && can_be_clocked_again();
}

bool ClassChoice::times_are_enough() const {
    return times_.size() >= enough_controls ||
           (times_.size() >= least_controls && relative_scatter(times_.times_us) <= most_scatter_of_few);
}

bool ClassChoice::can_be_clocked_again() const {
    return arm_count() > 0 && !probing() && challenged_ < 0 && !changed_;
}

bool ClassChoice::is_left_behind() const {
    return saving_.is_behind() && clocked_.knows_until(clocked_.size()) && can_be_clocked_again();
}

bool ClassChoice::worth_a_probe(int number) const {
    if (number == incumbent_) return false;
    if (number == 0 && is_due_for_control()) return true;
    if (times_.size() > 0 && is_flood(times_.time_us())) return false;
    const Rival& it = rival(number);
    return !it.closed && it.probes < most_probes && !near_the_bound() && promises_to_win(it) &&
           least_us(number) < incumbent_us() * (1 - tie_margin) && pays_to_connect(number);
}

// As a program that has made so many calls is taken to make as many again: they win twice what connecting takes.
bool ClassChoice::pays_to_connect(int number) const {
    const Rival& it = rival(number);
    const double gain_us = (incumbent_us() - expected_us(number)) * static_cast<double>(calls_);
    return it.connecting_us == 0 || it.times.size() > 0 || gain_us > connecting_pays_from * it.connecting_us;
}

// In either regime: an arm may win with its connections warm and lose with them cold, and what warming them costs is
// not known. What is only predicted to be as fast is not tried, where predictions are any good; unless it is known by
// how much they miss it.
bool ClassChoice::promises_to_win(const Rival& it) const {
    const Rival& present = rival(incumbent_);
    const bool untrusted = error_ > most_trusted_error || incumbent_us() > far_beyond * predicted_us(present);
    const bool by_its_error = it.miss > 0 && scaled_us(it) < incumbent_us() * (1 - least_promise);
    if (it.probes > 0 || it.remembered || untrusted || by_its_error) return true;
    return it.cold_us < present.cold_us * slower(present) * (1 - least_promise) &&
           it.warm_us < present.warm_us * slower(present) * (1 - tie_margin);
}

bool ClassChoice::anything_to_try() const {
    for (int i = 0; i < arm_count(); ++i) {
        if (worth_a_probe(i)) return true;
    }
    return false;
}

Clocking ClassChoice::probe_of(int number) const {
    // Native, where it was compared with this before, and what is sure to win begin with more calls than what may
    // only lose.
    const bool sure_to_win = most_at_first_us(number) < low_quantile_us() && !calls_overlap();
    const bool at_length = (number == 0 && rival(0).to_incumbent.known()) || sure_to_win;
    const int round = at_length ? 1 : std::min(rival(number).probes, most_probes - 1);
    const double by_time = std::ceil(first_probe_us * (1 << round) / std::max(incumbent_us(), 1e-3));
    const double most_calls = static_cast<double>(most_probe_samples) * Clocking::most_calls_per_sample;
    const auto calls = static_cast<std::uint32_t>(
        std::clamp(by_time, static_cast<double>(2 << round), most_calls));
    Clocking result;
    result.probe = std::min(calls, most_probe_samples);
    result.trail = result.probe;
    result.calls_per_sample = (calls + result.probe - 1) / result.probe;
    const bool known = result.calls_per_sample == 1 && times_.size() >= least_controls &&
                       calls_ <= sampled_at_ + recent_calls && !times_are_old_;
    result.lead = known ? 0 : std::max(result.probe, static_cast<std::uint32_t>(least_controls));
    return result;
}

double ClassChoice::price_us(int number) const {
    const double first_us = most_at_first_us(number), later_us = most_us(number), now_us = incumbent_us();
    if (first_us < low_quantile_us()) return 0;
    const Clocking clocking = probe_of(number);
    const double later_calls = clocking.probe * clocking.calls_per_sample - 1;
    return std::max(first_us - now_us + (later_us - now_us) * later_calls, 0.0);
}

double ClassChoice::promise(int number) const {
    constexpr double least_us = 1e-9;  // of a control, which promises nothing
    return calls_per_us_ * std::max(incumbent_us() - this->least_us(number), least_us);
}

// --- rulings -------------------------------------------------------------------------------------------

Ruling ClassChoice::present() const {
    const Arm& arm = rival(incumbent_).arm;
    return {shapes_, arm, clocked_.ruling(), clocked_.clocking(), std::nullopt};
}

Ruling ClassChoice::rule(std::uint32_t id) {
    Clocking clocking;
    clocking.lead = confirming_samples;
    clocking.calls_per_sample = clocked_.clocking().calls_per_sample;
    begin(id, clocking, -1);
    moves_ = false;
    return present();
}

Ruling ClassChoice::rule_probe(std::uint32_t id, int number) {
    charged_us_ = price_us(number);
    begin(id, probe_of(number), number);
    Ruling ruling = present();
    ruling.probe = rival(number).arm;
    return ruling;
}

std::optional<std::string> ClassChoice::newly_settled() {
    if (told_settled_ || !ready_for_probe() || anything_to_try()) return std::nullopt;
    told_settled_ = true;
    return reason_ = why_settled();
}

double ClassChoice::least_predicted_share(double native_us) const {
    if (is_flood(native_us)) return 1;
    if (rivals_.empty()) return 1;
    constexpr double of_a_riddle = 0.5;
    const Rival& native = rivals_.front();
    const double usual_us = predicted_us(native) / slower(native);
    const double predicted_native_us = std::clamp(native_us, usual_us, usual_us * native.slowest_ratio);
    const bool riddle = rivals_.size() > 1 && native_us > far_beyond * predicted_native_us;
    double share = riddle ? of_a_riddle : 1;
    for (const Rival& each : rivals_) {
        const double its = &each == &native ? 1 : predicted_us(each) / predicted_native_us;
        share = std::min(share, error_ > most_trusted_error ? its / (1 + error_) : its);
    }
    return share;
}

std::string ClassChoice::why_probed(int number) const {
    return "on probe: expected to take " + duration(expected_us(number)) + ", and " +
           with_time(rival(incumbent_).arm, incumbent_us());
}

std::string ClassChoice::why_settled() const {
    const std::string now = "measured " + duration(incumbent_us());
    if (is_flood(times_.time_us())) return now + ", many at a time, of which nothing is predicted";
    if (near_the_bound()) return now + ", and nothing is predicted to take less than " + duration(*bound_us_);
    std::string others;
    for (int i = 0; i < arm_count(); ++i) {
        const Rival& each = rival(i);
        if (i != incumbent_ && each.to_incumbent.known())
            others += "; " + with_time(each.arm, each.to_incumbent.value * incumbent_us());
    }
    return now + (others.empty() ? ", and no other is expected to be faster" : others);
}

std::vector<Measured> ClassChoice::measured() const {
    std::vector<Measured> result;
    for (int i = 0; i < arm_count(); ++i) {
        const SampleSeries& series = series_of(i);
        if (series.size() > 0)
            result.push_back({rival(i).arm.candidate, median_interval(series.times_us), series.size()});
    }
    return result;
}

// --- the account -------------------------------------------------------------------------------------

double ClassChoice::count(std::uint64_t calls, double in_us) {
    if (in_us > 0) calls_per_us_ = static_cast<double>(calls) / in_us;
    // Also of none, since what those before saved may have become known.
    const std::uint64_t made = std::max(calls, calls_) - calls_;
    calls_ += made;
    if (changed_) return books_.count_as_before(made);
    const bool natively = rivals_.empty() || native_runs();
    return books_.count(made, {natively, saving_.time_us(), saving_.per_call(), saving_.is_behind()});
}

}  // namespace mutirao
