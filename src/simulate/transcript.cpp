#include "simulate/transcript.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mutirao::simulate {
namespace {

const char* name(ghs::State state) {
    constexpr std::array names = {"sleeping", "find", "found"};
    return names[static_cast<std::size_t>(state)];
}

std::string fragment_name(const Weight& core) {
    return std::to_string(core.low) + "-" + std::to_string(core.high);
}

std::string best_link(const Weight& best) {
    if (std::isinf(best.value)) return "no link";
    return "best " + fragment_name(best) + " of weight " + text_of(best.value);
}

std::string known(const HostSet& members) {
    constexpr int most_listed = 8;
    if (members.count() > most_listed) return "knows " + std::to_string(members.count()) + " hosts";
    std::string list;
    for (const int host : members.numbers()) list += (list.empty() ? "" : " ") + std::to_string(host);
    return "knows " + list;
}

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

using maintenance::Kind;

std::string text(const std::vector<Weight>& links) {
    std::string list;
    for (const Weight& link : links)
        list += " " + std::to_string(link.low) + "-" + std::to_string(link.high) + "=" +
                text_of(link.value);
    return list.empty() ? " no links" : list;
}

const char* name(maintenance::State state) {
    constexpr std::array names = {"sleeping", "reiden", "find", "found", "recover"};
    return names[static_cast<std::size_t>(state)];
}

std::string describe(const maintenance::Message& message) {
    const std::string tag = "tag " + std::to_string(message.tag);
    switch (message.kind) {
        case Kind::merge: return describe(message.merging);
        case Kind::not_fail: return "not_fail(" + tag + ")";
        case Kind::not_fail_ack: return "not_fail_ack(" + tag + "," + text(message.links) + ")";
        case Kind::gosleep_fail: return "gosleep_fail(" + text(message.links).substr(1) + ")";
        case Kind::not_rec: return "not_rec(" + tag + ")";
        case Kind::not_rec_ack: return "not_rec_ack(" + tag + "," + text(message.links) + ")";
        case Kind::gosleep_rec: return "gosleep_rec(" + text(message.links).substr(1) + ")";
    }
    return "unknown";
}

std::string describe(const MaintenanceWorld& world, const MaintenanceWorld::Choice& choice) {
    const std::string to = std::to_string(choice.to);
    if (choice.kind == MaintenanceWorld::Choice::Kind::wake) return to + " wakes up";
    return std::to_string(choice.from) + " -> " + to + " " + describe(world.next(choice.from, choice.to));
}

std::string describe(const RoundsWorld& world, const RoundsWorld::Choice& choice) { return world.describe(choice); }

/// What a step changed in the host that it happened to.
std::string changes(int host, const RoundNode& before, const RoundNode& after) {
    std::string lines;
    const auto add = [&](const std::string& what) { lines += std::to_string(host) + ": " + what + "\n"; };
    if (before.state() != after.state()) add(std::string(name(before.state())) + " -> " + name(after.state()));
    if (before.branches() != after.branches()) {
        std::string list = "branches to";
        for (const int other : after.branches()) list += " " + std::to_string(other);
        add(list);
    }
    if (before.waiting() != after.waiting()) add(std::to_string(after.waiting()) + " waiting");
    if (before.finished() != after.finished()) add("finished, tree" + text_of(after.tree()));
    return lines;
}

/// `play` makes a choice happen and tells what that changed.
template <class World, class Play>
std::string tell(const World& world, const std::vector<typename World::Choice>& choices, Play play) {
    std::string lines;
    for (const typename World::Choice& choice : choices) {
        lines += describe(world, choice) + "\n";
        if (&choice != &choices.back()) lines += play(choice);
    }
    return lines;
}

}  // namespace

std::string transcript(MaintenanceWorld world, const std::vector<MaintenanceWorld::Choice>& choices) {
    return tell(world, choices, [&](const MaintenanceWorld::Choice& choice) {
        const RoundNode before = world.machine(choice.to);
        world.apply(choice);
        return changes(choice.to, before, world.machine(choice.to));
    });
}

std::string transcript(RoundsWorld world, const std::vector<RoundsWorld::Choice>& choices) {
    std::string lines = tell(world, choices, [&](const RoundsWorld::Choice& choice) {
        world.apply(choice);
        return std::string();
    });
    for (int host = 0; host < world.host_count(); ++host) lines += world.describe(host) + "\n";
    return lines;
}

}  // namespace mutirao::simulate
