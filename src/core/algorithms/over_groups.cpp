// Collectives whose ranks form groups that are far from each other, as sites are: inside, between, inside.
//
// A message crosses from group to group once, and all pairs of ranks of two groups carry a part of it: where few
// connections would each wait for their windows to open, many send all that they have in their first ones. What is
// whole on one side, a block with its owner, lies cut on the other, a part with each of up to `spread` ranks. So one
// rule says for every collective which bytes go between two ranks, from their numbers alone:
//
// - inside the group that data come from: reductions combine each piece at the rank that sends it on, broadcasts
//   and scatters bring it there;
// - between groups: each piece goes from the rank that has it to the one that puts its block together, or combines it;
// - inside the group that data go to: whoever wants a piece gets it.
//
// Inside a group a piece goes by one rank of each host, another one for each block, so that it enters a host once;
// pieces that go between two ranks at about the same time are one message.
// Groups are the sites or regions that Request::tree is over, or the hosts if all are one. Over regions fewer bytes
// cross and more pairs carry them, but what goes inside has longer ways.
//
// Cost, g groups of m ranks, message of n bytes in all, spread at least m: depth 1 between groups and up to 4 inside;
// (g - 1) m messages between groups for each rank; an allreduce sends and receives (g - 1) n / m bytes a rank
// between groups, an allgather (g - 1) times its block and (g - 1) n / (g m) bytes. Scratch: up to 5 n for a
// reduction. Operands are combined group by group, equally on all ranks, but not in the ranks' order.
//
// After Traeff and Hunold 2019, arXiv:1910.13373 (all ranks of a host are lanes), and Bienz, Gautam and Kharel 2022,
// arXiv:2206.03564 (they share what crosses); there each rank has one counterpart.
#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/over_placement.h"
#include "core/algorithms/reduction.h"
#include "core/algorithms/shape.h"
#include "core/algorithms/trees.h"

namespace mutirao {
namespace {

/// Pieces that would go inside a group at the same time go as one message: what each costs processors adds up.
constexpr std::size_t longest_bundle_bytes = 256 * 1024;

/// Longer messages between groups would ask for consent first, which takes a trip more, or wait for each other; but no
/// piece becomes more messages than this.
constexpr std::size_t most_messages_of_a_piece = 160;

/// Who has data before or after.
enum class Held { everywhere, in_blocks, at_root };

struct Movement {
    Held from;
    Held to;
    bool combines;
    bool of_earlier = false;  ///< a group gets what comes from the groups before it
};

/// The groups of a call, as if each were a host.
Placement groups_of(const Request& request) {
    const Placement& placement = given_placement(request);
    const std::vector<int>& site_of = given_tree(request).site_of;
    const bool one_site = std::ranges::all_of(site_of, [&](int site) { return site == site_of.front(); });
    std::map<int, int> number_of;
    std::vector<int> group_of;
    for (int rank = 0; rank < request.size; ++rank) {
        const int label = one_site ? placement.host_of(rank) : site_of[static_cast<std::size_t>(rank)];
        group_of.push_back(number_of.try_emplace(label, static_cast<int>(number_of.size())).first->second);
    }
    return Placement(std::move(group_of));
}

/// The ranks of one group, host by host.
struct HostsOfGroup {
    std::vector<std::vector<int>> ranks;
    std::size_t own = 0;  ///< which one is this rank's
};
HostsOfGroup hosts_of(std::span<const int> group, const Request& request) {
    const Placement& placement = given_placement(request);
    std::map<int, std::vector<int>> on_host;
    for (const int rank : group) on_host[placement.host_of(rank)].push_back(rank);
    HostsOfGroup hosts;
    for (auto& [host, ranks] : on_host) {
        if (host == placement.host_of(request.rank)) hosts.own = hosts.ranks.size();
        hosts.ranks.push_back(std::move(ranks));
    }
    return hosts;
}

/// One rank's part of a collective over groups. Regions named `bytes` are of all blocks, one behind another.
class OverGroups {
  public:
    /// `in_output`: the message as a whole lies in the output, as far as a rank has it or gets it.
    OverGroups(Dataflow& flow, const Request& request, Movement movement, Placement groups, const Blocks& blocks,
               int block_count, bool in_output, std::size_t scratch_bytes)
        : flow_(flow), request_(request), movement_(movement), groups_(std::move(groups)), blocks_(blocks),
          block_count_(block_count), in_output_(in_output), packing_(flow, 1, scratch_bytes),
          here_(groups_.host_of(request.rank)),
          hosts_here_(hosts_of(groups_.ranks_of(here_), request)) {}

