#include "master.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <utility>

namespace mandelbrot {
namespace {

std::int64_t now_ns() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Master::Master(MasterSide& side, const Job& job)
    : side_(side),
      job_(job),
      message_(job.side),
      workers_(static_cast<std::size_t>(job.workers)),
      outcome_{Image(job.parameters.points), 0, std::vector<double>(workers_.size()), 0, 0, 0, -1} {
    const std::vector<Task> tasks = tasks_of(job.parameters, job.side);
    open_.assign(tasks.begin(), tasks.end());
}

Outcome Master::run() {
    const auto there = [](const Worker& worker) { return worker.asks || worker.gone; };
    while (!std::ranges::all_of(workers_, there)) hear();
    const std::size_t tasks = open_.size();
    const std::int64_t begin_ns = now_ns();
    hand_out();
    while (static_cast<std::size_t>(done_) < tasks) {
        if (hear()) hand_out();
    }
    outcome_.return_s = static_cast<double>(now_ns() - begin_ns) / 1e9;
    for (int number = 0; number < job_.workers; ++number) {
        if (!workers_[static_cast<std::size_t>(number)].gone) send(number, Kind::stop, {});
    }
    return std::move(outcome_);
}

/// False: nothing has become of it that matters.
bool Master::hear() {
    const auto [number, gone] = side_.receive(message_);
    Worker& worker = workers_[static_cast<std::size_t>(number)];
    if (gone) {
        lose(worker);
        return true;
    }
    ++outcome_.messages;
    // Some transports tell of an end before they deliver what was sent last: that task is open again.
    if (worker.gone) return false;
    worker.asks = true;
    if (message_.header().kind == Kind::done) take_result(number);
    return true;
}

void Master::lose(Worker& worker) {
    worker.gone = true;
    worker.asks = false;
    ++outcome_.gone;
    if (told_to_fall_ns_ != 0 && outcome_.noticed_ms < 0) {
        outcome_.noticed_ms = static_cast<double>(now_ns() - told_to_fall_ns_) / 1e6;
    }
    if (worker.task) open_.push_front(*worker.task);
    worker.task.reset();
    if (outcome_.gone == job_.workers) throw Failure("all workers are gone");
}

void Master::take_result(int number) {
    const Header header = message_.header();
    outcome_.image.place(header.task, message_.points());
    outcome_.computed_s[static_cast<std::size_t>(number)] = header.computed_us / 1e6;
    workers_[static_cast<std::size_t>(number)].task.reset();
    ++done_;
}

/// Workers for whom nothing is left wait: another may fall.
void Master::hand_out() {
    for (int number = 0; number < job_.workers && !open_.empty(); ++number) {
        Worker& worker = workers_[static_cast<std::size_t>(number)];
        if (!worker.asks) continue;
        worker.asks = false;
        worker.task = open_.front();
        open_.pop_front();
        const bool falls = job_.fall_after >= 0 && done_ >= job_.fall_after && told_to_fall_ns_ == 0;
        if (falls) told_to_fall_ns_ = now_ns();
        send(number, falls ? Kind::fall : Kind::task, *worker.task);
    }
}

void Master::send(int number, Kind kind, const Task& task) {
    message_.set_header({kind, task, job_.parameters, 0});
    side_.send(number, message_);
    ++outcome_.messages;
    outcome_.bytes = outcome_.messages * static_cast<std::int64_t>(message_.bytes().size());
}

void work(WorkerSide& side, int task_side) {
    Message message(task_side);
    message.set_header({});
    std::chrono::nanoseconds computed{};
    for (;;) {
        side.send(message);
        if (!side.receive(message)) return;
        // As in the paper: from the whole message until the answer is filled in.
        const auto begin = std::chrono::steady_clock::now();
        Header header = message.header();
        if (header.kind == Kind::stop) return;
        if (header.kind == Kind::fall) std::raise(SIGKILL);
        compute(header.task, header.parameters, message.points());
        computed += std::chrono::steady_clock::now() - begin;
        header.kind = Kind::done;
        header.computed_us = static_cast<std::uint32_t>(
            std::chrono::duration_cast<std::chrono::microseconds>(computed).count());
        message.set_header(header);
    }
}

}  // namespace mandelbrot
