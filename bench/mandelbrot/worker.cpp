#include "worker.h"

#include <chrono>
#include <csignal>

namespace mandelbrot {

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
