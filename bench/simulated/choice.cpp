// What mutirao chooses, told what simulated calls took: the contest of a job whose ranks report these times,
// however often it asks, since simulated time is deterministic. Ranks go round the hosts.
//
//   allgather-choice MODEL.network BYTES < TIMES
//
// TIMES has a line for each algorithm, the MPI library's own among them: its name and the time of each rank in us.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/selection/contest.h"
#include "core/text/json.h"
#include "tool/arguments.h"
#include "tool/network_file.h"

namespace mutirao::simulated {
namespace {

using Times = std::map<std::string, std::vector<double>>;

Times read_times(std::istream& input) {
    Times times;
    for (std::string line; std::getline(input, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        for (double time_us = 0; words >> time_us;) times[name].push_back(time_us);
    }
    return times;
}

Placement cyclic(int ranks, int hosts) {
    std::vector<int> host_of_rank;
    for (int rank = 0; rank < ranks; ++rank) host_of_rank.push_back(rank % hosts);
    return Placement(std::move(host_of_rank));
}

/// What every rank reports of a window ruled so.
TrialReport report_of(int rank, std::uint64_t window, const Ruling& ruling, const Times& times) {
    TrialReport report{ruling.shapes, ruling.trial, window, {}};
    for (int arm = 0; arm < ruling.arm_count(); ++arm) {
        const std::string name = to_string(ruling.arm(arm).candidate);
        if (!times.contains(name)) throw tool::Failure("no times of " + name);
        report.times_us.push_back(times.at(name).at(static_cast<std::size_t>(rank)));
    }
    return report;
}

std::string choice(tool::NetworkFile model, std::size_t length_bytes, const Times& times) {
    const auto ranks = static_cast<int>(times.begin()->second.size());
    const MemoryCosts memory = model.memory;
    const int hosts = model.network.host_count();
    const auto network = std::make_shared<const RankNetwork>(tool::topology_of(std::move(model)),
                                                             cyclic(ranks, hosts), memory);
    CallShape shape;
    shape.collective = Collective::allgather;
    shape.length_bytes = length_bytes;
    const Decision decision = decide(shape, network, Settings{});
    auto contest = contest_for(shape, decision, *network, ranks, false);
    for (std::uint64_t window = 0; contest && !contest->settled(); ++window) {
        const Ruling ruling = contest->ruling();
        for (int rank = 0; rank < ranks; ++rank) contest->hear(report_of(rank, window, ruling, times));
    }
    JsonWriter json;
    json.begin_object().member("chosen", to_string(contest ? contest->chosen() : decision.chosen));
    return json.member("reason", contest ? contest->reason() : decision.reason).end_object().take();
}

std::string run(const std::vector<std::string>& words) {
    std::ifstream input(words.at(1));
    tool::NetworkFile model = tool::read_network(input, words[1]);
    if (!model.error.empty()) throw tool::Failure(model.error);
    const Times times = read_times(std::cin);
    if (times.empty()) throw tool::Failure("no times");
    return choice(std::move(model), std::stoul(words.at(2)), times);
}

}  // namespace
}  // namespace mutirao::simulated

int main(int argument_count, char** arguments) {
    try {
        std::puts(mutirao::simulated::run({arguments, arguments + argument_count}).c_str());
        return 0;
    } catch (const mutirao::tool::Failure& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
