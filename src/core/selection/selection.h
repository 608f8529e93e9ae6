// Chooses how a call runs: predicts the candidates on the measured network and takes the fastest;
// the MPI library's own wins ties. A pure function of its arguments; one rank decides for all.
//
// What a decision costs: every shape of algorithm is predicted between the hosts, one participant
// each, with an estimate of what goes on inside them. Where hosts have several ranks, only the best
// few and native are then predicted over all ranks. See estimate.h for the limit on each.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/network/rank_network.h"
#include "core/selection/ruling.h"
#include "core/settings/settings.h"

namespace mutirao {

struct Evaluated {
    Candidate candidate;
    double predicted_us = 0;
    bool in_full = true;  ///< false: between the hosts only, with an estimate of their insides
};

struct Decision {
    Candidate chosen;
    std::string reason;  ///< one line, for `mutirao explain`
    /// Fastest first, those predicted in full before the others; empty if forced or native without
    /// choice.
    std::vector<Evaluated> considered{};
    std::optional<Tree> tree{};         ///< over the hosts, if the chosen algorithm takes one
    std::optional<double> native_us{};  ///< what native is predicted to take, if it was considered
    /// No algorithm is predicted to be faster, whatever it does; see bounds.h.
    std::optional<double> bound_us{};
};

/// Both lead to the same schedules.
inline bool runs_alike(const Decision& a, const Decision& b) {
    return a.chosen == b.chosen && a.tree == b.tree;
}

/// Decides step by step, so that it can be done beside other work.
///
/// The forced algorithm if there is one; otherwise native on one host or where no link stands out, since
/// predictions do not know costs that well (what is considered is there to be tried); or without a tree, or if
/// no candidate is predicted to be clearly faster than native; otherwise the fastest. `present`: what was decided
/// for the same calls before the network changed; its tree is kept where that is nearly as
/// fast (see renewal.h).
class Deliberation {
  public:
    Deliberation(const CallShape& shape, std::shared_ptr<const RankNetwork> network,
                 const Settings& settings, std::optional<Decision> present = {});

    /// Predicts one candidate; false: there is nothing left to do.
    bool advance();
    /// Once advance() returned false.
    Decision take();

    /// By all predictions so far: what the deliberation has cost.
    std::size_t messages_predicted() const { return messages_predicted_; }

  private:
    enum class Pass : unsigned char { begin, shapes, segments, ranks, insides, done };

    bool has_several_ranks_on_a_host() const {
        return network_->placement().most_ranks_on_a_host() > 1;
    }
    void decide_without_choice(const Settings& settings);
    void plan();
    bool is_for_as_many_hosts(const Algorithm& algorithm) const;
    void plan_shapes();
    void plan_host();
    void plan_segments();
    void plan_ranks();
    void plan_insides();
    static bool goes_between_hosts(const Candidate& candidate) {
        return candidate.native() || candidate.algorithm->level == Level::hosts;
    }
    void queue(const Candidate& candidate);
    void queue_first_choices(Candidate shape);
    void predict_between_hosts(const Candidate& candidate);
    void predict_in_full(const Candidate& candidate);
    std::optional<double> inside_us(const Candidate& candidate);
    std::vector<Evaluated> fastest_first() const;
    void decide();
    void keep_present_tree();

    CallShape shape_;
    std::shared_ptr<const RankNetwork> network_;
    std::optional<Decision> present_;
    CallShape host_shape_;          ///< the call among one participant per host
    int tree_root_host_ = 0;        ///< found once: for a call without a root that takes many walks
    RankNetwork hosts_;
    bool composed_ = false;         ///< candidates run between the hosts, and others inside
    Pass pass_ = Pass::begin;
    std::vector<Candidate> queue_;  ///< of this pass
    std::size_t next_ = 0;
    std::vector<Evaluated> evaluated_;
    std::map<std::size_t, std::optional<double>> inside_us_;  ///< by bytes of a piece
    std::size_t messages_predicted_ = 0;
    std::string not_chosen_;  ///< why predictions are no reason to leave the MPI library; empty: they are
    Decision decision_;
};

/// The same at once.
Decision decide(const CallShape& shape, std::shared_ptr<const RankNetwork> network,
                const Settings& settings, std::optional<Decision> present = {});

/// Why predictions on that network are not good enough to leave the MPI library's own algorithms by them alone, in a
/// few words; empty: they are.
std::string distrust(Collective collective, const Network& network);

}  // namespace mutirao
