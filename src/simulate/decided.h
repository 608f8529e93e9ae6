// A simulated program whose calls run as the library's decider rules: rank 0 has a Decider, every rank tells it what
// its calls took, and each ruling holds from the decider's next call on.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/selection/decider.h"
#include "core/selection/samples.h"
#include "simulate/program.h"
#include "simulate/scenarios.h"

namespace mutirao::simulate {

class DecidedChooser : public Chooser {
  public:
    DecidedChooser(const ProgramScenario& scenario, double opening_us);

    Arm enter(int rank, const Call& call, double now_us) override;
    void leave(int rank, const Call& call, double now_us, double took_us) override;
    void hear_network(const std::shared_ptr<const RankNetwork>& network) override;

    Account account() const { return decider_.account(); }
    /// Each ruling, with its reason, in the order in which they were made.
    const std::vector<std::string>& told() const { return told_; }

  private:
    struct Obeyed {
        Ruling ruling;
        Course course;
        bool clocked = false;  ///< the call that goes on
    };
    struct Announced {
        std::uint64_t first_call;
        Ruling ruling;
    };
    struct Reported {
        double arrives_us;
        TimeReport report;
    };
    struct Rank {
        std::map<ShapeClass, Obeyed> classes;
        std::size_t obeyed = 0;  ///< announcements
    };

    void decide(const Call& call, double now_us);
    void foresee(const CallShape& shape, bool another_network);

    const ProgramScenario& scenario_;
    Decider decider_;
    std::shared_ptr<const RankNetwork> network_;
    std::map<ShapeClass, CallShape> known_;
    std::map<ShapeClass, std::uint64_t> made_;
    std::vector<Announced> announced_;
    std::vector<Rank> ranks_;
    std::vector<Reported> reports_;  ///< on their way to rank 0
    std::vector<std::string> told_;
};

}  // namespace mutirao::simulate
