#include "simulate/maintenance_world.h"

#include <array>

namespace mutirao::simulate {
namespace {

constexpr std::array merging_names = {"connect", "initiate", "test", "accept", "reject", "report", "change-root",
                                      "finish"};
constexpr std::array kind_names = {"merge",   "not_fail",    "not_fail_ack", "gosleep_fail",
                                   "not_rec", "not_rec_ack", "gosleep_rec"};

template <class Enum>
std::string name(const auto& names, Enum value) {
    return names[static_cast<std::size_t>(value)];
}

std::string text(const maintenance::Message& message) {
    if (message.kind == maintenance::Kind::merge) {
        const ghs::Message& merging = message.merging;
        return name(merging_names, merging.kind) + "(level " + std::to_string(merging.level) + ", " +
               text_of(merging.fragment) + ", knows " + std::to_string(merging.members.count()) + " hosts)";
    }
    std::string links;
    for (const Weight& link : message.links) links += " " + text_of(link);
    return name(kind_names, message.kind) + "(" + links + " )";
}

}  // namespace

std::string MaintenanceWorld::describe(const Choice& choice) const {
    if (choice.kind == Choice::Kind::wake) return std::to_string(choice.to) + " wakes up";
    return std::to_string(choice.from) + " -> " + std::to_string(choice.to) + " " +
           text(next(choice.from, choice.to));
}

std::string MaintenanceWorld::describe(int host) const {
    const RoundNode& node = machine(host);
    std::string line = std::to_string(host) + (node.asleep() ? ": sleeps" : ": is in the round");
    if (node.waiting() > 0) line += ", " + std::to_string(node.waiting()) + " waiting";
    return node.finished() ? line + ", finished, tree" + text_of(node.tree()) : line;
}

}  // namespace mutirao::simulate
