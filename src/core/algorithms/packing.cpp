#include "core/algorithms/packing.h"

#include <optional>

namespace mutirao {

namespace {

/// All of them together if each begins where the one before ends.
std::optional<Region> one_piece(std::span<const Region> pieces) {
    Region whole = pieces.front();
    for (const Region& piece : pieces.subspan(1)) {
        if (piece.buffer != whole.buffer || piece.offset_bytes != whole.end_bytes()) {
            return std::nullopt;
        }
        whole.length_bytes += piece.length_bytes;
    }
    return whole;
}

}  // namespace

Region Packing::room(std::size_t blocks) {
    const Region region{Buffer::scratch, end_bytes_, blocks * block_bytes_};
    end_bytes_ = region.end_bytes();
    return region;
}

Region Packing::room_of(std::span<const Region> pieces) {
    std::size_t bytes = 0;
    for (const Region& piece : pieces) bytes += piece.length_bytes;
    return room(bytes / block_bytes_);
}

Region Packing::packed(std::span<const Region> pieces) {
    if (const auto whole = one_piece(pieces)) return *whole;
    const Region message = room_of(pieces);
    pack(pieces, message);
    return message;
}

void Packing::pack(std::span<const Region> pieces, const Region& message) {
    std::size_t done = 0;
    for (const Region& piece : pieces) {
        flow_.copy(piece, {message.buffer, message.offset_bytes + done, piece.length_bytes});
        done += piece.length_bytes;
    }
}

void Packing::receive(int peer, std::span<const Region> pieces) {
    if (const auto whole = one_piece(pieces)) {
        flow_.receive(peer, *whole);
        return;
    }
    const Region message = room_of(pieces);
    flow_.receive(peer, message);
    std::size_t done = 0;
    for (const Region& piece : pieces) {
        flow_.copy({message.buffer, message.offset_bytes + done, piece.length_bytes}, piece);
        done += piece.length_bytes;
    }
}

}  // namespace mutirao