    void run() {
        if (movement_.to == Held::in_blocks) run_to_blocks();
        else run_from_whole();
    }

    std::size_t scratch_bytes() const { return packing_.end_bytes(); }

  private:
    /// Of a combination: what is here already, or comes from others, each with its part of the bytes.
    struct Arrival {
        int peer;
        Region bytes;
    };
    struct Operand {
        Region here{};
        std::vector<Arrival> arrivals{};
    };

    bool is_here(int rank) const { return rank == request_.rank; }
    Region block(int index) const { return blocks_.block(index); }
    int size_of(int group) const { return static_cast<int>(groups_.ranks_of(group).size()); }
    int member(int group, int index) const {
        return groups_.ranks_of(group)[static_cast<std::size_t>(index % size_of(group))];
    }
    const std::vector<int>& beside() const { return hosts_here_.ranks[hosts_here_.own]; }
    int cut_of(int group) const { return std::min(request_.parameters.spread, size_of(group)); }
    Region part(int index, int group, int number) const {
        const Region whole = block(index);
        const Blocks parts(whole.length_bytes, cut_of(group), request_.unit_bytes);
        return part_in(whole.buffer, parts.block(number), whole.offset_bytes);
    }
    /// Ranks own blocks, each its own.
    bool is_owned() const { return movement_.from == Held::in_blocks || movement_.to == Held::in_blocks; }
    /// Who deals with a part of a block of another group in one that has it cut. What is not cut, from ranks of its own,
    /// is with the same rank as its neighbours: that is one piece.
    int holder_of_part(int index, int group, int number) const {
        if (cut_of(group) > 1 || !is_owned()) return member(group, index * cut_of(group) + number);
        const auto own = groups_.ranks_of(group);
        const auto before = std::ranges::lower_bound(own, index) - own.begin();
        return sharer(index - static_cast<int>(before), block_count_ - size_of(group), group);
    }
    /// Who has a block whole.
    int holder(int index, int group) const { return is_owned() ? index : sharer(index, block_count_, group); }
    /// Of so many blocks, as many in a row for each rank of a group.
    int sharer(int index, int count, int group) const {
        return member(group, static_cast<int>(static_cast<long long>(index) * size_of(group) / count));
    }
    /// Whether data that are held so are in that group.
    bool is_in(Held held, int index, int group) const {
        switch (held) {
            case Held::everywhere: return true;
            case Held::in_blocks: return group == groups_.host_of(index);
            case Held::at_root: return group == groups_.host_of(request_.root);
        }
        return false;
    }
    bool comes_from(int index, int group) const {
        return is_in(movement_.from, index, group) && reaches(group, groups_.host_count() - 1);
    }
    bool goes_to(int index, int group) const { return is_in(movement_.to, index, group) && reaches(0, group); }
    bool reaches(int from, int to) const { return !movement_.of_earlier || from < to; }

    // --- memory ----------------------------------------------------------------------------------

    Region source(Region bytes) const {
        if (in_output_ && movement_.from != Held::everywhere) return part_in(Buffer::output, bytes);
        return part_in(Buffer::input, movement_.from == Held::in_blocks ? counted_from_own(bytes) : bytes);
    }
    bool wants(int rank) const { return movement_.to != Held::at_root || rank == request_.root; }
    /// Where a result of these bytes belongs: in the output, if it is this rank's.
    Region home(Region bytes) {
        if (!wants(request_.rank)) return packing_.room(bytes.length_bytes);
        if (movement_.to != Held::in_blocks) return part_in(Buffer::output, bytes);
        if (!is_own(bytes)) return packing_.room(bytes.length_bytes);
        return part_in(Buffer::output, in_output_ ? bytes : counted_from_own(bytes));
    }
    bool is_own(Region bytes) const {
        const Region own = block(request_.rank);
        return bytes.offset_bytes >= own.offset_bytes && bytes.end_bytes() <= own.end_bytes();
    }
    Region counted_from_own(Region bytes) const {
        return {bytes.buffer, bytes.offset_bytes - block(request_.rank).offset_bytes, bytes.length_bytes};
    }
    static Region within(Region place, Region bytes, Region whole) {
        return part_in(place.buffer, {place.buffer, bytes.offset_bytes - whole.offset_bytes, bytes.length_bytes},
                       place.offset_bytes);
    }

