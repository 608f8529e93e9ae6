#include "simulate/transcript.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace mutirao::simulate {
namespace {

const char* name(ghs::State state) {
    constexpr std::array names = {"sleeping", "find", "found"};
    return names[static_cast<std::size_t>(state)];
}

const char* name(ghs::LinkState state) {
    constexpr std::array names = {"basic", "branch", "rejected"};
    return names[static_cast<std::size_t>(state)];
}

std::string fragment_name(const Weight& core) {
    return std::to_string(core.low) + "-" + std::to_string(core.high);
}

std::string best_link(const Weight& best) {
    if (std::isinf(best.value)) return "no link";
    std::array<char, 64> value{};
    std::snprintf(value.data(), value.size(), "%g", best.value);
    return "best " + fragment_name(best) + " of weight " + value.data();
}

std::string known(const HostSet& members) {
    constexpr int most_listed = 8;
    if (members.count() > most_listed) return "knows " + std::to_string(members.count()) + " hosts";
    std::string list;
    for (const int host : members.hosts()) list += (list.empty() ? "" : " ") + std::to_string(host);
    return "knows " + list;
}

/// What a step changed in the host that it happened to.
std::string changes(int host, const ghs::Node& before, const ghs::Node& after,
                    const std::vector<int>& neighbours) {
    const std::string self = std::to_string(host) + ": ";
    std::string lines;
    if (before.state() != after.state())
        lines += self + name(before.state()) + " -> " + name(after.state()) + "\n";
    for (int neighbour : neighbours) {
        if (before.link_state(neighbour) == after.link_state(neighbour)) continue;
        lines += self + "link to " + std::to_string(neighbour) + " " +
                 name(before.link_state(neighbour)) + " -> " + name(after.link_state(neighbour)) +
                 "\n";
    }
    if (before.waiting() != after.waiting())
        lines += self + std::to_string(after.waiting()) + " waiting\n";
    if (before.finished() != after.finished())
        lines += self + "finished, " + std::to_string(after.hosts_in_tree()) + " hosts\n";
    return lines;
}

}  // namespace

std::string describe(const ghs::Message& message) {
    const std::string level = "level " + std::to_string(message.level);
    const std::string level_and_fragment = level + ", fragment " + fragment_name(message.fragment);
    const std::string members = known(message.members);
    switch (message.kind) {
        case ghs::Kind::connect: return "connect(" + level + ", " + members + ")";
        case ghs::Kind::initiate:
            return "initiate(" + level_and_fragment + ", " + name(message.state) + ", " + members +
                   ")";
        case ghs::Kind::test: return "test(" + level_and_fragment + ")";
        case ghs::Kind::accept: return "accept";
        case ghs::Kind::reject: return "reject(" + members + ")";
        case ghs::Kind::report:
            return "report(" + best_link(message.fragment) + ", " + members + ")";
        case ghs::Kind::change_root: return "change-root(" + members + ")";
        case ghs::Kind::finish: return "finish(" + std::to_string(message.hosts) + " hosts)";
    }
    return "unknown";
}

std::string describe(const GhsWorld& world, const GhsWorld::Choice& choice) {
    if (choice.kind == GhsWorld::Choice::Kind::wake) return std::to_string(choice.to) + " wakes up";
    return std::to_string(choice.from) + " -> " + std::to_string(choice.to) + " " +
           describe(world.next(choice.from, choice.to));
}

std::string transcript(GhsWorld world, const std::vector<GhsWorld::Choice>& choices,
                       bool last_only_announced) {
    std::string lines;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const GhsWorld::Choice& choice = choices[i];
        lines += describe(world, choice) + "\n";
        if (last_only_announced && i + 1 == choices.size()) break;
        const ghs::Node before = world.machine(choice.to);
        world.apply(choice);
        lines += changes(choice.to, before, world.machine(choice.to), world.neighbours(choice.to));
    }
    return lines;
}

}  // namespace mutirao::simulate
