// An announcement as bytes: the route's kind (1), kind (1), number (4), first call, next epoch's first
// call, call that it was sent in, horizon (8 each), asks for the lead (1), why native for good (2 for
// its length, text), the rulings after their number (4), the route's parents of hosts after their
// number (4 each).
// A ruling: its class, its incumbent, its id (4), what is clocked: calls of a sample, samples before, of and
// after the probe (4 each), and, if there is one, the probe. A class: collective (1), root (4), class of lengths (4), whether the operator commutes (1). An arm:
// the candidate as users write it (2 for its length, text), and its tree (4 for the number of hosts, 0:
// none): the root and then each host with its parent (4 each), brothers in the order in which they are
// served; then, after the number of its shares (2), the parents of all hosts in each of these (2 each).
// A rank's report: whose it is (8), its kind (1), and either number (4), lead (8) and whether it waited (1), or
// the class, the ruling's id (4), the first sample (4) and the samples after their number (1): times in the call and
// laps as IEEE 754 bits (8 each).
#include <algorithm>

#include "core/epochs/announcement.h"
#include "core/network/tree_order.h"
#include "core/text/bytes.h"

namespace mutirao {
namespace {

constexpr std::size_t longest_text_bytes = 1024;
constexpr std::size_t most_rulings = 4096;
/// In a share's list of parents: the root has none.
constexpr std::uint16_t no_parent = 0xFFFF;

void put_text(ByteWriter& out, std::string_view text) {
    const std::string_view kept = text.substr(0, longest_text_bytes);
    out.put(kept.size(), 2);
    out.put_bytes(std::as_bytes(std::span(kept)));
}

/// Lists are no longer than what is left of the message, whatever they claim.
bool fits(std::uint64_t count, std::size_t item_bytes, const ByteReader& in) {
    return count * item_bytes <= in.left();
}

bool take_text(ByteReader& in, std::string& text) {
    const std::uint64_t length = in.take(2);
    if (length > longest_text_bytes || !fits(length, 1, in)) return false;
    for (std::uint64_t i = 0; i < length; ++i) text += static_cast<char>(in.take(1));
    return true;
}

/// The hosts below `tree.root`, parents before their children, brothers in order.
std::vector<int> order_of(const Tree& tree) {
    std::vector<int> order{tree.root};
    for (std::size_t next = 0; next < order.size(); ++next) {
        const auto children = tree.children[static_cast<std::size_t>(order[next])];
        order.insert(order.end(), children.begin(), children.end());
    }
    return order;
}

void put_tree(ByteWriter& out, const std::optional<Tree>& tree) {
    out.put_int(tree ? tree->size() : 0);
    if (!tree) return;
    for (const int host : order_of(*tree)) {
        out.put_int(host);
        if (host != tree->root) out.put_int(tree->parent[static_cast<std::size_t>(host)]);
    }
    out.put(tree->shares.size(), 2);
    for (const Tree& share : tree->shares) {
        for (const int parent : share.parent) out.put(static_cast<std::uint16_t>(parent), 2);
    }
}

/// A tree of the same hosts and root; nothing where these parents make none.
std::optional<Tree> take_share(ByteReader& in, const Tree& whole) {
    std::vector<int> parents;
    for (int host = 0; host < whole.size(); ++host) {
        const auto parent = static_cast<std::uint16_t>(in.take(2));
        const bool is_root = host == whole.root;
        if (is_root != (parent == no_parent) || (!is_root && parent >= whole.size())) return std::nullopt;
        parents.push_back(is_root ? -1 : parent);
    }
    Tree share = tree_from_parents(std::move(parents), whole.root);
    const bool reaches_all = order_of(share).size() == share.parent.size();
    return reaches_all ? std::optional(std::move(share)) : std::nullopt;
}

bool take_shares(ByteReader& in, Tree& tree) {
    const std::uint64_t count = in.take(2);
    const std::uint64_t places = count * tree.parent.size();
    if (places > most_packed_places || !fits(places, 2, in)) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::optional<Tree> share = take_share(in, tree);
        if (!share) return false;
        tree.shares.push_back(std::move(*share));
    }
    return true;
}

bool take_tree(ByteReader& in, int host_count, std::optional<Tree>& taken) {
    const int hosts = in.take_int();
    if (hosts == 0) return true;
    if (hosts != host_count || !fits(static_cast<std::uint64_t>(hosts), 4, in)) return false;
    Tree tree;
    const auto count = static_cast<std::size_t>(hosts);
    tree.parent.assign(count, -1);
    std::vector<std::vector<int>> children(count);
    tree.root = in.take_int();
    const auto is_host = [hosts](int host) { return host >= 0 && host < hosts; };
    std::vector<bool> reached(count, false);
    if (!is_host(tree.root)) return false;
    reached[static_cast<std::size_t>(tree.root)] = true;
    for (int i = 1; i < hosts; ++i) {
        const int host = in.take_int();
        const int parent = in.take_int();
        if (!is_host(host) || !is_host(parent)) return false;
        if (reached[static_cast<std::size_t>(host)] || !reached[static_cast<std::size_t>(parent)])
            return false;
        reached[static_cast<std::size_t>(host)] = true;
        tree.parent[static_cast<std::size_t>(host)] = parent;
        children[static_cast<std::size_t>(parent)].push_back(host);
    }
    tree.children = children;
    if (!take_shares(in, tree)) return false;
    taken = std::move(tree);
    return true;
}

void put_class(ByteWriter& out, const ShapeClass& shapes) {
    out.put(static_cast<std::uint64_t>(shapes.collective), 1);
    out.put_int(shapes.root);
    out.put_int(shapes.length_class);
    out.put(shapes.commutes ? 1 : 0, 1);
}

bool take_class(ByteReader& in, int rank_count, ShapeClass& shapes) {
    const auto collective = in.take(1);
    if (collective >= collectives.size()) return false;
    shapes.collective = static_cast<Collective>(collective);
    shapes.root = in.take_int();
    shapes.length_class = in.take_int();
    shapes.commutes = in.take(1) != 0;
    return shapes.root >= any_root && shapes.root < rank_count;
}

void put_arm(ByteWriter& out, const Candidate& candidate, const std::optional<Tree>& tree) {
    put_text(out, to_string(candidate));
    put_tree(out, tree);
}

bool take_arm(ByteReader& in, Collective collective, int host_count, Candidate& candidate,
              std::optional<Tree>& tree) {
    std::string text;
    if (!take_text(in, text)) return false;
    const ParsedCandidate parsed = parse_candidate(collective, text);
    if (!parsed.candidate) return false;
    candidate = *parsed.candidate;
    return take_tree(in, host_count, tree);
}

void put_ruling(ByteWriter& out, const Ruling& ruling) {
    put_class(out, ruling.shapes);
    put_arm(out, ruling.candidate, ruling.tree);
    out.put(ruling.id, 4);
    const Clocking& clocking = ruling.clocking;
    for (const std::uint32_t each : {clocking.calls_per_sample, clocking.lead, clocking.probe, clocking.trail})
        out.put(each, 4);
    if (ruling.probe) put_arm(out, ruling.probe->candidate, ruling.probe->tree);
}

bool take_clocking(ByteReader& in, Clocking& clocking) {
    for (std::uint32_t* const each :
         {&clocking.calls_per_sample, &clocking.lead, &clocking.probe, &clocking.trail}) {
        *each = static_cast<std::uint32_t>(in.take(4));
        if (*each > Clocking::most_calls_per_sample) return false;
    }
    return clocking.calls_per_sample >= 1 && clocking.samples() <= Clocking::most_samples;
}

bool take_ruling(ByteReader& in, int rank_count, int host_count, Ruling& ruling) {
    const Collective& collective = ruling.shapes.collective;
    if (!take_class(in, rank_count, ruling.shapes)) return false;
    if (!take_arm(in, collective, host_count, ruling.candidate, ruling.tree)) return false;
    ruling.id = static_cast<std::uint32_t>(in.take(4));
    if (!take_clocking(in, ruling.clocking)) return false;
    if (ruling.clocking.probe == 0) return true;
    Arm& probe = ruling.probe.emplace();
    return take_arm(in, collective, host_count, probe.candidate, probe.tree);
}

bool take_rulings(ByteReader& in, int rank_count, int host_count, std::vector<Ruling>& rulings) {
    const std::uint64_t count = in.take(4);
    if (count > most_rulings || !fits(count, 1, in)) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (!take_ruling(in, rank_count, host_count, rulings.emplace_back())) return false;
    }
    return true;
}