    // --- messages --------------------------------------------------------------------------------

    std::vector<Region> messages(int peer, Region region) const {
        const bool crosses = groups_.host_of(peer) != here_;
        const std::size_t most = crosses ? std::max(Transport::unasked_bytes,
                                                    region.length_bytes / most_messages_of_a_piece)
                                         : longest_step_bytes;
        return segments_of(region, most, request_.unit_bytes);
    }
    void send(int peer, Region region) {
        for (const Region& each : messages(peer, region)) flow_.send(peer, each);
    }
    void receive(int peer, Region region) {
        for (const Region& each : messages(peer, region)) flow_.receive(peer, each);
    }

    /// Puts an operand there, or combines it with what is there.
    void receive_all(const Operand& operand, Region bytes, Region place) {
        for (const Arrival& each : operand.arrivals) receive(each.peer, within(place, each.bytes, bytes));
    }
    /// operands[0] op operands[1] op ..., associated from the left, at home. One alone that is here stays where it is.
    Region combine(const std::vector<Operand>& operands, Region bytes) {
        const bool begins_here = operands.front().arrivals.empty();
        if (begins_here && operands.size() == 1) return operands.front().here;
        const std::size_t first_to_arrive = begins_here ? 1 : 0;
        std::vector<Region> places;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            Region place = operands[i].here;
            if (!operands[i].arrivals.empty()) {
                place = i == first_to_arrive ? home(bytes) : packing_.room(bytes.length_bytes);
                receive_all(operands[i], bytes, place);
            }
            places.push_back(place);
        }
        return folded(places, first_to_arrive);
    }
    /// In the place of one of the first two.
    Region folded(const std::vector<Region>& operands, std::size_t result_at) {
        const Region result = operands[result_at];
        if (result_at == 1) flow_.reduce_before(operands.front(), result);
        for (std::size_t i = result_at + 1; i < operands.size(); ++i) flow_.reduce(operands[i], result);
        return result;
    }

    // --- inside a group --------------------------------------------------------------------------

    /// A part of a block, a block, or several in a row, that one rank of this group sends on, or has for the others.
    struct Piece {
        int index, number;
        Region bytes;
        int holder;
        Region result{};  ///< where it lies
    };
    /// Of bytes that come from one group at a time.
    int wave_of(int index) const { return movement_.from == Held::in_blocks ? groups_.host_of(index) : 0; }
    /// Those that follow each other at one rank as one.
    std::vector<Piece> joined(const std::vector<Piece>& pieces) const {
        std::vector<Piece> result;
        for (const Piece& each : pieces) {
            const bool goes_on = !result.empty() && result.back().holder == each.holder &&
                                 wave_of(result.back().index) == wave_of(each.index) &&
                                 result.back().bytes.end_bytes() == each.bytes.offset_bytes &&
                                 result.back().bytes.length_bytes + each.bytes.length_bytes <= longest_bundle_bytes;
            if (!goes_on) {
                result.push_back(each);
                continue;
            }
            result.back().bytes.length_bytes += each.bytes.length_bytes;
            result.back().result.length_bytes += each.result.length_bytes;
        }
        return result;
    }
    /// Of bytes from rank to rank. Those of one wave are ready, or wanted, at about the same time.
    struct Transfer {
        int from, to, wave;
        std::size_t length_bytes;
        Region source{}, target{};  ///< where this rank knows it; without a target it gets one in scratch memory
    };

    bool takes_part(int from, int to) const { return is_here(from) || is_here(to); }

