// How one class of calls is run, and what is known of the ways to run it: the incumbent, its rivals, at most one
// probe, and what it all came to. A pure machine that a Decider goes by; which probe is next, and whether it can be
// paid, is the Decider's.
//
// - An arm is probed with 2, 4 and then 8 calls, or as many as last 0.2, 0.4 and 0.8 ms. What is clearly faster
//   than the incumbent's calls around the probe is the incumbent from then on, as soon as that is known; what is
//   not clearly faster after all three is as slow. Where ranks wait for a root that keeps its own pace, what counts is
//   how much sooner messages arrive; where many are under way at a time, nothing is tried.
// - A new incumbent is clocked for some calls more, and goes again if it is slower when it runs alone, or makes
//   what is around its calls slower: times in calls judge, times from end to end have a veto.
// - Where results may differ in their last bits the choice is left alone once it is made. Elsewhere native is
//   probed again after 64 calls, and then ever more rarely: that also says what was saved.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/selection/account.h"
#include "core/selection/outlook.h"
#include "core/selection/ruling.h"
#include "core/selection/samples.h"

namespace mutirao {

struct Measured {
    Candidate candidate;
    Interval time_us;         ///< of one call
    std::size_t samples = 0;  ///< that it is the median of
};

class ClassChoice {
  public:
    /// `reporters`: how many ranks report every sample. `watched`: it may run otherwise at any time.
    ClassChoice(const ShapeClass& shapes, int reporters, bool watched);

    /// What is predicted on the network as it is now, for the first time or anew.
    void take(Outlook outlook);
    /// Times of an earlier job on such a network.
    void remember(const std::vector<Measured>& remembered);
    /// It runs natively, on the network that it began on, and no other way was tried.
    bool is_untried() const;
    /// What those times preferred runs until calls tell otherwise; nothing happens if it is none of the arms.
    void begin_with(const Candidate& preferred);

    /// True: the probe that was under way is over.
    bool hear(const TimeReport& report);
    void give_up_probe();
    /// So many calls in that time; what those took that were not counted yet.
    double count(std::uint64_t calls, double in_us);

    /// Another incumbent, or the same to be clocked anew, is still to be announced.
    bool changed() const { return changed_; }
    /// What is to be announced is another incumbent.
    bool moves() const { return moves_; }
    /// Another class's incumbent is announced together with the next ruling of this one, if there is one.
    void others_move() { saving_.others_change(); }
    /// It runs and is not looked at for another reason, so that its calls can be clocked once more.
    bool can_be_clocked_again() const;
    /// The same, though what the last change brought it is not known and nothing is clocked any more.
    bool is_left_behind() const;
    /// Of all time, what its calls take; 0: not known.
    double share_of_time() const { return calls_per_us_ * (saving_.time_us() > 0 ? saving_.time_us() : times_.time_us()); }
    /// What its calls save as they run now, in time per time; nothing: not known.
    std::optional<double> saved_share() const {
        const std::optional<Difference> one = saving_.per_call();
        return one ? std::optional(calls_per_us_ * one->us) : std::nullopt;
    }
    bool probing() const { return probed_ >= 0; }
    /// Enough is known of the incumbent to judge a probe by.
    bool ready_for_probe() const;
    int arm_count() const { return static_cast<int>(rivals_.size()); }
    bool worth_a_probe(int number) const;
    bool anything_to_try() const;
    /// What a probe may lose; 0: it is predicted, error and all, to lose nothing.
    double price_us(int number) const;
    /// To be won by that arm, in time per time.
    double promise(int number) const;
    /// What the last probe lost beyond what the ledger was charged for it beforehand.
    double still_to_charge_us() const { return still_to_charge_us_; }

    /// These take effect, under an identifier of their own.
    Ruling rule(std::uint32_t id);
    Ruling rule_probe(std::uint32_t id, int number);
    /// How it runs now.
    Ruling present() const;
    std::uint64_t calls_clocked() const { return clocked_.clocking().calls(); }
    double calls_per_us() const { return calls_per_us_; }

    const std::string& reason() const { return reason_; }
    std::string why_probed(int number) const;
    /// Of what the MPI library's own takes, which was `native_us`: by the fastest, as is predicted. Where predictions are
    /// not to be trusted, the least that it may be; half where native takes far longer than predicted; all in a flood.
    double least_predicted_share(double native_us) const;
    /// Once nothing is left to be tried, the first time it is asked after that.
    std::optional<std::string> newly_settled();
    const Arm* incumbent() const { return rivals_.empty() ? nullptr : &rival(incumbent_).arm; }
    /// Without arms that never ran.
    std::vector<Measured> measured() const;
    Account account() const { return books_.account(); }

