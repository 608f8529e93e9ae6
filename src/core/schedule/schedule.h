// A collective as data: what one rank sends, receives, copies and reduces, and what must be
// complete before. It knows nothing of MPI; the executor runs it, the checker proves it, the
// predictor times it and the printer draws it.
//
// Meaning. A step is *started* once all steps that it comes after are *complete* and every earlier
// step of the same kind with the same peer has been started. Between two ranks the k-th send
// matches the k-th receive in step order. Lengths are bytes of the packed signature, never counts
// of a datatype, since ranks may pass different (count, datatype) pairs of equal signature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mutirao {

/// Which memory a region lies in. In-place collectives such as broadcast use `output` only.
enum class Buffer : std::uint8_t { input, output, scratch };

struct Region {
    Buffer buffer = Buffer::output;
    std::size_t offset_bytes = 0;
    std::size_t length_bytes = 0;

    std::size_t end_bytes() const { return offset_bytes + length_bytes; }
    bool overlaps(const Region& other) const {
        return buffer == other.buffer && offset_bytes < other.end_bytes() && other.offset_bytes < end_bytes();
    }
    bool operator==(const Region&) const = default;
};

/// Where the next thing in scratch memory may begin: at a cache line, which is aligned for every datatype.
constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// No step is longer: MPI's functions for messages count in int.
inline constexpr std::size_t longest_step_bytes = std::size_t{1} << 30;

enum class StepKind : std::uint8_t { send, receive, copy, reduce };

using StepId = std::int32_t;

struct Step {
    StepKind kind;
    std::int32_t peer;  ///< send: destination, receive: source; -1 otherwise
    Region source;      ///< send, copy, reduce: what is read; receive: unused
    Region target;      ///< receive, copy: what is written; reduce: what is combined with source
    std::uint32_t first_dependency;
    std::uint32_t dependency_count;
    /// reduce: target = source op target; otherwise target = target op source.
    bool source_first = false;

    bool is_message() const { return kind == StepKind::send || kind == StepKind::receive; }
};

/// Where a joined schedule finds what it calls its input and its output. They must not meet, unless
/// both are where they always are.
struct Homes {
    Region input{Buffer::input, 0, 0};
    Region output{Buffer::output, 0, 0};
};

/// One rank's part of a collective. Steps can depend only on steps added before them, so the
/// dependencies have no cycles by construction.
class Schedule {
  public:
    using After = std::span<const StepId>;

    StepId send(int peer, Region data, After after = {});
    StepId receive(int peer, Region into, After after = {});
    StepId copy(Region from, Region into, After after = {});
    /// into = into op from.
    StepId reduce(Region from, Region into, After after = {});
    /// into = from op into, for operators that do not commute.
    StepId reduce_before(Region from, Region into, After after = {});

    /// Joins the schedule of an algorithm that was written for participants 0 .. group.size() - 1;
    /// participant i is rank group[i]. Among themselves the joined steps keep their dependencies,
    /// and each also comes after those steps of the whole whose bytes it uses (unless both only
    /// read), so data flow from one part into the next piece by piece, without a barrier between.
    /// The part's scratch memory lies behind the whole's and behind its homes there. Neither may have
    /// a race.
    ///
    /// All ranks must append the parts that they have in common in the same order: the messages
    /// between two ranks match in step order, those of all parts together.
    ///
    /// Cost: n log n for n steps of both, and the dependencies that are added.
    void append(const Schedule& part, std::span<const int> group);

    /// The same where the whole group need not be known: participant i is rank_of(i), or rank i without that.
    void append(const Schedule& part, const std::function<int(int participant)>& rank_of = {},
                const Homes& homes = {});

    const std::vector<Step>& steps() const { return steps_; }
    std::size_t size() const { return steps_.size(); }
    After dependencies(const Step& step) const {
        return After(dependencies_).subspan(step.first_dependency, step.dependency_count);
    }
    /// Bytes of scratch memory that the steps touch.
    std::size_t scratch_bytes() const { return scratch_bytes_; }

  private:
    StepId add(StepKind kind, int peer, Region source, Region target, After after);
    /// Where a part's scratch memory may begin.
    std::size_t scratch_behind(const Homes& homes) const;

    std::vector<Step> steps_;
    std::vector<StepId> dependencies_;
    std::size_t scratch_bytes_ = 0;
};

}  // namespace mutirao