    /// What goes between two ranks in one wave goes as one message, if that is not too long.
    void carry(std::vector<Transfer>& transfers) {
        const auto way = [](const Transfer* it) { return std::tuple(it->wave, it->from, it->to); };
        std::vector<Transfer*> all;
        for (Transfer& each : transfers) {
            if (each.length_bytes > 0) all.push_back(&each);
        }
        std::ranges::stable_sort(all, {}, way);
        for (auto begin = all.begin(); begin != all.end();) {
            std::size_t length_bytes = 0;
            auto end = begin;
            while (end != all.end() && way(*end) == way(*begin) &&
                   (end == begin || length_bytes + (*end)->length_bytes <= longest_bundle_bytes)) {
                length_bytes += (*end++)->length_bytes;
            }
            carry_together(std::span(begin, end));
            begin = end;
        }
    }
    void carry_together(std::span<Transfer* const> transfers) {
        pieces_.clear();
        const auto [from, to] = std::pair{transfers.front()->from, transfers.front()->to};
        if (is_here(from)) {
            for (const Transfer* each : transfers) pieces_.push_back(each->source);
            return send(to, packing_.packed(pieces_));
        }
        std::size_t length_bytes = 0;
        for (const Transfer* each : transfers) length_bytes += each->length_bytes;
        const bool has_place = transfers.front()->target.length_bytes > 0;
        Region next = has_place ? Region{} : packing_.room(length_bytes);
        for (Transfer* each : transfers) {
            if (!has_place) each->target = {next.buffer, next.offset_bytes, each->length_bytes};
            next.offset_bytes += each->length_bytes;
            pieces_.push_back(each->target);
        }
        packing_.receive(from, pieces_);
    }

    /// One rank of a host. Parts of a block meet there, and go on as one.
    static int speaker(const std::vector<int>& ranks, std::size_t number) { return ranks[number % ranks.size()]; }
    /// Or the holder in its own.
    static int speaker(const std::vector<int>& ranks, std::size_t number, int holder) {
        const bool has_holder = std::ranges::find(ranks, holder) != ranks.end();
        return has_holder ? holder : speaker(ranks, number);
    }
    /// Of operands, for a piece that is to be sent on.
    int speaker(const std::vector<int>& ranks, std::size_t number, const Piece& piece) const {
        const bool is_in_parts = movement_.to == Held::in_blocks && groups_.host_of(piece.index) != here_ && cut_of(here_) > 1;
        return is_in_parts ? speaker(ranks, number) : speaker(ranks, number, piece.holder);
    }

    /// Brings these to the ranks that send them on.
    void collect(const std::vector<Piece>& pieces) {
        if (!movement_.combines) {
            for (const Piece& each : pieces) here_at_[{each.index, each.number}] = collect_plain(each);
            return;
        }
        const std::vector<Piece> wholes = joined(pieces);
        const std::vector<Region> results = collect_combined(wholes);
        std::size_t i = 0;
        for (const Piece& each : pieces) {
            while (each.bytes.end_bytes() > wholes[i].bytes.end_bytes()) ++i;
            if (is_here(each.holder))
                here_at_[{each.index, each.number}] = within(results[i], each.bytes, wholes[i].bytes);
        }
    }
    Region collect_plain(const Piece& piece) {
        if (movement_.from == Held::in_blocks || piece.holder == request_.root)
            return is_here(piece.holder) ? source(piece.bytes) : Region{};
        if (is_here(request_.root)) send(piece.holder, source(piece.bytes));
        if (!is_here(piece.holder)) return {};
        const Region place = home(piece.bytes);
        receive(request_.root, place);
        return place;
    }

