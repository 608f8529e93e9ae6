#include "mpi/watch/leader_rounds.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "agent/system.h"
#include "core/spanning_tree/wire.h"
#include "core/text/bytes.h"
#include "core/text/invariant.h"

namespace mutirao::mpi {
namespace {

std::vector<double> nothing_known(int host_count) {
    const auto hosts = static_cast<std::size_t>(host_count);
    return std::vector<double>(hosts * hosts, std::numeric_limits<double>::infinity());
}

}  // namespace

LeaderRounds::LeaderRounds(MPI_Comm comm, int tag, Leaders leaders)
    : leaders_(std::move(leaders)), post_(comm, tag), rounds_(me(), host_count(), nothing_known(host_count()), {}, 1),
      news_(host_count()) {
    for (int host = 0; host < host_count(); ++host) {
        if (host != me()) {
            carry(rounds_.joined(host));
        }
    }
}

std::optional<double> LeaderRounds::believed_us(int host) const {
    if (rounds_.unknown(host)) {
        return std::nullopt;
    }
    return rounds_.view().latency_us[static_cast<std::size_t>(me()) * static_cast<std::size_t>(host_count()) +
                                     static_cast<std::size_t>(host)];
}

void LeaderRounds::carry(const Rounds::Output& output) {
    for (const rounds::Outgoing& each : output) {
        steps_sent_ += each.message.kind == rounds::Kind::step ? 1 : 0;
        if (each.message.kind == rounds::Kind::news) {
            news_.add(each.to, each.message, 0);
        } else {
            send(each.to, Kind::rounds, rounds::encode(each.message));
        }
    }
}

void LeaderRounds::tell_news(int host) {
    for (const rounds::Message& each : news_.take(host)) {
        post(host, Kind::rounds, rounds::encode(each));
    }
}

// News go ahead: who hears of a round must know what its root knew.
void LeaderRounds::send(int host, Kind kind, std::span<const std::byte> body) {
    tell_news(host);
    post(host, kind, body);
}

void LeaderRounds::post(int host, Kind kind, std::span<const std::byte> body) {
    ByteWriter letter;
    letter.put(static_cast<std::uint8_t>(kind), 1);
    letter.put_bytes(body);
    post_.send(leaders_.rank_of_host[static_cast<std::size_t>(host)],
               std::make_shared<const Post::Bytes>(std::move(letter).take()));
}

std::optional<LeaderRounds::Letter> LeaderRounds::receive() {
    while (auto received = post_.receive()) {
        const auto found = std::find(leaders_.rank_of_host.begin(), leaders_.rank_of_host.end(), received->from);
        const int from = static_cast<int>(found - leaders_.rank_of_host.begin());
        ByteReader reader(received->bytes);
        const auto kind = static_cast<Kind>(reader.take(1));
        if (kind != Kind::rounds) {
            const auto body = reader.rest();
            return Letter{from, kind, {body.begin(), body.end()}};
        }
        const auto message = rounds::decode(reader.rest());
        if (!message) {
            broken_invariant("a message that says nothing, from host", from,
                             static_cast<long long>(received->bytes.size()));
        }
        carry(rounds_.on(from, *message));
    }
    if (news_.next_ns() != agent::never_ns) {
        for (int host = 0; host < host_count(); ++host) {
            tell_news(host);
        }
        news_.rest();
    }
    return std::nullopt;
}

}  // namespace mutirao::mpi
