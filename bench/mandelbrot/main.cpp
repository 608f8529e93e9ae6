// The Mandelbrot master and workers of paper 002 as a program, over the transport that it is linked
// with. The master prints one line of JSON; `mutirao study interfaces` makes tables of many.
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "master.h"
#include "transport.h"

namespace mandelbrot {
namespace {

constexpr int wrong_usage = 2;
constexpr std::string_view usage =
    "--workers N --side N [--points N] [--iterations N] [--fall-after TASKS] [--image FILE.pgm]"
    " [--address IPV4] [--hosts HOST,... --remote-shell PROGRAM]";

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Options {
    Job job;
    std::string image;
};

void require(bool holds, const std::string& otherwise) {
    if (!holds) throw UsageError(otherwise);
}

int number(std::string_view option, std::string_view text, int least, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
        throw UsageError(std::string(option) + " " + std::string(text) + " is not in " +
                         std::to_string(least) + ".." + std::to_string(most));
    }
    return value;
}

std::vector<std::string> listed(const std::string& names) {
    std::vector<std::string> found;
    std::istringstream text(names);
    for (std::string name; std::getline(text, name, ',');) found.push_back(name);
    return found;
}

/// One host for each worker, or none at all.
void check(const Job& job) {
    const auto& [workers, side, address, hosts, remote_shell, master] = job.crew;
    require(workers > 0 && side > 0, "--workers and --side are needed");
    require(!master.empty() || job.parameters.points % side == 0,
            "--side " + std::to_string(side) + " does not divide " + std::to_string(job.parameters.points) + " points");
    require(hosts.empty() || hosts.size() == static_cast<std::size_t>(workers),
            "--hosts names " + std::to_string(hosts.size()) + " hosts for " + std::to_string(workers) + " workers");
    require(hosts.empty() == remote_shell.empty(), "--hosts and --remote-shell go together");
}

Options parse(int count, char** words) {
    struct Number {
        std::int32_t& value;
        int least, most;
    };
    Options options;
    Job& job = options.job;
    std::string hosts;
    const std::map<std::string_view, Number> numbers{
        {"--workers", {job.crew.workers, 1, 1000}},
        {"--side", {job.crew.side, 1, 10000}},
        {"--points", {job.parameters.points, 1, 10000}},
        {"--iterations", {job.parameters.iterations, 1, 1000000000}},
        {"--fall-after", {job.fall_after, 0, 100000000}}};
    const std::map<std::string_view, std::string&> texts{{"--image", options.image},
                                                         {"--address", job.crew.address},
                                                         {"--hosts", hosts},
                                                         {"--remote-shell", job.crew.remote_shell},
                                                         {"--worker-of", job.crew.master}};
    for (int i = 1; i < count; i += 2) {
        const std::string_view option = words[i];
        require(i + 1 < count, std::string(option) + " needs a value");
        if (const auto found = numbers.find(option); found != numbers.end()) {
            const auto& [value, least, most] = found->second;
            value = number(option, words[i + 1], least, most);
        } else {
            require(texts.contains(option), "unknown option " + std::string(option));
            texts.at(option) = words[i + 1];
        }
    }
    job.crew.hosts = listed(hosts);
    check(job);
    return options;
}

void write_image(const Image& image, const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    file << "P5\n" << image.points() << ' ' << image.points() << "\n255\n";
    file.write(reinterpret_cast<const char*>(image.colours().data()),
               static_cast<std::streamsize>(image.colours().size()));
    file.close();
    if (!file) throw Failure("cannot write " + path);
}

void print(const Job& job, const Outcome& outcome) {
    std::printf("{\"workers\": %d, \"side\": %d, \"message_bytes\": %zu, \"return_s\": %.6f,"
                " \"messages\": %lld, \"bytes\": %lld, \"gone\": %d, \"noticed_ms\": %.3f,"
                " \"computed_s\": [",
                job.crew.workers, job.crew.side, Message(job.crew.side).bytes().size(), outcome.return_s,
                static_cast<long long>(outcome.messages), static_cast<long long>(outcome.bytes),
                outcome.gone, outcome.noticed_ms);
    const char* separator = "";
    for (const double seconds : outcome.computed_s) {
        std::printf("%s%.6f", separator, seconds);
        separator = ", ";
    }
    std::printf("]}\n");
    std::fflush(stdout);
}

void run(const Options& options) {
    const Job& job = options.job;
    play(job.crew,
         [&](MasterSide& side) {
             const Outcome outcome = Master(side, job).run();
             if (!options.image.empty()) write_image(outcome.image, options.image);
             print(job, outcome);
         },
         [&](WorkerSide& side) { work(side, job.crew.side); });
}

}  // namespace
}  // namespace mandelbrot

int main(int count, char** words) {
    try {
        mandelbrot::run(mandelbrot::parse(count, words));
        return 0;
    } catch (const mandelbrot::UsageError& error) {
        std::cerr << "mandelbrot: " << error.what() << "; usage: " << mandelbrot::usage << '\n';
        return mandelbrot::wrong_usage;
    } catch (const std::exception& error) {
        std::cerr << "mandelbrot: " << error.what() << '\n';
        return 1;
    }
}
