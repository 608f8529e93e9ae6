// The master hands out the tasks, and those of workers that are gone again to others; a worker asks, gets, returns.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "mandelbrot.h"
#include "transport.h"

namespace mandelbrot {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Job {
    Crew crew;
    Parameters parameters;
    int fall_after = -1;  ///< so many tasks are done when one worker is told to fall; -1: none is
};

struct Outcome {
    Image image;
    std::vector<double> computed_s;  ///< by each worker
    double return_s = 0;  ///< from when all workers have asked until the last task is done
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
    int gone = 0;            ///< workers
    double noticed_ms = -1;  ///< after the worker was told to fall; -1: none was, or not noticed
};

class Master {
  public:
    Master(MasterSide& side, const Job& job)
        : side_(side), job_(job), message_(job.crew.side), open_(tasks_of(job.parameters, job.crew.side)),
          workers_(static_cast<std::size_t>(job.crew.workers)),
          outcome_{Image(job.parameters.points), std::vector<double>(workers_.size())} {}

    Outcome run() {
        const auto there = [](const Worker& worker) { return worker.asks || worker.gone; };
        while (!std::ranges::all_of(workers_, there)) hear();
        const std::size_t tasks = open_.size();
        const auto begin = Clock::now();
        hand_out();
        while (done_ < tasks) {
            if (hear()) hand_out();
        }
        outcome_.return_s = seconds_since(begin);
        for (int number = 0; number < job_.crew.workers; ++number) {
            if (!worker(number).gone) send(number, Kind::stop, {});
        }
        return std::move(outcome_);
    }

  private:
    struct Worker {
        bool gone = false;
        bool asks = false;
        std::optional<Task> task;
    };

    Worker& worker(int number) { return workers_[static_cast<std::size_t>(number)]; }

    /// False: nothing has become of it that matters.
    bool hear() {
        const auto [number, gone] = side_.receive(message_);
        if (gone) {
            lose(worker(number));
            return true;
        }
        ++outcome_.messages;
        // Some transports tell of an end before they deliver what was sent last: that task is open again.
        if (worker(number).gone) return false;
        worker(number).asks = true;
        if (message_.header().kind == Kind::done) take_result(number);
        return true;
    }

    void lose(Worker& worker) {
        worker.gone = true;
        worker.asks = false;
        ++outcome_.gone;
        if (told_to_fall_ && outcome_.noticed_ms < 0) outcome_.noticed_ms = seconds_since(*told_to_fall_) * 1e3;
        if (worker.task) open_.push_front(*worker.task);
        worker.task.reset();
        if (outcome_.gone == job_.crew.workers) throw Failure("all workers are gone");
    }

    void take_result(int number) {
        const Header header = message_.header();
        outcome_.image.place(header.task, message_.points());
        outcome_.computed_s[static_cast<std::size_t>(number)] = header.computed_us / 1e6;
        worker(number).task.reset();
        ++done_;
    }

    /// Workers for whom nothing is left wait: another may fall.
    void hand_out() {
        for (int number = 0; number < job_.crew.workers && !open_.empty(); ++number) {
            if (!worker(number).asks) continue;
            worker(number).asks = false;
            worker(number).task = open_.front();
            open_.pop_front();
            const bool falls = job_.fall_after >= 0 && static_cast<int>(done_) >= job_.fall_after && !told_to_fall_;
            if (falls) told_to_fall_ = Clock::now();
            send(number, falls ? Kind::fall : Kind::task, *worker(number).task);
        }
    }

    void send(int number, Kind kind, const Task& task) {
        message_.set_header({kind, task, job_.parameters, 0});
        side_.send(number, message_);
        ++outcome_.messages;
        outcome_.bytes = outcome_.messages * static_cast<std::int64_t>(message_.bytes().size());
    }

    MasterSide& side_;
    Job job_;
    Message message_;
    std::deque<Task> open_;
    std::vector<Worker> workers_;
    std::size_t done_ = 0;
    std::optional<Clock::time_point> told_to_fall_;
    Outcome outcome_;
};

/// A worker, until it is told to stop.
inline void work(WorkerSide& side, int task_side) {
    Message message(task_side);
    message.set_header({});
    double computed_s = 0;
    for (;;) {
        side.send(message);
        if (!side.receive(message)) return;
        // As in the paper: from the whole message until the answer is filled in.
        const auto begin = Clock::now();
        Header header = message.header();
        if (header.kind == Kind::stop) return;
        if (header.kind == Kind::fall) std::raise(SIGKILL);
        compute(header.task, header.parameters, message.points());
        computed_s += seconds_since(begin);
        header.kind = Kind::done;
        header.computed_us = static_cast<std::uint32_t>(computed_s * 1e6);
        message.set_header(header);
    }
}

}  // namespace mandelbrot
