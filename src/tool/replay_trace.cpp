#include "tool/replay_trace.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "tool/arguments.h"

namespace mutirao::tool {
namespace {

constexpr int most_hosts = 1000;

/// Nothing if the word is neither a latency nor "-".
std::optional<double> read_latency(const std::string& word) {
    if (word == "-") return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc{} || stop != end || !(value >= 0)) return std::nullopt;
    return value;
}

}  // namespace

TraceReader::TraceReader(std::istream& input, std::string name)
    : input_(input), name_(std::move(name)) {
    const std::vector<std::string> first = words();
    if (first.size() != 2 || first[0] != "hosts") refuse("the first line must be hosts COUNT");
    const char* end = first[1].data() + first[1].size();
    const auto [stop, error] = std::from_chars(first[1].data(), end, host_count_);
    if (error != std::errc{} || stop != end || host_count_ < 2 || host_count_ > most_hosts) {
        refuse("hosts \"" + first[1] + "\" is not in 2.." + std::to_string(most_hosts));
    }
}

std::optional<TraceSlice> TraceReader::next() {
    const std::vector<std::string> line = words();
    if (line.empty()) return std::nullopt;
    if (line[0] != "slice") refuse("unknown line \"" + line[0] + "\"");
    const auto hosts = static_cast<std::size_t>(host_count_);
    const std::size_t links = hosts * (hosts - 1) / 2;
    if (line.size() != links + 1) {
        refuse(std::to_string(line.size() - 1) + " latencies where " + std::to_string(links) +
               " belong");
    }
    TraceSlice slice;
    for (std::size_t i = 1; i < line.size(); ++i) {
        const auto latency_us = read_latency(line[i]);
        if (!latency_us) {
            refuse("\"" + line[i] + "\" is not a latency: a number of at least 0, inf or -");
        }
        slice.push_back(*latency_us);
    }
    return slice;
}

std::vector<std::string> TraceReader::words() {
    std::vector<std::string> result;
    for (std::string text; result.empty() && std::getline(input_, text);) {
        ++line_number_;
        std::istringstream stream(text.substr(0, text.find('#')));
        for (std::string word; stream >> word;) result.push_back(word);
    }
    return result;
}

void TraceReader::refuse(const std::string& what) const {
    throw UsageError(name_ + ":" + std::to_string(line_number_) + ": " + what);
}

}  // namespace mutirao::tool
