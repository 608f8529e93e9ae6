#include "core/spanning_tree/rounds.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "core/spanning_tree/values.h"
#include "core/text/bytes.h"
#include "core/text/invariant.h"

namespace mutirao {

using rounds::Kind;
using rounds::LinkNews;
using rounds::LinkState;
using rounds::LinkTable;
using rounds::RoundId;
using rounds::unusable_us;

namespace {

bool announced(const LinkState& state) { return state.breaks > 0 || state.sequence > 0; }

LinkNews news_of(int a, int b, const LinkState& state) {
    return {std::min(a, b), std::max(a, b), state};
}

constexpr int nobody = -1;
/// A neighbour sends a few dozen at most before a host has entered a round.
constexpr std::size_t most_early_per_host = 256;

std::uint64_t hash_of(const RoundId& id, const LinkTable& links, const EdgeList& tree) {
    ByteWriter bytes;
    const auto add = [&](std::uint64_t number) { bytes.put(number, 8); };
    const auto add_ends = [&](int low, int high) {
        add(static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint64_t>(high));
    };
    add(id.number);
    add(static_cast<std::uint64_t>(id.root));
    add(id.incarnation);
    links.for_each([&](int low, int high, const LinkState& state) {
        if (!state.usable()) return;
        add_ends(low, high);
        add(state.breaks);
        add(std::bit_cast<std::uint64_t>(state.latency_us));
    });
    add(tree.size());
    for (const auto& [low, high] : tree) add_ends(low, high);
    return fnv1a(std::move(bytes).take());
}

std::vector<ghs::Neighbour> usable_links(int self, const LinkTable& links) {
    std::vector<ghs::Neighbour> list;
    for (int other = 0; other < links.host_count(); ++other) {
        if (other == self || !links.at(self, other).usable()) continue;
        list.push_back({other, {links.at(self, other).latency_us, std::min(self, other),
                                std::max(self, other)}});
    }
    return list;
}

}  // namespace

// --- what hosts know of links, and how they tell each other ---------------------------------------------

Rounds::Rounds(int self, LinkTable links, EdgeList tree, std::uint64_t incarnation)
    : self_(self),
      incarnation_(incarnation),
      links_(std::move(links)),
      channels_(static_cast<std::size_t>(links_.host_count())) {
    if (self < 0 || self >= links_.host_count()) broken_invariant("host of how many", self, links_.host_count());
    links_.for_each([this](int, int, const LinkState& state) {
        if (state == LinkState{}) ++silent_links_;
    });
    view_.host_count = links_.host_count();
    view_.latency_us = view_.last_known_us = links_.latencies_us();
    count_unknown();
    take_version({}, links_, std::move(tree));
}

Rounds::Output Rounds::announce(int other, double latency_us) {
    if (!(latency_us >= 0)) broken_invariant("latency is none, of the link", self_, other);
    Output out;
    claim(other, latency_us, out);
    settle(out);
    return out;
}

Rounds::Output Rounds::joined(int other) {
    Output out;
    if (channel(other).works) break_channel(other, out);
    channel(other).works = true;
    std::vector<LinkNews> news;
    links_.for_each([&](int low, int high, const LinkState& state) {
        if (announced(state)) news.push_back({low, high, state});
    });
    tell(other, news, out);
    tell_newest(other, out);
    for (Message& message : std::exchange(channel(other).outbox, {}))
        send(other, std::move(message), out);
    settle(out);
    return out;
}

Rounds::Output Rounds::lost(int other) {
    Output out;
    break_channel(other, out);
    settle(out);
    return out;
}

Rounds::Output Rounds::on(int from, const Message& message) {
    using Handler = void (Rounds::*)(int, const Message&, Output&);
    static constexpr std::array<Handler, 6> handlers = {
        &Rounds::on_news,        &Rounds::on_newest,  &Rounds::on_round,
        &Rounds::on_ask_version, &Rounds::on_version, &Rounds::on_step,
    };
    const auto kind = static_cast<std::size_t>(message.kind);
    if (kind >= handlers.size())
        broken_invariant("kind of message of how many", static_cast<int>(message.kind),
                         std::ssize(handlers));
    Output out;
    if (!channel(from).works) return out;
    (this->*handlers[kind])(from, message, out);
    settle(out);
    return out;
}

bool Rounds::leads() const {
    const HostSet reached = links_.component(self_);
    for (int host = 0; host < self_; ++host)
        if (reached.contains(host)) return false;
    return true;
}

void Rounds::break_channel(int other, Output& out) {
    channel(other) = {false, true, {}};
    claim(other, unusable_us, out);
}

void Rounds::claim(int other, double latency_us, Output& out) {
    LinkState state = links_.at(self_, other);
    if (std::isfinite(latency_us)) {
        const bool carries = state.usable() || channel(other).works;
        if (self_ > other || !carries || state.latency_us == latency_us) return;
        ++state.sequence;
        state.latency_us = latency_us + 0.0;
    } else {
        if (!state.usable() && state != LinkState{}) return;
        state = {state.breaks + 1, 0, unusable_us};
    }
    learn({news_of(self_, other, state)}, self_, out);
}

void Rounds::learn(const std::vector<LinkNews>& news, int from, Output& out) {
    std::vector<LinkNews> fresh;
    for (const LinkNews& each : news) {
        if (each.high >= view_.host_count) continue;
        const LinkState& known = links_.at(each.low, each.high);
        if (!(each.state > known)) continue;
        if (known == LinkState{}) --silent_links_;
        links_.set(each.low, each.high, each.state);
        show(each);
        fresh.push_back(each);
    }
    if (fresh.empty()) return;
    count_unknown();
    unsettled_ = true;
    for (int other = 0; other < view_.host_count; ++other)
        if (other != self_ && other != from) tell(other, fresh, out);
}

void Rounds::show(const LinkNews& news) {
    for (const std::size_t place : {view_.index(news.low, news.high), view_.index(news.high, news.low)}) {
        view_.latency_us[place] = news.state.latency_us;
        if (news.state.usable()) view_.last_known_us[place] = news.state.latency_us;
    }
    ++view_.changes;
}

/// Links between hosts out of reach are nobody's business here.
void Rounds::count_unknown() {
    view_.unknown_links = 0;
    if (silent_links_ == 0) return;
    const HostSet reached = links_.component(self_);
    links_.for_each([&](int low, int high, const LinkState& state) {
        if (state == LinkState{} && (reached.contains(low) || reached.contains(high)))
            ++view_.unknown_links;
    });
}

void Rounds::tell(int other, const std::vector<LinkNews>& news, Output& out) const {
    if (news.empty() || !channel(other).works) return;
    for (Message& piece : rounds::split({.kind = Kind::news, .links = news})) out.push_back({other, std::move(piece)});
}

/// So that whoever leads starts no round under a number that was used before.
void Rounds::tell_newest(int other, Output& out) const {
    if (!channel(other).works || newest_ == RoundId{}) return;
    out.push_back({other, {.kind = Kind::newest, .id = newest_}});
}

void Rounds::send(int other, Message message, Output& out) {
    Channel& to = channel(other);
    if (to.cut && message.kind == Kind::step) return;
    if (to.works) {
        out.push_back({other, std::move(message)});
    } else {
        to.outbox.push_back(std::move(message));
    }
}

void Rounds::on_news(int from, const Message& message, Output& out) {
    learn(message.links, from, out);
}

void Rounds::on_newest(int from, const Message& message, Output& out) {
    if (message.id <= newest_) return;
    newest_ = message.id;
    unsettled_ = true;
    pass_on(from, out);
}

// --- when the leading host starts a round, how the others enter it, and how it ends ---------------------

Rounds::Output Rounds::restart() {
    Output out;
    if ((round_ && leads()) || waits_for_links()) start_round(out);
    settle(out);
    return out;
}

Rounds::Output Rounds::release() {
    Output out;
    held_ = false;
    settle(out);
    return out;
}

void Rounds::settle(Output& out) {
    complete_if_finished();
    while (!held_ && std::exchange(unsettled_, false) && leads() && should_start()) {
        start_round(out);
        complete_if_finished();
    }
}

/// Asked of the host that leads.
bool Rounds::should_start() const {
    if (round_) {
        const bool mine = round_->call.id.root == self_ && round_->call.id == newest_;
        return !mine || broken_since_start();
    }
    if (waits_for_links()) return false;
    return version_.id != newest_ || !version_fits();
}

bool Rounds::version_fits() const {
    const HostSet hosts = links_.component(self_);
    bool fits = true;
    links_.for_each([&](int low, int high, const LinkState& state) {
        if (hosts.contains(low) || hosts.contains(high))
            fits = fits && version_.links.at(low, high).same_for_a_tree(state);
    });
    return fits;
}

bool Rounds::waits_for_links() const {
    const bool waits = !round_ && version_.tree.empty() && view_.unknown_links > 0;
    return waits && leads() && links_.component(self_).count() > 1;
}

/// Steps may have been lost with a link, even if it works again.
bool Rounds::broken_since_start() const {
    bool broken = false;
    round_->links.for_each([&](int low, int high, const LinkState& state) {
        const LinkState& now = links_.at(low, high);
        broken = broken || (state.usable() && (!now.usable() || now.breaks != state.breaks));
    });
    return broken;
}

void Rounds::start_round(Output& out) {
    const HostSet hosts = links_.component(self_);
    Message call{.kind = Kind::round,
                 .id = {newest_.number + 1, self_, incarnation_},
                 .base = version_.id,
                 .base_hash = version_.hash,
                 .tree = version_.tree};
    links_.for_each([&](int low, int high, const LinkState& state) {
        if (!hosts.contains(low) && !hosts.contains(high)) return;
        if (!version_.links.at(low, high).same_for_a_tree(state))
            call.links.push_back({low, high, state.usable() ? state : LinkState{}});
    });
    accept(std::move(call), nobody, out);
}

/// A round is called as soon as its root knows the end of the one before, so the call may come
/// ahead of that end. It tells the tree, and the latencies are known.
void Rounds::take_end_from(const Message& call) {
    if (!round_ || !round_->node || round_->call.id != call.base) return;
    if (hash_of(call.base, round_->links, call.tree) == call.base_hash)
        take_version(call.base, std::move(round_->links), call.tree);
}

void Rounds::accept(Message call, int from, Output& out) {
    take_end_from(call);
    newest_ = accepted_ = call.id;
    unsettled_ = true;
    for (Channel& each : channels_) {
        each.cut = false;
        each.outbox.clear();
    }
    round_.emplace();
    round_->call = std::move(call);
    round_->told_by = from;
    const LinkTable nothing(view_.host_count);
    if (round_->call.base_hash == version_.hash) {
        enter(version_.links, out);
    } else if (round_->call.base_hash == hash_of(round_->call.base, nothing, {})) {
        enter(nothing, out);
    } else {
        pass_on(from, out);
        send(from, {.kind = Kind::ask_version, .id = round_->call.base, .base_hash = round_->call.base_hash}, out);
    }
}

void Rounds::enter(const LinkTable& before, Output& out) {
    const Message& call = round_->call;
    maintenance::Round about{call.id.root, call.tree, {}, {}};
    LinkTable links = before;
    for (const LinkNews& each : call.links) {
        if (each.high >= view_.host_count) continue;
        about.changes.push_back({each.low, each.high, before.at(each.low, each.high).latency_us,
                                 each.state.latency_us});
        links.set(each.low, each.high, each.state);
    }
    about.hosts = links.component(call.id.root);
    if (!about.hosts.contains(self_)) {
        round_.reset();
        return;
    }
    links.keep_only(about.hosts);
    round_->node.emplace(self_, usable_links(self_, links), about);
    round_->links = std::move(links);
    pass_on(round_->told_by, out);
    forward(round_->node->start(), out);
    for (const auto& [sender, step] : std::exchange(round_->early, {})) take_step(sender, step, out);
}

/// The round, to whom it concerns; to others within reach, that it exists.
void Rounds::pass_on(int from, Output& out) {
    const bool entered = round_ && round_->node && round_->call.id == newest_;
    std::vector<Message> pieces;
    if (entered) pieces = rounds::split(round_->call);
    for (int other = 0; other < view_.host_count; ++other) {
        if (other == self_ || other == from) continue;
        if (entered && round_->links.at(self_, other).usable()) {
            for (const Message& piece : pieces) send(other, piece, out);
        } else if (links_.at(self_, other).usable()) {
            tell_newest(other, out);
        }
    }
}

void Rounds::on_round(int from, const Message& message, Output& out) {
    if (message.id < newest_) tell_newest(from, out);
    if (message.id < newest_ || message.id <= accepted_) return;
    if (message.id.root < 0 || message.id.root >= view_.host_count) return;
    if (message.parts > 1 && message.id > newest_) {  // until all of it is here
        newest_ = message.id;
        unsettled_ = true;
        pass_on(from, out);
    }
    if (auto whole = call_parts_.add(message)) accept(std::move(*whole), from, out);
}

void Rounds::on_ask_version(int from, const Message& message, Output& out) {
    const LinkTable* links = nullptr;
    if (message.base_hash == version_.hash) {
        links = &version_.links;
    } else if (round_ && round_->before && message.base_hash == round_->call.base_hash) {
        links = &*round_->before;
    } else {
        return;
    }
    Message answer{.kind = Kind::version, .id = message.id};
    links->for_each([&](int low, int high, const LinkState& state) {
        if (state.usable()) answer.links.push_back({low, high, state});
    });
    for (Message& piece : rounds::split(answer)) send(from, std::move(piece), out);
}

void Rounds::on_version(int from, const Message& message, Output& out) {
    if (!round_ || round_->node || from != round_->told_by) return;
    if (message.id != round_->call.base) return;
    const auto whole = round_->version_parts.add(message);
    if (!whole) return;
    LinkTable before(view_.host_count);
    for (const LinkNews& each : whole->links)
        if (each.high < view_.host_count) before.set(each.low, each.high, each.state);
    if (hash_of(whole->id, before, round_->call.tree) != round_->call.base_hash) return;
    round_->before = std::move(before);
    enter(*round_->before, out);
}

void Rounds::on_step(int from, const Message& message, Output& out) {
    if (!round_ || message.id != round_->call.id) return;
    Channel& source = channel(from);
    // Not all of them would be there in the end, and what comes later makes no sense without.
    if (round_->early.size() >= most_early_per_host * channels_.size()) source.cut = true;
    if (!source.cut) take_step(from, message.step, out);
}

void Rounds::take_step(int from, const maintenance::Message& step, Output& out) {
    if (!round_->node) {
        round_->early.push_back({from, step});
    } else if (!round_->node->finished() && round_->links.at(self_, from).usable()) {
        forward(round_->node->on(from, step), out);
    }
}

void Rounds::forward(const maintenance::Output& steps, Output& out) {
    for (const maintenance::Outgoing& each : steps)
        send(each.to, {.kind = Kind::step, .id = round_->call.id, .step = each.message}, out);
}

void Rounds::complete_if_finished() {
    if (!round_ || !round_->node || !round_->node->finished()) return;
    take_version(round_->call.id, std::move(round_->links), round_->node->tree());
    round_.reset();
}

void Rounds::take_version(const RoundId& id, LinkTable links, EdgeList tree) {
    const std::uint64_t hash = hash_of(id, links, tree);
    view_.version = id.number;
    view_.version_hash = hash;
    view_.tree = tree;
    ++view_.changes;
    version_ = {id, std::move(links), std::move(tree), hash};
    unsettled_ = true;
}

}  // namespace mutirao
