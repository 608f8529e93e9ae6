#include "core/algorithms/binomial_blocks.h"

#include "core/algorithms/equal_blocks.h"

namespace mutirao {

BinomialBlocks::BinomialBlocks(const Request& request, Buffer whole) {
    const int size = request.size;
    const std::size_t block_bytes = request.length_bytes;
    const int rank = virtual_rank(request.rank, request.root, size);
    const bool at_root = rank == 0;
    // The block of virtual rank r is the (r - rank)-th in the scratch memory.
    const auto edge_to = [&](int peer, int subtree, bool peer_or_self_is_root) {
        const int count = binomial_subtree_end(subtree, size) - subtree;
        const int first = real_rank(subtree, request.root, size);
        const std::vector<BlockRun> one_piece{{first, count, 0}};
        Edge edge{real_rank(peer, request.root, size), {}};
        for (const BlockRun& run : peer_or_self_is_root ? runs_of(first, count, size) : one_piece) {
            edge.messages.push_back(
                at_root ? blocks_from(whole, run.first, run.count, block_bytes)
                        : blocks_from(Buffer::scratch, subtree - rank + run.offset, run.count,
                                      block_bytes));
        }
        return edge;
    };
    const TreePlace place = k_nomial_place(rank, size, 2);
    if (!at_root) parent = edge_to(place.parent, rank, place.parent == 0);
    for (const int child : place.children) children.push_back(edge_to(child, child, at_root));
    own = at_root ? nth_block(whole, request.rank, block_bytes)
                  : nth_block(Buffer::scratch, 0, block_bytes);
}

}  // namespace mutirao