bool take_parents(ByteReader& in, int host_count, Route& route) {
    const std::uint64_t count = in.take(4);
    const int expected = route.kind == Route::Kind::hosts ? host_count : 0;
    if (count != static_cast<std::uint64_t>(expected) || !fits(count, 4, in)) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
        const int parent = in.take_int();
        if (parent < -1 || parent >= host_count) return false;
        route.parent_of_host.push_back(parent);
    }
    return true;
}

}  // namespace

std::vector<std::byte> encode(const Announcement& announcement) {
    ByteWriter out;
    out.put(static_cast<std::uint64_t>(announcement.route.kind), 1);
    out.put(static_cast<std::uint64_t>(announcement.kind), 1);
    out.put(announcement.number, 4);
    out.put(announcement.first_call, 8);
    out.put(announcement.next_first_call, 8);
    out.put(announcement.sent_in_call, 8);
    out.put(announcement.horizon_calls, 8);
    out.put(announcement.asks_for_lead ? 1 : 0, 1);
    out.put(announcement.rulings.size(), 4);
    for (const Ruling& ruling : announcement.rulings) put_ruling(out, ruling);
    out.put(announcement.route.parent_of_host.size(), 4);
    for (const int parent : announcement.route.parent_of_host) out.put_int(parent);
    return std::move(out).take();
}

