// What the sockets transport costs over a bare loop of read() and write(): messages of tasks go to
// workers that send them back, without any computation. The bare loop serves its workers one after the
// other; the transport's master those first that answer first. Prints a line of JSON; times are
// microseconds of one exchange, bare and through the transport, taken in turns.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tcp.h"
#include "transport.h"

namespace mandelbrot {
namespace {

constexpr int turns = 60;

Crew crew_of(int count, char** words) {
    Crew crew;
    crew.workers = 1;
    crew.side = 10;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view option = words[i];
        if (option == "--workers") crew.workers = std::atoi(words[i + 1]);
        if (option == "--side") crew.side = std::atoi(words[i + 1]);
        if (option == "--worker-of") crew.master = words[i + 1];
    }
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

void print_list(const char* name, const std::vector<double>& values, const char* end) {
    std::printf("\"%s\": [", name);
    for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.3f", i ? ", " : "", values[i]);
    std::printf("]%s", end);
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
    std::printf("{\"workers\": %d, \"message_bytes\": %zu, \"exchanges\": %d, ", crew.workers,
                Message(crew.side).bytes().size(), exchanges);
    print_list("bare_us", bare, ", ");
    print_list("transport_us", transport, "}\n");
}

}  // namespace
}  // namespace mandelbrot

int main(int count, char** words) {
    try {
        mandelbrot::run(mandelbrot::crew_of(count, words));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "mandelbrot-socket-overhead: %s\n", error.what());
        return 1;
    }
}