    /// First inside hosts, where the parts of a block meet, then one operand from each.
    std::vector<Region> collect_combined(const std::vector<Piece>& pieces) {
        const std::span<const int> alone(&request_.rank, 1);
        std::vector<Gathering> inside, between;
        std::vector<std::size_t> first_of;  ///< piece of each block
        std::vector<std::vector<int>> speakers(pieces.size());
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const Piece& piece = pieces[i];
            if (i > 0 && piece.index == pieces[i - 1].index) {
                inside.back().mine.length_bytes += piece.bytes.length_bytes;
            } else {
                const int speaking = speaker(beside(), inside.size(), piece);
                inside.push_back({is_here(speaking) ? beside() : alone, speaking, source(piece.bytes)});
                first_of.push_back(i);
            }
            if (!is_here(piece.holder)) continue;
            for (const std::vector<int>& ranks : hosts_here_.ranks)
                speakers[i].push_back(speaker(ranks, inside.size() - 1, piece));
        }
        const std::vector<Region> of_host = combined(inside);
        std::size_t block = 0;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const Piece& piece = pieces[i];
            if (block + 1 < first_of.size() && first_of[block + 1] == i) ++block;
            const std::span<const int> speaks = is_here(inside[block].at) ? alone : std::span<const int>();
            between.push_back({is_here(piece.holder) ? speakers[i] : speaks, piece.holder,
                               within(of_host[block], piece.bytes, pieces[first_of[block]].bytes)});
        }
        return combined(between);
    }

    /// Operands of these ranks, in their order, for one of them, as far as this rank has to do with it; `mine` is its own.
    struct Gathering {
        std::span<const int> from;
        int at;
        Region mine;
    };
    std::vector<Region> combined(const std::vector<Gathering>& all) {
        std::vector<Transfer> transfers;
        for (const Gathering& each : all) {
            for (const int rank : each.from) {
                if (rank != each.at && takes_part(rank, each.at))
                    transfers.push_back({rank, each.at, 0, each.mine.length_bytes, each.mine});
            }
        }
        carry(transfers);
        std::vector<Region> results;
        std::vector<Region> operands;
        auto next = transfers.begin();
        for (const Gathering& each : all) {
            operands.clear();
            for (const int rank : each.from) {
                if (rank == each.at && is_here(rank)) operands.push_back(each.mine);
                else if (rank != each.at && is_here(each.at)) operands.push_back((next++)->target);
                else if (rank != each.at && is_here(rank)) ++next;
            }
            results.push_back(operands.empty() ? Region{} : accumulated(operands));
        }
        return results;
    }
    /// In the place of the first one in scratch memory: of several at most one is not there, this rank's own.
    Region accumulated(const std::vector<Region>& operands) {
        if (operands.size() == 1) return operands.front();
        return folded(operands, operands.front().buffer == Buffer::scratch ? 0 : 1);
    }

    /// From the ranks of this group that have the results to those that want them.
    void spread(std::vector<Piece> results) {
        for (Piece& each : results) {
            if (!is_here(each.holder) || !wants(each.holder) || each.result == home(each.bytes)) continue;
            flow_.copy(each.result, home(each.bytes));
            if (!stays(each.index, here_)) each.result = home(each.bytes);
        }
        std::vector<std::vector<int>> without_root = hosts_here_.ranks;
        for (std::vector<int>& ranks : without_root) std::erase(ranks, request_.root);
        std::vector<Transfer> to_hosts, inside;
        for (const Piece& each : movement_.to == Held::everywhere ? joined(results) : results) {
            const auto add = [&](std::vector<Transfer>& transfers, int from, int to) {
                if (from == to || !takes_part(from, to)) return;
                const Region there = is_here(to) ? home(each.bytes) : Region{};
                transfers.push_back({from, to, wave_of(each.index), each.bytes.length_bytes,
                                     is_here(each.holder) ? each.result : home(each.bytes), there});
            };
            if (movement_.to == Held::at_root) {
                add(to_hosts, each.holder, request_.root);
                continue;
            }
            const bool in_parts = cut_of(here_) > 1 && !stays(each.index, here_);
            const auto block = static_cast<std::size_t>(each.index);
            const bool root_has_it = movement_.from == Held::at_root && each.holder != request_.root;
            const std::span hosts(root_has_it ? without_root : hosts_here_.ranks);
            for (const std::vector<int>& ranks : is_here(each.holder) ? hosts : hosts.subspan(hosts_here_.own, 1)) {
                if (ranks.empty()) continue;
                const int speaking = in_parts ? speaker(ranks, block) : speaker(ranks, block, each.holder);
                add(to_hosts, each.holder, speaking);
                for (const int rank : ranks) {
                    if (rank != each.holder) add(inside, speaking, rank);
                }
            }
        }
        carry(to_hosts);
        carry(inside);
    }

    // --- between groups --------------------------------------------------------------------------

    void run_from_whole() {
        std::vector<Piece> whole;
        for (int index = 0; index < block_count_; ++index) {
            if (comes_from(index, here_)) whole.push_back({index, 0, block(index), holder(index, here_)});
        }
        collect(whole);
        for (int index = 0; index < block_count_; ++index) cross_in_parts(index);
        std::vector<Piece> results;
        for (int index = 0; index < block_count_; ++index) {
            if (!goes_to(index, here_)) continue;
            if (stays(index, here_)) {
                results.push_back({index, 0, block(index), holder(index, here_), here_at_[{index, 0}]});
                continue;
            }
            for (int number = 0; number < cut_of(here_); ++number) {
                results.push_back(part_of(index, number));
                results.back().result = results_[{index, number}];
            }
        }
        spread(std::move(results));
    }
    /// In this group.
    Piece part_of(int index, int number) const {
        return {index, number, part(index, here_, number), holder_of_part(index, here_, number)};
    }
    /// Within its own group a block of which nothing comes from others goes on whole.
    bool stays(int index, int group) const { return !movement_.combines && comes_from(index, group); }

    void cross_in_parts(int index) {
        if (comes_from(index, here_) && is_here(holder(index, here_))) send_parts(index);
        if (!goes_to(index, here_) || stays(index, here_)) return;
        for (int number = 0; number < cut_of(here_); ++number) {
            if (!is_here(holder_of_part(index, here_, number))) continue;
            const Region bytes = part(index, here_, number);
            results_[{index, number}] = combine(operands_of(index, bytes), bytes);
        }
    }
    void send_parts(int index) {
        const Region whole = here_at_[{index, 0}];
        for (int to = 0; to < groups_.host_count(); ++to) {
            if (!goes_to(index, to) || stays(index, to) || !reaches(here_, to)) continue;
            for (int number = 0; number < cut_of(to); ++number) {
                const int receiver = holder_of_part(index, to, number);
                if (!is_here(receiver)) send(receiver, within(whole, part(index, to, number), block(index)));
            }
        }
    }
    std::vector<Operand> operands_of(int index, Region bytes) {
        std::vector<Operand> operands;
        for (int from = 0; from < groups_.host_count(); ++from) {
            if (!comes_from(index, from) || !reaches(from, here_)) continue;
            const int sender = holder(index, from);
            if (is_here(sender)) operands.push_back({.here = within(here_at_[{index, 0}], bytes, block(index))});
            else operands.push_back({.arrivals = {{sender, bytes}}});
        }
        return operands;
    }

    void run_to_blocks() {
        std::vector<Piece> pieces;
        for (int index = 0; index < block_count_; ++index) {
            if (!comes_from(index, here_)) continue;
            if (groups_.host_of(index) == here_) {
                pieces.push_back({index, 0, block(index), index});
                continue;
            }
            for (int number = 0; number < cut_of(here_); ++number) pieces.push_back(part_of(index, number));
        }
        collect(pieces);
        for (int index = 0; index < block_count_; ++index) {
            if (groups_.host_of(index) == here_ || !comes_from(index, here_)) continue;
            for (int number = 0; number < cut_of(here_); ++number) {
                if (is_here(holder_of_part(index, here_, number))) send(index, here_at_[{index, number}]);
            }
        }
        take_own_block();
    }

    void take_own_block() {
        const int own = request_.rank;
        std::vector<Operand> operands;
        for (int from = 0; from < groups_.host_count(); ++from) {
            if (!comes_from(own, from)) continue;
            operands.emplace_back();
            if (from == here_) {
                operands.back().here = here_at_[{own, 0}];
                continue;
            }
            for (int number = 0; number < cut_of(from); ++number)
                operands.back().arrivals.push_back({holder_of_part(own, from, number), part(own, from, number)});
        }
        const Region result = combine(operands, block(own));
        if (const Region place = home(block(own)); result != place) flow_.copy(result, place);
    }

    Dataflow& flow_;
    const Request& request_;
    const Movement movement_;
    const Placement groups_;
    const Blocks blocks_;
    const int block_count_;
    const bool in_output_;
    Packing packing_;
    const int here_;
    const HostsOfGroup hosts_here_;
    std::map<std::pair<int, int>, Region> here_at_, results_;  ///< by block and part
    std::vector<Region> pieces_;  ///< of one message, for the time that it takes to write it down
};

