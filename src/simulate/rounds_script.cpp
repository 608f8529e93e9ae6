// Scripts for the walks, and words for what happens in a world of rounds.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "simulate/random.h"
#include "simulate/rounds_world.h"

namespace mutirao::simulate {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

class ScriptMaker {
  public:
    ScriptMaker(int most_hosts, std::uint64_t seed) : random_(seed) {
        const auto choices = static_cast<std::size_t>(most_hosts) - 2;
        script_.hosts = 3 + static_cast<int>(random_.below(choices));
        few_values_ = random_.below(3) == 0;
        script_.known = random_.below(3) > 0;
    }

    RoundsScript make() {
        constexpr std::array<double, 4> densities = {1.0, 0.7, 0.5, 0.3};
        const double density = densities[random_.below(densities.size())];
        const auto hosts = static_cast<std::size_t>(script_.hosts);
        script_.latency_us.assign(hosts * hosts, 0);
        for (std::size_t low = 0; low < hosts; ++low) {
            for (std::size_t high = low + 1; high < hosts; ++high) {
                const double value = random_.unit() < density ? latency_us() : never;
                script_.latency_us[low * hosts + high] = value;
                script_.latency_us[high * hosts + low] = value;
            }
        }
        const std::size_t events = random_.below(13);
        while (script_.events.size() < events) script_.events.push_back(event());
        return std::move(script_);
    }

  private:
    double latency_us() {
        return few_values_ ? static_cast<double>(random_.below(4)) : 1000 * random_.unit();
    }

    RoundsEvent event() {
        using Kind = RoundsEvent::Kind;
        constexpr std::array<Kind, 12> kinds = {
            Kind::latency, Kind::latency, Kind::latency, Kind::link, Kind::link,  Kind::link,
            Kind::reset,   Kind::reset,   Kind::host,    Kind::host, Kind::alarm, Kind::restart,
        };
        // Often the same again: what is gone comes back.
        if (!script_.events.empty() && random_.below(3) == 0) return script_.events.back();
        const auto hosts = static_cast<std::size_t>(script_.hosts);
        const auto a = random_.below(hosts);
        const auto b = (a + 1 + random_.below(hosts - 1)) % hosts;
        return {kinds[random_.below(kinds.size())], static_cast<int>(a), static_cast<int>(b),
                random_.below(6) == 0 ? never : latency_us()};
    }

    Random random_;
    bool few_values_ = false;
    RoundsScript script_;
};

std::string number(double value) {
    if (std::isinf(value)) return "never";
    std::string text = std::to_string(value);
    return text.substr(0, text.find('.') + 2);
}

std::string name(const rounds::RoundId& id) {
    return std::to_string(id.number) + " of " + std::to_string(id.root);
}

std::string arrow(int from, int to) { return std::to_string(from) + " -> " + std::to_string(to); }

}  // namespace

RoundsScript random_rounds_script(int most_hosts, std::uint64_t seed) {
    return ScriptMaker(most_hosts, seed).make();
}

std::string describe(const rounds::Message& message) {
    constexpr std::array<std::string_view, 7> kinds = {
        "news", "ask_start", "newest", "round", "ask_version", "version", "step"};
    std::string text(kinds[static_cast<std::size_t>(message.kind)]);
    if (message.id != rounds::RoundId{}) text += " " + name(message.id);
    if (message.kind == rounds::Kind::round)
        text += " from " + name(message.base);
    for (const rounds::LinkNews& link : message.links)
        text += " " + std::to_string(link.low) + "-" + std::to_string(link.high) + "=" +
                number(link.state.latency_us) + "(" + std::to_string(link.state.breaks) + "." +
                std::to_string(link.state.sequence) + ")";
    return text;
}

std::string RoundsWorld::describe(int host) const {
    const Rounds& state = machine(host);
    std::string text = std::to_string(host) + ": ";
    if (!alive(host)) return text + "dead";
    text += "version " + name(state.version_id()) + ", newest " + name(state.newest());
    if (state.leads()) text += ", leads";
    if (state.running()) text += ", in a round";
    text += ", usable:";
    const auto& latency_us = state.view().latency_us;
    for (int other = 0; other < host_count(); ++other) {
        if (other == host || std::isinf(latency_us[index(host) * hosts_.size() + index(other)]))
            continue;
        text += " " + std::to_string(other);
    }
    return text;
}

std::string RoundsWorld::describe(const Choice& choice) const {
    constexpr std::array<std::string_view, 6> events = {"latency", "link",  "reset",
                                                        "host",    "alarm", "restart"};
    if (choice.kind == Choice::Kind::event) {
        const RoundsEvent& event = script_.events[next_event_];
        return "event " + std::string(events[static_cast<std::size_t>(event.kind)]) + " " +
               std::to_string(event.a) + " " + std::to_string(event.b) + " " +
               number(event.latency_us);
    }
    if (choice.kind == Choice::Kind::measure)
        return std::to_string(choice.to) + " measures the link to " + std::to_string(choice.from);
    const Item& item = end(choice.to, choice.from).arriving.front();
    if (item.kind == Item::Kind::message)
        return arrow(choice.from, choice.to) + " " + simulate::describe(item.message);
    return arrow(choice.from, choice.to) +
           (item.kind == Item::Kind::joined ? " joined" : " lost");
}

}  // namespace mutirao::simulate
