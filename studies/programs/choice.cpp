// What mutirao chooses, told what simulated calls took: the decider of a job whose ranks report these times,
// however often it asks, since simulated time is deterministic. Ranks go round the hosts. Probes cost nothing here:
// what is to be found out is where they lead.
//
//   mutirao-studies choice MODEL.network BYTES < TIMES
//
// TIMES has a line for each algorithm, the MPI library's own among them: its name and the time of each rank in us.
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "commands.h"
#include "core/selection/decider.h"
#include "core/text/json.h"
#include "tool/network_file.h"

namespace mutirao::tool {
namespace {

using Times = std::map<std::string, std::vector<double>>;

Times read_times() {
    Times times;
    read_lines(std::cin, "standard input", [&](const Words& line) {
        for (std::size_t i = 1; i < line.size(); ++i) times[line[0]].push_back(std::stod(line[i]));
    });
    if (times.empty()) throw Failure("no times");
    return times;
}

Placement cyclic(int ranks, int hosts) {
    std::vector<int> host_of_rank;
    for (int rank = 0; rank < ranks; ++rank) host_of_rank.push_back(rank % hosts);
    return Placement(std::move(host_of_rank));
}

double time_of(const Candidate& candidate, int rank, const Times& times) {
    const std::string name = to_string(candidate);
    if (!times.contains(name)) throw Failure("no times of " + name);
    return times.at(name).at(static_cast<std::size_t>(rank));
}

/// What a rank reports of all that is clocked by a ruling.
TimeReport report_of(int rank, const Ruling& ruling, const Times& times) {
    TimeReport report{ruling.shapes, ruling.id, 0, {}};
    const Clocking& clocking = ruling.clocking;
    for (std::uint64_t call = 0; call < clocking.calls(); call += clocking.calls_per_sample) {
        const Candidate& ran = clocking.probes(call) ? ruling.probe->candidate : ruling.arm.candidate;
        report.samples.push_back({time_of(ran, rank, times), 0});
    }
    return report;
}

std::string choice(NetworkFile model, std::size_t length_bytes, const Times& times) {
    const auto ranks = static_cast<int>(times.begin()->second.size());
    const MemoryCosts memory = model.memory;
    const int hosts = model.network.host_count();
    const auto network = std::make_shared<const RankNetwork>(topology_of(std::move(model)),
                                                             cyclic(ranks, hosts), memory);
    CallShape shape;
    shape.collective = Collective::allgather;
    shape.length_bytes = length_bytes;
    const ShapeClass shapes = class_of(shape);
    Decider decider(std::make_shared<Ledger>(std::numeric_limits<double>::infinity()));
    decider.take_on(shapes, ranks, false);
    decider.on_outlook(shapes, outlook_for(shape, decide(shape, network, Settings{}), network, {}, {}));
    Ruling ruling{shapes, native_candidate(shape.collective), {}, 0, first_calls};
    std::string reason = "nothing to choose from";
    for (double now_us = 1; ruling.clocking.samples() > 0; ++now_us) {
        for (int rank = 0; rank < ranks; ++rank) decider.on_report(report_of(rank, ruling, times));
        ruling.clocking = {};
        const std::uint64_t calls = 100 * static_cast<std::uint64_t>(now_us);
        for (const Decided& each : decider.on_time(now_us, std::vector<Decider::CallsMade>{{shapes, calls}})) {
            if (each.announced) ruling = each.ruling;
            reason = each.reason;
        }
    }
    JsonWriter json;
    json.begin_object().member("chosen", to_string(ruling.arm.candidate));
    return json.member("reason", reason).end_object().take();
}

}  // namespace

void tell_choice(const Words& words, std::ostream& out) {
    if (words.size() != 2) throw UsageError("a network and a number of bytes are wanted");
    out << choice(read_network_file(words[0]), std::stoul(words[1]), read_times()) << "\n";
}

}  // namespace mutirao::tool
