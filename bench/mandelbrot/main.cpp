// The Mandelbrot master and workers of paper 002 as a program, over the transport that it is linked
// with. The master prints one line of JSON; `mutirao study interfaces` makes tables of many.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/json.h"
#include "master.h"
#include "tool/arguments.h"
#include "transport.h"

namespace mandelbrot {
namespace {

using mutirao::tool::Arguments;
using mutirao::tool::UsageError;

constexpr int wrong_usage = 2;
constexpr std::string_view usage =
    "--workers N --side N [--points N] [--iterations N] [--fall-after TASKS] [--image FILE.pgm]"
    " [--address IPV4] [--hosts HOST,... --remote-shell PROGRAM]";
const std::vector<std::string> option_names{"workers", "side",    "points", "iterations",   "fall-after",
                                            "image",   "address", "hosts",  "remote-shell", "worker-of"};

void require(bool holds, const std::string& otherwise) {
    if (!holds) throw UsageError(otherwise);
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

Job job_of(const Arguments& given) {
    Job job;
    const auto take = [&](const char* name, std::int32_t& value, int least, int most) {
        value = static_cast<std::int32_t>(given.number(name, value, least, most));
    };
    take("workers", job.crew.workers, 1, 1000);
    take("side", job.crew.side, 1, 10000);
    take("points", job.parameters.points, 1, 10000);
    take("iterations", job.parameters.iterations, 1, 1000000000);
    take("fall-after", job.fall_after, 0, 100000000);
    job.crew.address = given.option("address").value_or(job.crew.address);
    job.crew.hosts = listed(given.option("hosts").value_or(""));
    job.crew.remote_shell = given.option("remote-shell").value_or("");
    job.crew.master = given.option("worker-of").value_or("");
    check(job);
    return job;
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
    mutirao::JsonWriter json;
    json.begin_object()
        .member("workers", job.crew.workers)
        .member("side", job.crew.side)
        .member("message_bytes", Message(job.crew.side).bytes().size())
        .member("return_s", outcome.return_s)
        .member("messages", outcome.messages)
        .member("bytes", outcome.bytes)
        .member("gone", outcome.gone)
        .member("noticed_ms", outcome.noticed_ms)
        .member("computed_s", outcome.computed_s);
    std::cout << json.end_object().take() << std::endl;
}

void run(const Arguments& given) {
    const Job job = job_of(given);
    play(job.crew,
         [&](MasterSide& side) {
             const Outcome outcome = Master(side, job).run();
             if (const auto path = given.option("image")) write_image(outcome.image, *path);
             print(job, outcome);
         },
         [&](WorkerSide& side) { work(side, job.crew.side); });
}

}  // namespace
}  // namespace mandelbrot

int main(int count, char** words) {
    try {
        mandelbrot::run({{words + 1, words + count}, mandelbrot::option_names});
        return 0;
    } catch (const mandelbrot::UsageError& error) {
        std::cerr << "mandelbrot: " << error.what() << "; usage: " << mandelbrot::usage << '\n';
        return mandelbrot::wrong_usage;
    } catch (const std::exception& error) {
        std::cerr << "mandelbrot: " << error.what() << '\n';
        return 1;
    }
}
