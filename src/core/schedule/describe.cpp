// One wording for steps, so that a fault of the checker can be found in the printer's text.
#include "core/schedule/describe.h"

#include <array>

namespace mutirao {
namespace {

constexpr std::array<std::string_view, 3> buffer_names{"input", "output", "scratch"};
constexpr std::array<std::string_view, 4> kind_names{"send", "receive", "copy", "reduce"};

}  // namespace

std::string_view to_string(Buffer buffer) { return buffer_names[static_cast<std::size_t>(buffer)]; }

std::string_view to_string(StepKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::string describe(const Region& region) {
    std::string text(to_string(region.buffer));
    text += '[' + std::to_string(region.offset_bytes) + ',' + std::to_string(region.end_bytes());
    return text += ')';
}

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

std::string describe(int rank, StepId id, const Step& step) {
    return "rank " + std::to_string(rank) + " step " + std::to_string(id) + " (" + describe(step) +
           ')';
}

}  // namespace mutirao
