// Hand-written collectives for the tests beside this file, independent of the catalogue: the
// checker and the predictor must not be tested with what they will be used to judge.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/byte_users.h"
#include "core/schedule/test_checker.h"
#include "core/schedule/schedule.h"

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

inline Promise broadcast_promise(int size, int root, std::size_t length) {
    const Piece message{output(0, length), {root}, 0};
    Promise promise{std::vector<std::vector<Piece>>(static_cast<std::size_t>(size)),
                    std::vector<std::vector<Piece>>(static_cast<std::size_t>(size), {message})};
    promise.before[static_cast<std::size_t>(root)] = {message};
    return promise;
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

/// `size` a power of two: copies its input to the output, then exchanges per round with the rank that differs in one
/// bit, and combines what came by `combine(own, rank, bit, incoming, after)`.
template <class Combine>
std::vector<Schedule> doubling(int size, std::size_t length, Combine combine) {
    std::vector<Schedule> ranks(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
        Schedule& own = ranks[static_cast<std::size_t>(rank)];
        StepId latest = own.copy(input(0, length), output(0, length));
        std::size_t round = 0;
        for (int bit = 1; bit < size; bit <<= 1, ++round) {
            const Region incoming = scratch(round * length, length);
            const StepId sent = own.send(rank ^ bit, output(0, length), std::array{latest});
            const StepId received = own.receive(rank ^ bit, incoming);
            latest = combine(own, rank, bit, incoming, std::array{sent, received, latest});
        }
    }
    return ranks;
}

/// The first two steps that share bytes, one of them writing, without a path of dependencies between them: all pairs are
/// looked at. Both -1: there are none.
inline std::pair<int, int> race_by_all_pairs(const Schedule& schedule) {
    const auto meet = [](const Use& a, const Use& b) {
        return a.region.length_bytes > 0 && b.region.length_bytes > 0 && a.region.buffer == b.region.buffer &&
               a.region.offset_bytes < b.region.end_bytes() && b.region.offset_bytes < a.region.end_bytes();
    };
    std::vector<std::vector<bool>> ancestors;
    for (std::size_t later = 0; later < schedule.size(); ++later) {
        std::vector<bool> before(later, false);
        for (const StepId id : schedule.dependencies(schedule.steps()[later])) {
            const auto direct = static_cast<std::size_t>(id);
            before[direct] = true;
            for (std::size_t i = 0; i < direct; ++i) before[i] = before[i] || ancestors[direct][i];
        }
        const Uses its(schedule.steps()[later]);
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
            const Uses others(schedule.steps()[earlier]);
            const bool conflict = meet(its.written, others.read) || meet(its.written, others.written) ||
                                  meet(its.read, others.written);
            if (conflict && !before[earlier]) return {static_cast<int>(earlier), static_cast<int>(later)};
        }
        ancestors.push_back(std::move(before));
    }
    return {-1, -1};
}

}  // namespace mutirao::test
