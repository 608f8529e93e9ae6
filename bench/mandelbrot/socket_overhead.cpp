// What the sockets transport costs over a bare loop of read() and write(): messages of tasks go to
// workers that send them back, without any computation. The bare loop serves its workers one after the
// other; the transport's master those first that answer first. Prints a line of JSON; times are
// microseconds of one exchange, bare and through the transport, taken in turns.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "core/text/json.h"
#include "tcp.h"
#include "tool/arguments.h"
#include "transport.h"

namespace mandelbrot {
namespace {

constexpr int turns = 60;

Crew crew_of(const mutirao::tool::Arguments& given) {
    Crew crew;
    crew.workers = static_cast<int>(given.number("workers", 1, 1, 1000));
    crew.side = static_cast<int>(given.number("side", 10, 1, 10000));
    crew.master = given.option("worker-of", "");
    return crew;
}

template <class Exchange>
double exchange_us(int exchanges, const Exchange& exchange) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < exchanges; ++i) exchange(i);
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
    return spent.count() / exchanges;
}

[[noreturn]] void echo(const Descriptor& master, Message& message) {
    while (read_whole(master.number(), message.bytes()) &&
           write_whole(master.number(), message.bytes())) {
    }
    _exit(0);
}

double bare_us(const Crew& crew, int exchanges) {
    Message message(crew.side);
    const Descriptor listening = listen_at(crew.address);
    std::vector<Descriptor> workers;
    for (int i = 0; i < crew.workers; ++i) {
        if (fork() == 0) {
            workers.clear();
            echo(connect_to(address_of(listening)), message);
        }
        workers.push_back(accept_from(listening));
    }
    for (const Descriptor& worker : workers) write_whole(worker.number(), message.bytes());
    const double us = exchange_us(exchanges, [&](int i) {
        const Descriptor& worker = workers[static_cast<std::size_t>(i % crew.workers)];
        read_whole(worker.number(), message.bytes());
        write_whole(worker.number(), message.bytes());
    });
    workers.clear();
    while (wait(nullptr) > 0) {
    }
    return us;
}

double transport_us(const Crew& crew, int exchanges) {
    double us = 0;
    const auto master = [&](MasterSide& side) {
        Message message(crew.side);
        for (int number = 0; number < crew.workers; ++number) side.send(number, message);
        us = exchange_us(exchanges, [&](int) { side.send(side.receive(message).worker, message); });
    };
    const auto worker = [&](WorkerSide& side) {
        Message message(crew.side);
        while (side.receive(message)) side.send(message);
    };
    play(crew, master, worker);
    return us;
}

void run(const Crew& crew) {
    if (!crew.master.empty()) {
        transport_us(crew, 0);
        return;
    }
    const int exchanges = 10'000'000 / (2'000 + crew.side * crew.side);
    std::vector<double> bare, transport;
    for (int turn = 0; turn < turns; ++turn) {
        bare.push_back(bare_us(crew, exchanges));
        transport.push_back(transport_us(crew, exchanges));
    }
    mutirao::JsonWriter json;
    json.begin_object()
        .member("workers", crew.workers)
        .member("message_bytes", Message(crew.side).bytes().size())
        .member("exchanges", exchanges)
        .member("bare_us", bare)
        .member("transport_us", transport);
    std::puts(json.end_object().take().c_str());
}

}  // namespace
}  // namespace mandelbrot

int main(int count, char** words) {
    try {
        mandelbrot::run(mandelbrot::crew_of({{words + 1, words + count}, {"workers", "side", "worker-of"}}));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "mandelbrot-socket-overhead: %s\n", error.what());
        return 1;
    }
}