constexpr Movement spread_out{Held::at_root, Held::everywhere, false};
constexpr Movement scattered{Held::at_root, Held::in_blocks, false};
constexpr Movement gathered{Held::in_blocks, Held::at_root, false};
constexpr Movement gathered_by_all{Held::in_blocks, Held::everywhere, false};
constexpr Movement reduced{Held::everywhere, Held::at_root, true};
constexpr Movement reduced_by_all{Held::everywhere, Held::everywhere, true};
constexpr Movement reduced_in_blocks{Held::everywhere, Held::in_blocks, true};
constexpr Movement reduced_for_later{Held::everywhere, Held::everywhere, true, true};

/// A block for every rank of the largest group.
Schedule once(const Request& request, Movement movement, const Placement& groups) {
    const int count = groups.most_ranks_on_a_host();
    Dataflow flow;
    OverGroups(flow, request, movement, groups, Blocks(request.length_bytes, count, request.unit_bytes), count,
               movement.from == Held::at_root, 0)
        .run();
    return std::move(flow).take();
}
Schedule once(const Request& request, Movement movement) { return once(request, movement, groups_of(request)); }

/// The blocks that the collective has.
Schedule once_in_blocks(const Request& request, Movement movement) {
    Dataflow flow;
    OverGroups(flow, request, movement, groups_of(request), blocks_of(request), request.size, false, 0).run();
    return std::move(flow).take();
}

