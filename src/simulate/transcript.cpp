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

const char* name(ghs::LinkState state) {
    constexpr std::array names = {"basic", "branch", "rejected"};
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

std::string describe(const maintenance::Round& round) {
    std::string line = "round " + std::to_string(round.number) + " opens, root " +
                       std::to_string(round.root) + ", tree" + text_of(round.tree) + "\n";
    for (const maintenance::Change& change : round.changes)
        line += "  " + std::to_string(change.low) + "-" + std::to_string(change.high) + " from " +
                text_of(change.before) + " to " + text_of(change.after) + "\n";
    return line;
}

/// What a step changed in the host that it happened to.
std::string changes(int host, const RoundHost& before, const RoundHost& after) {
    const std::string self = std::to_string(host) + ": ";
    if (!after.node()) return {};
    const maintenance::Node& now = *after.node();
    const bool entered = before.round() != after.round();
    const auto old_state = entered ? maintenance::State::sleeping : before.node()->state();
    const std::vector<int> old_branches = entered ? std::vector<int>{} : before.node()->branches();
    std::string lines;
    if (old_state != now.state())
        lines += self + name(old_state) + " -> " + name(now.state()) + "\n";
    if (old_branches != now.branches()) {
        lines += self + "branches to";
        for (const int other : now.branches()) lines += " " + std::to_string(other);
        lines += "\n";
    }
    if (now.finished() && (entered || !before.node()->finished()))
        lines += self + "finished, tree" + text_of(now.tree()) + "\n";
    return lines;
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
    using Choice = MaintenanceWorld::Choice;
    const std::string from = std::to_string(choice.from);
    const std::string to = std::to_string(choice.to);
    switch (choice.kind) {
        case Choice::Kind::open: return "the next round opens";
        case Choice::Kind::enter: return to + " enters the round";
        case Choice::Kind::change:
            return "link " + from + "-" + to + " changes to " + text_of(choice.value);
        case Choice::Kind::deliver: break;
    }
    const RoundMessage& next = world.next(choice.from, choice.to);
    const bool other_round = next.round != world.host(choice.to).round();
    return from + " -> " + to + " " +
           (other_round ? "of round " + std::to_string(next.round) + ": " : "") +
           describe(next.message);
}

std::string describe(const RoundsWorld& world, const RoundsWorld::Choice& choice) { return world.describe(choice); }

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

std::string transcript(GhsWorld world, const std::vector<GhsWorld::Choice>& choices) {
    return tell(world, choices, [&](const GhsWorld::Choice& choice) {
        const ghs::Node before = world.machine(choice.to);
        world.apply(choice);
        return changes(choice.to, before, world.machine(choice.to), world.neighbours(choice.to));
    });
}

std::string transcript(MaintenanceWorld world, const std::vector<MaintenanceWorld::Choice>& choices) {
    using Choice = MaintenanceWorld::Choice;
    return tell(world, choices, [&](const Choice& choice) {
        const bool of_a_host = choice.kind == Choice::Kind::deliver || choice.kind == Choice::Kind::enter;
        const RoundHost before = of_a_host ? world.host(choice.to) : RoundHost();
        world.apply(choice);
        if (choice.kind == Choice::Kind::open) return describe(world.opened(world.newest_round()).round);
        return of_a_host ? changes(choice.to, before, world.host(choice.to)) : std::string();
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
