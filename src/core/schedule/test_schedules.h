// Hand-written collectives for the tests beside this file, independent of the catalogue: the
// checker and the predictor must not be tested with what they will be used to judge.
#pragma once

#include <cstddef>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/schedule.h"
#include "core/schedule/test_checker.h"

namespace mutirao::test {

inline Region output(std::size_t offset, std::size_t length) {
    return {Buffer::output, offset, length};
}
inline Region input(std::size_t offset, std::size_t length) {
    return {Buffer::input, offset, length};
}
inline Region scratch(std::size_t offset, std::size_t length) {
    return {Buffer::scratch, offset, length};
}

/// A region as the printer writes it.
inline Region region_of(const std::string& text) {
    std::size_t begin = 0, end = 0;
    std::sscanf(text.c_str() + text.find('['), "[%zu,%zu)", &begin, &end);
    const Buffer buffer = text[0] == 'i' ? Buffer::input : text[0] == 'o' ? Buffer::output : Buffer::scratch;
    return {buffer, begin, end - begin};
}

/// Schedules whose steps are written as the printer writes them, each behind its rank, as in
/// "0 send output[0,8) to 1; 1 receive output[0,8) from 0; 1 copy output[0,8) into scratch[0,8) after 0".
inline std::vector<Schedule> schedules_of(int size, const std::string& text) {
    std::vector<Schedule> ranks(static_cast<std::size_t>(size));
    std::istringstream steps(text);
    for (std::string step; std::getline(steps, step, ';');) {
        std::istringstream words(step);
        std::size_t rank = 0;
        std::string kind, one, preposition, other, after;
        words >> rank >> kind >> one >> preposition >> other >> after;
        std::vector<StepId> earlier;
        for (StepId id = 0; words >> id;) earlier.push_back(id);
        Schedule& own = ranks.at(rank);
        if (kind == "send") own.send(std::stoi(other), region_of(one), earlier);
        if (kind == "receive") own.receive(std::stoi(other), region_of(one), earlier);
        if (kind == "copy") own.copy(region_of(one), region_of(other), earlier);
        if (kind == "reduce") own.reduce(region_of(one), region_of(other), earlier);
    }
    return ranks;
}

/// What a step comes after.
inline std::vector<StepId> waits_of(const Schedule& schedule, std::size_t step) {
    const auto after = schedule.dependencies(schedule.steps()[step]);
    return {after.begin(), after.end()};
}

/// Messages of that length from the first of each two ranks to the second, all at once.
inline std::vector<Schedule> messages(int size, const std::vector<std::pair<int, int>>& ways, std::size_t length) {
    std::vector<Schedule> ranks(static_cast<std::size_t>(size));
    for (const auto& [from, to] : ways) {
        ranks[static_cast<std::size_t>(from)].send(to, output(0, length));
        ranks[static_cast<std::size_t>(to)].receive(from, output(0, length));
    }
    return ranks;
}

/// Rank 0 sends to everyone else in turn.
inline std::vector<Schedule> flat_broadcast(int size, std::size_t length) {
    std::vector<std::pair<int, int>> ways;
    for (int rank = 1; rank < size; ++rank) ways.emplace_back(0, rank);
    return messages(size, ways, length);
}

/// Rank r hands every segment to rank r + 1.
inline std::vector<Schedule> chain_broadcast(int size, std::size_t segments, std::size_t segment) {
    std::vector<Schedule> ranks(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank)
        for (std::size_t s = 0; s < segments; ++s) {
            Schedule& own = ranks[static_cast<std::size_t>(rank)];
            std::vector<StepId> after;
            if (rank > 0) after.push_back(own.receive(rank - 1, output(s * segment, segment)));
            if (rank + 1 < size) own.send(rank + 1, output(s * segment, segment), after);
        }
    return ranks;
}

}  // namespace mutirao::test