/// Who owns how much of a message: all as much, or each group what its tree says.
Blocks owned_blocks(const Request& request) {
    const Tree& tree = given_tree(request);
    if (tree.owned.empty()) return {request.length_bytes, request.size, request.unit_bytes};
    std::vector<int> ranks_in(tree.owned.size());
    for (const int site : tree.site_of) ++ranks_in[static_cast<std::size_t>(site)];
    const Blocks parts(request.length_bytes, owned_parts, request.unit_bytes);
    std::vector<Blocks> of_group;
    int first = 0;
    for (std::size_t group = 0; group < ranks_in.size(); ++group) {
        const int end = first + tree.owned[group];
        of_group.emplace_back(parts.range(first, end).length_bytes, ranks_in[group], request.unit_bytes);
        first = end;
    }
    std::vector<std::size_t> lengths;
    std::vector<int> next(ranks_in.size());
    for (const int site : tree.site_of) {
        const auto group = static_cast<std::size_t>(site);
        lengths.push_back(of_group[group].block(next[group]++).length_bytes);
    }
    return Blocks(lengths);
}

/// Shorter messages are at the bound by other ways, and a part of them is not worth its message.
constexpr std::size_t least_message_bytes = 8192, least_block_bytes = 2048;

Algorithm row(Collective collective, std::string_view name, std::string_view summary, Build* build) {
    const bool can_be_uneven = collective == Collective::allgather || collective == Collective::reduce_scatter_block;
    return {.collective = collective, .name = name, .summary = summary,
            .source = "after Traeff and Hunold 2019, arXiv:1910.13373; Bienz et al. 2022, arXiv:2206.03564",
            .build = build, .spreads = {4, 1, most_useful_spread},
            .trees = {TreeKind::two_level, TreeKind::regions},
            .least_bytes = row_of(collective).in_blocks == InBlocks::none ? least_message_bytes : least_block_bytes,
            .blocks = can_be_uneven ? InBlocks::uneven : InBlocks::equal};
}

/// Where who owns how much of the message is free, too.
Algorithm with_owners(Algorithm row) {
    row.trees.insert(row.trees.end(), {TreeKind::two_level_uneven, TreeKind::regions_uneven});
    return row;
}

// To a block for every rank, and from there: two crossings of smaller parts.
Schedule groups_twice(const Request& request) {
    const Blocks blocks = owned_blocks(request);
    Dataflow flow;
    const Placement groups = groups_of(request);
    OverGroups to_blocks(flow, request, reduced_in_blocks, groups, blocks, request.size, true, 0);
    to_blocks.run();
    OverGroups(flow, request, gathered_by_all, groups, blocks, request.size, true, to_blocks.scratch_bytes()).run();
    return std::move(flow).take();
}

