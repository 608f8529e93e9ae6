#include "core/schedule/printer.h"

#include <algorithm>
#include <array>

#include "core/text/json.h"

namespace mutirao {
namespace {

constexpr std::array<std::string_view, 3> buffer_names{"input", "output", "scratch"};
constexpr std::array<std::string_view, 4> kind_names{"send", "receive", "copy", "reduce"};

/// "output[0,8)".
std::string describe(const Region& region) {
    std::string text(to_string(region.buffer));
    text += '[' + std::to_string(region.offset_bytes) + ',' + std::to_string(region.end_bytes());
    return text += ')';
}

std::string padded(std::size_t number, std::size_t width) {
    const std::string digits = std::to_string(number);
    return std::string(width - std::min(width, digits.size()), ' ') + digits;
}

std::size_t digits_of_last(std::size_t count) {
    return std::to_string(count == 0 ? 0 : count - 1).size();
}

std::string steps_of(const std::string& head, const Schedule& schedule) {
    if (schedule.size() == 0) return head + "  nothing to do\n";
    std::string text;
    const std::size_t step_width = digits_of_last(schedule.size());
    for (std::size_t id = 0; id < schedule.size(); ++id) {
        const Step& step = schedule.steps()[id];
        text += head + "  step " + padded(id, step_width) + "  " + describe(step);
        const Schedule::After after = schedule.dependencies(step);
        for (std::size_t i = 0; i < after.size(); ++i)
            text += (i == 0 ? "  after " : ", ") + std::to_string(after[i]);
        text += '\n';
    }
    return text;
}

void write_region(JsonWriter& json, const Region& region) {
    json.member("buffer", to_string(region.buffer))
        .member("offset_bytes", region.offset_bytes)
        .member("length_bytes", region.length_bytes);
}

void write_step(JsonWriter& json, StepId id, const Step& step, Schedule::After after) {
    json.begin_object().member("id", id).member("kind", to_string(step.kind));
    if (step.is_message()) {
        json.member("peer", step.peer);
        write_region(json, step.kind == StepKind::send ? step.source : step.target);
    } else {
        write_region(json.key("source").begin_object(), step.source);
        write_region(json.end_object().key("target").begin_object(), step.target);
        json.end_object();
        if (step.kind == StepKind::reduce) json.member("source_first", step.source_first);
    }
    json.member("after", after).end_object();
}

}  // namespace

std::string_view to_string(Buffer buffer) { return buffer_names[static_cast<std::size_t>(buffer)]; }

std::string_view to_string(StepKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::string describe(const Step& step) {
    std::string text(to_string(step.kind));
    switch (step.kind) {
        case StepKind::send:
            return text + ' ' + describe(step.source) + " to " + std::to_string(step.peer);
        case StepKind::receive:
            return text + ' ' + describe(step.target) + " from " + std::to_string(step.peer);
        case StepKind::copy:
        case StepKind::reduce:
            break;
    }
    return text + ' ' + describe(step.source) + (step.source_first ? " before " : " into ") +
           describe(step.target);
}

std::string to_text(const std::vector<Schedule>& schedules, const Placement& placement) {
    const std::size_t rank_width = digits_of_last(schedules.size());
    std::string text;
    if (placement.most_ranks_on_a_host() <= 1) {
        for (std::size_t rank = 0; rank < schedules.size(); ++rank)
            text += steps_of("rank " + padded(rank, rank_width), schedules[rank]);
        return text;
    }
    for (int host = 0; host < placement.host_count(); ++host) {
        text += "host " + std::to_string(host) + '\n';
        for (const int number : placement.ranks_of(host)) {
            const auto rank = static_cast<std::size_t>(number);
            text += steps_of("  rank " + padded(rank, rank_width), schedules[rank]);
        }
    }
    return text;
}

std::string to_json(const std::vector<Schedule>& schedules) {
    JsonWriter json;
    json.begin_object().key("ranks").begin_array();
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
        const Schedule& schedule = schedules[rank];
        json.begin_object().member("rank", rank);
        json.member("scratch_bytes", schedule.scratch_bytes()).key("steps").begin_array();
        for (StepId id = 0; const Step& step : schedule.steps())
            write_step(json, id++, step, schedule.dependencies(step));
        json.end_array().end_object();
    }
    json.end_array().end_object();
    return json.take();
}

}  // namespace mutirao
