#include "core/algorithms/ring.h"

#include "core/algorithms/reduction.h"

namespace mutirao {
namespace {

std::vector<Region> ring_segments(const Request& request, Region block) {
    return segments_of(block, request.parameters.segment_bytes, request.unit_bytes);
}

int next_in_ring(const Request& request) { return (request.rank + 1) % request.size; }

int previous_in_ring(const Request& request) {
    return (request.rank + request.size - 1) % request.size;
}

}  // namespace

void ring_reduce_scatter(Dataflow& flow, const Request& request, const Blocks& blocks,
                         const std::function<Region(int step, int block)>& place) {
    const int size = request.size;
    const auto operand = [&](int block) { return part_in(Buffer::input, blocks.block(block)); };
    Region outgoing = operand(previous_in_ring(request));
    for (int step = 0; step + 1 < size; ++step) {
        for (const Region& segment : ring_segments(request, outgoing)) {
            flow.send(next_in_ring(request), segment);
        }
        const int block = (request.rank + 2 * size - 2 - step) % size;
        const auto own = ring_segments(request, operand(block));
        outgoing = place(step, block);
        const auto arriving = ring_segments(request, outgoing);
        for (std::size_t i = 0; i < arriving.size(); ++i) {
            flow.receive(previous_in_ring(request), arriving[i]);
            flow.reduce(own[i], arriving[i]);
        }
    }
}

void ring_allgather(Dataflow& flow, const Request& request, const Blocks& blocks) {
    const int size = request.size;
    for (int step = 0; step + 1 < size; ++step) {
        const int outgoing = (request.rank + size - step) % size;
        for (const Region& segment : ring_segments(request, blocks.block(outgoing))) {
            flow.send(next_in_ring(request), segment);
        }
        const int incoming = (outgoing + size - 1) % size;
        for (const Region& segment : ring_segments(request, blocks.block(incoming))) {
            flow.receive(previous_in_ring(request), segment);
        }
    }
}

}  // namespace mutirao