// What the groups before have together, and meanwhile a scan inside. Prefixes go by ranks: a group is a run of
// consecutive ranks, and where its ranks are not numbered one after another it is several.
Schedule prefix_over_groups(const Request& request, Collective collective) {
    const Placement runs = runs_on_hosts(groups_of(request));
    const int run = runs.host_of(request.rank), position = runs.position_of(request.rank);
    const auto ranks = runs.ranks_of(run);
    Schedule schedule = once(request, reduced_for_later, runs);
    const Region result{Buffer::output, 0, request.length_bytes};
    const Region inside = run == 0 ? result : Region{Buffer::scratch, aligned(schedule.scratch_bytes()), result.length_bytes};
    schedule.append(find_algorithm(collective, "direct_shares")
                        ->build({.rank = position, .size = static_cast<int>(ranks.size()),
                                 .length_bytes = request.length_bytes, .unit_bytes = request.unit_bytes,
                                 .commutes = request.commutes}),
                    [&](int other) { return ranks[static_cast<std::size_t>(other)]; }, {.output = inside});
    if (run == 0 || (collective == Collective::exscan && position == 0)) return schedule;
    Dataflow added;
    added.reduce({Buffer::input, 0, result.length_bytes}, result);
    schedule.append(std::move(added).take(), {}, {.input = inside});
    return schedule;
}

// Signals inside, between and inside; the first rank of a group speaks for it.
//
// Cost, g groups of m ranks: 3 messages deep; the first rank sends g + m - 2.
Schedule barrier_over_groups(const Request& request) {
    const Placement groups = groups_of(request);
    const auto beside = groups.ranks_of(groups.host_of(request.rank));
    const int first = beside.front();
    Schedule schedule;
    if (request.rank != first) {
        schedule.send(first, signal);
        schedule.receive(first, signal);
        return schedule;
    }
    std::vector<StepId> heard;
    for (const int rank : beside.subspan(1)) heard.push_back(schedule.receive(rank, signal));
    const std::vector<StepId> inside = heard;
    for (int group = 0; group < groups.host_count(); ++group) {
        const int its_first = groups.ranks_of(group).front();
        if (its_first == first) continue;
        schedule.send(its_first, signal, inside);
        heard.push_back(schedule.receive(its_first, signal));
    }
    for (const int rank : beside.subspan(1)) schedule.send(rank, signal, heard);
    return schedule;
}

}  // namespace

std::vector<Algorithm> over_groups_rows() {
    using enum Collective;
    return {
        {.collective = barrier, .name = "groups", .summary = "signals inside each site, between their first ranks, inside",
         .source = "Kielmann et al. 1999, doi:10.1145/301104.301116", .build = barrier_over_groups,
         .trees = {TreeKind::two_level, TreeKind::regions}},
        row(broadcast, "groups", "every pair of ranks of two sites carries a part, put together inside",
            [](const Request& request) { return once(request, spread_out); }),
        row(gather, "groups", "blocks go in parts to all ranks of the root's site, and from these to it",
            [](const Request& request) { return once_in_blocks(request, gathered); }),
        row(scatter, "groups", "all ranks of the root's site send parts of each block",
            [](const Request& request) { return once_in_blocks(request, scattered); }),
        row(allgather, "groups", "blocks go in parts to all ranks of each site, put together inside",
            [](const Request& request) { return once_in_blocks(request, gathered_by_all); }),
        row(reduce, "groups", "combined inside each site, by all its ranks sent to the root's site",
            [](const Request& request) { return once(request, reduced); }),
        row(allreduce, "groups", "combined inside each site, exchanged by all pairs of ranks at once",
            [](const Request& request) { return once(request, reduced_by_all); }),
        with_owners(row(allreduce, "groups_twice", "a block is combined by each rank, then gathered by all sites",
                        groups_twice)),
        row(reduce_scatter_block, "groups", "a part of each block is combined by each rank of a site",
            [](const Request& request) { return once_in_blocks(request, reduced_in_blocks); }),
        row(scan, "groups", "what earlier sites have together comes from all their ranks, and a scan goes on inside",
            [](const Request& request) { return prefix_over_groups(request, scan); }),
        row(exscan, "groups", "what earlier sites have together comes from all their ranks, and a scan goes on inside",
            [](const Request& request) { return prefix_over_groups(request, exscan); }),
    };
}

}  // namespace mutirao
