// The predictor's events in order of time. Those of equal time keep the order in which they were
// made, so that the walk gives the same bits wherever it runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/schedule/step_graph.h"

namespace mutirao {

/// What happens to the message of one send; events of the receive name its send, too.
enum class Happening : std::uint8_t {
    entered,          ///< a rank, whose first step this is, its call
    injected,         ///< the sender's processor is done
    request_arrived,  ///< rendezvous: the receiver knows of it
    consent_arrived,  ///< rendezvous: the sender may begin
    first_byte,       ///< at the receiver's port
    last_byte,        ///< at the receiver's memory
    step_complete,  ///< of a send, a copy or a reduction
    receive_complete,
};

/// `send` is a copy or a reduction where one of these is complete.
struct Event {
    double time_us;
    std::uint32_t sequence;
    StepIndex send;
    Happening happening;
};

/// A binary heap; the earliest event first, of equal ones the first made.
class EventQueue {
  public:
    bool empty() const { return events_.empty(); }

    void push(double time_us, StepIndex send, Happening happening) {
        events_.push_back({time_us, next_sequence_++, send, happening});
        std::push_heap(events_.begin(), events_.end(), Later());
    }

    Event pop() {
        std::pop_heap(events_.begin(), events_.end(), Later());
        const Event event = events_.back();
        events_.pop_back();
        return event;
    }

  private:
    struct Later {
        bool operator()(const Event& left, const Event& right) const {
            return left.time_us > right.time_us ||
                   (left.time_us == right.time_us && left.sequence > right.sequence);
        }
    };

    std::vector<Event> events_;
    std::uint32_t next_sequence_ = 0;
};

}  // namespace mutirao
