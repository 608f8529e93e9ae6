#include "core/algorithms/barrier/signal_rounds.h"

#include "core/algorithms/signal.h"

namespace mutirao::barrier {

void SignalRounds::exchange(int to, int from) {
    schedule_.send(to, signal, Schedule::After(heard_).first(heard_before_));
    heard_.push_back(schedule_.receive(from, signal));
}

void SignalRounds::disseminate(int size, int position, int radix,
                               const std::function<int(int)>& rank_of) {
    const long long participants = size;
    for (long long weight = 1; weight < participants; weight *= radix) {
        begin_round();
        for (long long distance = weight; distance < participants && distance < radix * weight;
             distance += weight) {
            exchange(rank_of(static_cast<int>((position + distance) % participants)),
                     rank_of(static_cast<int>((position + participants - distance) % participants)));
        }
    }
}

}  // namespace mutirao::barrier