  private:
    struct Rival {
        Arm arm;
        double cold_us, warm_us, slowest_ratio, connecting_us;  ///< as Prospect's
        SampleSeries times{};                ///< in probes, or while it was the incumbent
        Ratio to_incumbent{};                ///< measured
        Ratio settling{};                    ///< the same once its connections are warm, as its last probe went
        std::optional<double> remembered{};  ///< ratio to native, by an earlier job
        double miss = 0;                     ///< measured over predicted; 0: not known
        int probes = 0;
        bool closed = false;  ///< measured to be no faster
        bool improved = false;  ///< by the news: it is predicted to be faster than before
        struct Predicted {
            double cold_us, warm_us;
        } heeded{cold_us, warm_us};  ///< by the last outlook that was no small news
    };
    /// Of a probe, as far as its calls are known.
    struct Verdict {
        std::vector<double> probe_us;  ///< its later half
        std::vector<double> probe_means_us;
        double control_us = 0;         ///< the incumbent, around it
        Ratio now, known;              ///< to the incumbent: by this probe, and by all
        double last_over_one_before = 1;
        bool all = false;  ///< its calls are known
        bool usual = false, warms = false;
        bool faster = false, slower = false, no_faster = false;
        double sooner_us = 0;  ///< messages arrive, though ranks wait as long; 0: they do not
    };

    Rival& rival(int number) { return rivals_[static_cast<std::size_t>(number)]; }
    const Rival& rival(int number) const { return rivals_[static_cast<std::size_t>(number)]; }
    bool native_runs() const { return incumbent_ == 0; }

    double slower(const Rival& rival) const { return 1 + slow_native_ * (rival.slowest_ratio - 1); }
    double predicted_us(const Rival& rival) const;
    double usual_miss() const;
    double scaled_us(const Rival& rival) const;
    double by_prediction_us(const Rival& rival) const;
    bool calls_overlap() const;
    bool is_flood(double time_us) const;
    bool ends_within(double share_of_bound, double time_us) const;
    double incumbent_us() const;
    double native_us() const;
    static const Ratio& best_known(const Rival& rival);
    double expected_us(int number) const;
    double doubt(int number) const;
    double least_us(int number) const { return expected_us(number) / (1 + doubt(number)); }
    double most_us(int number) const;
    double most_at_first_us(int number) const;
    double low_quantile_us() const;
    bool near_the_bound() const;
    bool promises_to_win(const Rival& rival) const;
    bool pays_to_connect(int number) const;
    bool is_due_for_control() const;
    bool times_are_enough() const;
    Clocking probe_of(int number) const;

    bool are_news(double news_us, const std::vector<Rival>& fresh) const;
    void refine(std::vector<Rival> fresh, bool news_are_ignored);
    void carry_over(const std::vector<Rival>& before, const Rival& ran);
    void follow_the_news(bool runs_as_before, bool gains_as_before);
    void clock_anew();
    bool native_may_be_faster() const;
    int best_after_news(bool runs_as_before) const;
    double after_news_us(int number) const;
    bool is_clearly_faster(int number, int other, double margin) const;
    const SampleSeries& series_of(int number) const;
    void learn_from_times();
    double miss_of(const Rival& rival, double time_us) const;

    void begin(std::uint32_t id, const Clocking& clocking, int rival_on_probe);
    void take_incumbent_samples();
    void compare_with_native_before();
    void reopen();
    std::optional<Verdict> verdict() const;
    double sooner_us() const;
    bool judge_probe();
    void learn_from_probe(Rival& it, const Verdict& found);
    bool calls_are_alone() const { return clocked_.clocking().calls_per_sample == 1; }
    std::vector<double> controls_us() const;
    double usual_scatter() const;
    bool is_usual(double control_us) const;
    double loss_us(double control_us) const;
    void make_incumbent(int number, const Ratio& to_before, std::string reason);
    void confirm();
    bool wins_by_prediction_alone() const;
    std::string why_settled() const;

    ShapeClass shapes_;
    bool watched_;

    std::vector<Rival> rivals_;  ///< native first; empty: nothing is predicted yet, or there is no choice
    std::map<const Algorithm*, double> misses_;  ///< the newest that was measured; 0: none was
    double error_ = 0;           ///< of predictions, as Outlook's
    std::optional<double> bound_us_;
    std::optional<double> waiting_us_;  ///< of a call's time: for late ranks, whatever runs; nothing: not known yet
    double coldness_ = 1;  ///< 0: calls take what is predicted over warm connections, 1: over idle ones
    double slow_native_ = 0;  ///< 0: native takes what is predicted, 1: what it may take at most (Prospect)
    bool heard_news_ = false;
    int incumbent_ = 0;
    SampleSeries times_;  ///< of the incumbent, on this network
    bool times_are_old_ = false;  ///< since the news, with which what is waited for may have changed
    int challenged_ = -1;  ///< the incumbent before, until the new one is confirmed
    /// Ranks wait for a root that keeps a pace of its own: what calls take says nothing of what they run by.
    bool paced_ = false;

    // The ruling in force; before the first one the MPI library's own runs.
    ClockedCalls clocked_;
    std::optional<ClockedCalls> native_before_;  ///< what that took of which ranks tell after another began at once
    int probed_ = -1;     ///< the rival on probe; -1: none
    bool counts_ = true;  ///< false: its samples are of another network
    std::uint32_t taken_ = 0;  ///< samples that were looked at, in order
    double charged_us_ = 0, still_to_charge_us_ = 0;

    bool changed_ = false, moves_ = false;
    bool told_settled_ = false;
    std::string reason_;

    std::uint64_t calls_ = 0, sampled_at_ = 0;
    std::uint64_t next_control_ = 0;  ///< native is probed at this call
    double calls_per_us_ = 0;
    Saving saving_;
    Bookkeeping books_;
};

}  // namespace mutirao
