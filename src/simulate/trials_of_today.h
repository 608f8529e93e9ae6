// What decides today, driven over the virtual clock: one Contest a class, rulings announced by epochs, each rank
// taking turns by the number of the call. It does what src/mpi/rulings/docket.cpp and
// src/mpi/communicator/{ruled,ruling_table}.cpp do, without MPI, and goes when trials go.
#pragma once

#include <deque>
#include <map>

#include <optional>
#include <string>

#include "core/epochs/epochs.h"
#include "core/selection/contest.h"
#include "simulate/chooser.h"

namespace mutirao::simulate {

class TrialsOfToday : public Chooser {
  public:
    /// What is predicted for such calls on that network, as decide() says it.
    using Predict = std::function<Decision(const CallShape& shape, const RankNetwork& network)>;

    /// `predict`: instead of decide().
    TrialsOfToday(const RankNetwork& ways, Settings settings, Predict predict = {});

    Way enter(int rank, const Call& call, double now_us) override;
    void leave(int rank, const Call& call, double now_us, double took_us) override;
    void hear_network(std::shared_ptr<const RankNetwork> network, double now_us) override;

    /// One line for each ruling that was made: for whoever wonders what happened.
    const std::vector<std::string>& log() const { return log_; }

  private:
    /// A class as the decider sees it.
    struct Case {
        CallShape shape;
        std::optional<Decision> decision{};
        std::optional<Contest> contest{};
    };
    /// A ruling as a rank obeys it.
    struct Obeyed {
        Ruling ruling;
        Turns order;
        TrialReport window;
        std::uint64_t calls = 0;  ///< in windows
        std::uint32_t rest_left = 0;
        int running = -1;         ///< arm of the present call, in a window
    };
    struct Rank {
        EpochFollower follower{0, free_calls};
        std::map<ShapeClass, Obeyed> rulings{};
        std::optional<LeadReport> late{};
        double waited_us = 0;
    };

    static constexpr std::uint64_t free_calls = 8;  ///< as MPI_COMM_WORLD has them

    double way_us(int from, int to) const;
    void decide();
    std::optional<Ruling> decide(Case& each) const;
    void announce(const Call& call, double now_us);
    void listen(int rank, const Call& call, double now_us);
    double follow(int rank, const Call& call, double now_us);
    void take(int rank, const Announcement& announcement);
    void say_lead(int rank, const Call& call, const Arm& arm, double now_us);
    void hear(const TrialReport& report);

    RankNetwork ways_;  ///< what messages take
    Settings settings_;
    Predict predict_;
    std::shared_ptr<const RankNetwork> network_;  ///< as it is known; null: not yet
    std::vector<Rank> ranks_;
    EpochDecider epochs_{0, free_calls};
    std::map<ShapeClass, Case> cases_;
    std::deque<ShapeClass> wanted_;
    std::vector<Ruling> fresh_;
    Post<Announcement> announcements_;
    Post<Report> reports_;
    std::vector<std::string> log_;
};

}  // namespace mutirao::simulate
