#include "mpi/drivers/mailbox.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace mutirao::mpi {
namespace {

// Before a received's body: its phase (1) and its round (4).
constexpr std::size_t head_bytes = 1 + sizeof(Message::round);

}  // namespace

void Mailbox::begin_round() {
    ++round_;
    for (auto& queue : waiting_) {
        std::erase_if(queue, [&](const Message& each) { return each.round < round_; });
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
    Message message;
    message.from = leaders_.host_of(received->from);
    message.phase = static_cast<Phase>(bytes.at(0));
    std::memcpy(&message.round, &bytes.at(1), sizeof message.round);
    message.body.assign(bytes.begin() + head_bytes, bytes.end());
    if (message.round >= round_) {
        waiting_[static_cast<std::size_t>(message.phase) % phase_count].push_back(std::move(message));
    }
    return true;
}

std::optional<Message> Mailbox::poll(Phase phase) {
    auto& queue = waiting_[static_cast<std::size_t>(phase)];
    const bool fetched = fetch();
    const auto found = std::find_if(queue.begin(), queue.end(),
                                    [&](const Message& each) { return each.round == round_; });
    if (fetched) {
        idle_polls_ = 0;
    } else if (found == queue.end()) {
        rest();
    }
    if (found == queue.end()) {
        return std::nullopt;
    }
    Message message = std::move(*found);
    queue.erase(found);
    return message;
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
