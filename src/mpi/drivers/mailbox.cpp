#include "mpi/drivers/mailbox.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace mutirao::mpi {
namespace {

// Before a letter's body: its phase (1) and its round (4).
constexpr std::size_t head_bytes = 1 + sizeof(Letter::round);

}  // namespace

void Mailbox::begin_round() {
    ++round_;
    for (auto& queue : waiting_) {
        std::erase_if(queue, [&](const Letter& each) { return each.round < round_; });
    }
}

void Mailbox::send(int to, Phase phase, std::span<const std::byte> body) {
    std::vector<std::byte> bytes(head_bytes + body.size());
    bytes[0] = static_cast<std::byte>(phase);
    std::memcpy(bytes.data() + 1, &round_, sizeof round_);
    std::copy(body.begin(), body.end(), bytes.begin() + head_bytes);
    post_.send(leader_of(to), std::make_shared<const Post::Bytes>(std::move(bytes)));
}

bool Mailbox::fetch() {
    const auto received = post_.receive();
    if (!received) {
        return false;
    }
    const Post::Bytes& bytes = received->bytes;
    Letter letter;
    letter.from = hosts_.host_of_rank[static_cast<std::size_t>(received->from)];
    letter.phase = static_cast<Phase>(bytes.at(0));
    std::memcpy(&letter.round, &bytes.at(1), sizeof letter.round);
    letter.body.assign(bytes.begin() + head_bytes, bytes.end());
    if (letter.round >= round_) {
        waiting_[static_cast<std::size_t>(letter.phase) % phase_count].push_back(std::move(letter));
    }
    return true;
}

std::optional<Letter> Mailbox::poll(Phase phase) {
    auto& queue = waiting_[static_cast<std::size_t>(phase)];
    const bool fetched = fetch();
    const auto found = std::find_if(queue.begin(), queue.end(),
                                    [&](const Letter& each) { return each.round == round_; });
    if (fetched) {
        idle_polls_ = 0;
    } else if (found == queue.end()) {
        rest();
    }
    if (found == queue.end()) {
        return std::nullopt;
    }
    Letter letter = std::move(*found);
    queue.erase(found);
    return letter;
}

// Spinning measures small latencies best, but with more ranks than processors it keeps the very
// process waiting that should answer.
void Mailbox::rest() {
    constexpr int spins = 2000;
    if (++idle_polls_ < spins) {
        return;
    }
    const timespec pause{0, 20'000};
    nanosleep(&pause, nullptr);
}

}  // namespace mutirao::mpi
