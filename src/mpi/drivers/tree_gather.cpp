#include "mpi/drivers/tree_gather.h"

#include <algorithm>

namespace mutirao::mpi {
namespace {

Message wait_for_letter(Mailbox& mailbox) {
    while (true) {
        if (auto received = mailbox.poll(Phase::gather)) {
            return std::move(*received);
        }
    }
}

}  // namespace

std::vector<std::byte> gather_over_tree(Mailbox& mailbox, const std::vector<int>& branches,
                                        std::vector<std::byte> mine) {
    std::vector<Message> heard;
    const auto all_but = [&](int host) {
        std::vector<std::byte> bytes = mine;
        for (const Message& received : heard) {
            if (received.from != host) {
                bytes.insert(bytes.end(), received.body.begin(), received.body.end());
            }
        }
        return bytes;
    };
    const auto tell = [&](int host) { mailbox.send(host, Phase::gather, all_but(host)); };

    std::vector<int> silent = branches;
    while (!silent.empty()) {
        if (silent.size() == 1) {
            tell(silent.front());
        }
        heard.push_back(wait_for_letter(mailbox));
        std::erase(silent, heard.back().from);
    }
    for (std::size_t i = 0; i + 1 < heard.size(); ++i) {
        tell(heard[i].from);  // the last one heard from was told before it answered
    }
    return all_but(-1);
}

}  // namespace mutirao::mpi
