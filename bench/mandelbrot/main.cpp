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
    std::string hosts;
    Crew crew;  ///< but for what is in the job and in `hosts`
};

int number(std::string_view option, std::string_view text, int least, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
        throw UsageError(std::string(option) + " " + std::string(text) + " is not in " +
                         std::to_string(least) + ".." + std::to_string(most));
    }
    return value;
}

Options parse(int count, char** words) {
    Options options;
    struct Number {
        std::int32_t& value;
        int least, most;
    };
    Job& job = options.job;
    const std::map<std::string_view, Number> numbers{
        {"--workers", {job.workers, 1, 1000}},
        {"--side", {job.side, 1, 10000}},
        {"--points", {job.parameters.points, 1, 10000}},
        {"--iterations", {job.parameters.iterations, 1, 1000000000}},
        {"--fall-after", {job.fall_after, 0, 100000000}}};
    const std::map<std::string_view, std::string&> texts{{"--image", options.image},
                                                         {"--address", options.crew.address},
                                                         {"--hosts", options.hosts},
                                                         {"--remote-shell", options.crew.remote_shell},
                                                         {"--worker-of", options.crew.master}};
    for (int i = 1; i < count; i += 2) {
        const std::string_view option = words[i];
        if (i + 1 == count) throw UsageError(std::string(option) + " needs a value");
        if (const auto found = numbers.find(option); found != numbers.end()) {
            const auto& [value, least, most] = found->second;
            value = number(option, words[i + 1], least, most);
        } else if (const auto text = texts.find(option); text != texts.end()) {
            text->second = words[i + 1];
        } else {
            throw UsageError("unknown option " + std::string(option));
        }
    }
    if (job.workers == 0 || job.side == 0) throw UsageError("--workers and --side are needed");
    if (options.crew.master.empty() && job.parameters.points % job.side != 0) {
        throw UsageError("--side " + std::to_string(job.side) + " does not divide " +
                         std::to_string(job.parameters.points) + " points");
    }
    return options;
}

std::vector<std::string> listed(const std::string& names) {
    std::vector<std::string> found;
    std::istringstream text(names);
    for (std::string name; std::getline(text, name, ',');) found.push_back(name);
    return found;
}

/// One host for each worker, or none at all.
Crew crew_of(const Options& options) {
    const Job& job = options.job;
    Crew crew = options.crew;
    crew.workers = job.workers;
    crew.side = job.side;
    crew.hosts = listed(options.hosts);
    if (!crew.hosts.empty() && crew.hosts.size() != static_cast<std::size_t>(job.workers)) {
        throw UsageError("--hosts names " + std::to_string(crew.hosts.size()) + " hosts for " +
                         std::to_string(job.workers) + " workers");
    }
    if (crew.hosts.empty() != crew.remote_shell.empty()) {
        throw UsageError("--hosts and --remote-shell go together");
    }
    return crew;
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
                job.workers, job.side, Message(job.side).bytes().size(), outcome.return_s,
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
    play(crew_of(options),
         [&](MasterSide& side) {
             const Outcome outcome = Master(side, job).run();
             if (!options.image.empty()) write_image(outcome.image, options.image);
             print(job, outcome);
         },
         [&](WorkerSide& side) { work(side, job.side); });
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