std::optional<Announcement> decode_announcement(std::span<const std::byte> bytes, int rank_count,
                                                int host_count) {
    ByteReader in(bytes);
    Announcement made;
    const std::uint64_t route = in.take(1);
    if (route > static_cast<std::uint64_t>(Route::Kind::hosts)) return std::nullopt;
    made.route.kind = static_cast<Route::Kind>(route);
    const std::uint64_t kind = in.take(1);
    if (kind > static_cast<std::uint64_t>(Announcement::Kind::last)) return std::nullopt;
    made.kind = static_cast<Announcement::Kind>(kind);
    made.number = static_cast<std::uint32_t>(in.take(4));
    made.first_call = in.take(8);
    made.next_first_call = in.take(8);
    made.sent_in_call = in.take(8);
    made.horizon_calls = in.take(8);
    made.asks_for_lead = in.take(1) != 0;
    const bool well = take_rulings(in, rank_count, host_count, made.rulings) &&
                      take_parents(in, host_count, made.route);
    const bool empty_epoch =
        made.kind == Announcement::Kind::epoch && made.next_first_call <= made.first_call;
    if (!well || !in.ended_well() || empty_epoch) return std::nullopt;
    return made;
}

std::vector<std::byte> encode(const Report& report, std::uint64_t owner) {
    ByteWriter out;
    out.put(owner, 8);
    out.put(report.index(), 1);
    if (const auto* const lead = std::get_if<LeadReport>(&report)) {
        out.put(lead->number, 4);
        out.put(lead->lead_calls, 8);
        out.put(lead->waited ? 1 : 0, 1);
    } else {
        const auto& measured = std::get<TimeReport>(report);
        put_class(out, measured.shapes);
        out.put(measured.ruling, 4);
        out.put(measured.first, 4);
        out.put(measured.samples.size(), 1);
        for (const Sample& sample : measured.samples) {
            out.put_double(sample.time_us);
            out.put_double(sample.lap_us);
        }
    }
    return std::move(out).take();
}

std::optional<Report> decode_report(std::span<const std::byte> bytes, int rank_count, std::uint64_t owner) {
    ByteReader in(bytes);
    if (in.take(8) != owner) return std::nullopt;
    Report report;
    if (in.take(1) == report.index()) {
        LeadReport lead;
        lead.number = static_cast<std::uint32_t>(in.take(4));
        lead.lead_calls = in.take(8);
        lead.waited = in.take(1) != 0;
        report = lead;
    } else {
        TimeReport measured;
        if (!take_class(in, rank_count, measured.shapes)) return std::nullopt;
        measured.ruling = static_cast<std::uint32_t>(in.take(4));
        measured.first = static_cast<std::uint32_t>(in.take(4));
        measured.samples.resize(in.take(1));
        for (Sample& sample : measured.samples) sample = {in.take_double(), in.take_double()};
        report = std::move(measured);
    }
    return in.ended_well() ? std::optional(std::move(report)) : std::nullopt;
}

}  // namespace mutirao
