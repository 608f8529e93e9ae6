#include "mpi/drivers/probe.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace mutirao::mpi {
namespace {

using Clock = std::chrono::steady_clock;
// Over a short link the noise of the hosts is most of what one round trip shows, and more of them
// cost nothing while longer links are still being measured.
constexpr double short_round_trip_us = 20'000;
constexpr int times_more_if_short = 4;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Peer {
    int pings_left = 0;
    Clock::time_point sent_at;
    double round_trip_us = infinity;
    bool told = false;          ///< our verdict went out
    bool heard = false;         ///< theirs came in
    double their_round_trip_us = infinity;

    bool answered() const { return round_trip_us < infinity; }
};

class Prober {
  public:
    Prober(Mailbox& mailbox, const ProbeOptions& options)
        : mailbox_(mailbox),
          me_(mailbox.leaders().my_host),
          count_(options.count),
          peers_(static_cast<std::size_t>(mailbox.leaders().count())),
          deadline_(Clock::now() + std::chrono::milliseconds(options.timeout_ms)) {
        for (int host = 0; host < host_count(); ++host) {
            if (host != me_) {
                peer(host).pings_left = options.count;
                ping(host);
            }
        }
    }

    std::vector<double> run() {
        while (!done()) {
            answer_pings();
            take_pongs();
            take_verdicts();
            if (Clock::now() >= deadline_) {
                tell_the_rest();
            }
        }
        return agreed();
    }

  private:
    Peer& peer(int host) { return peers_[static_cast<std::size_t>(host)]; }
    int host_count() const { return static_cast<int>(peers_.size()); }

    void ping(int host) {
        --peer(host).pings_left;
        peer(host).sent_at = Clock::now();
        mailbox_.send(host, Phase::ping, {});
    }

    void answer_pings() {
        while (const auto received = mailbox_.poll(Phase::ping)) {
            mailbox_.send(received->from, Phase::pong, {});
        }
    }

    void take_pongs() {
        while (const auto received = mailbox_.poll(Phase::pong)) {
            Peer& from = peer(received->from);
            if (from.told) {
                continue;  // too late: the verdict stands
            }
            const std::chrono::duration<double, std::micro> took = Clock::now() - from.sent_at;
            if (!from.answered() && took.count() < short_round_trip_us) {
                from.pings_left += (times_more_if_short - 1) * count_;
            }
            from.round_trip_us = std::min(from.round_trip_us, took.count());
            if (from.pings_left > 0) {
                ping(received->from);
            } else {
                tell(received->from);
            }
        }
    }

    void take_verdicts() {
        while (const auto received = mailbox_.poll(Phase::verdict)) {
            Peer& from = peer(received->from);
            from.heard = true;
            if (received->body.size() == sizeof(double)) {
                std::memcpy(&from.their_round_trip_us, received->body.data(), sizeof(double));
            }
        }
    }

    void tell(int host) {
        peer(host).told = true;
        if (!peer(host).answered()) {
            mailbox_.give_up(host);
        }
        mailbox_.send(host, Phase::verdict, bytes_of(peer(host).round_trip_us));
    }

    void tell_the_rest() {
        for (int host = 0; host < host_count(); ++host) {
            if (host != me_ && !peer(host).told) {
                tell(host);
            }
        }
    }

    // A peer that answered a ping will surely send its verdict, and needs our pongs until then. One
    // that never answered is unusable whatever it says, so both ends come to the same conclusion.
    bool done() {
        for (int host = 0; host < host_count(); ++host) {
            const Peer& other = peer(host);
            if (host != me_ && (!other.told || (other.answered() && !other.heard))) {
                return false;
            }
        }
        return true;
    }

    std::vector<double> agreed() {
        std::vector<double> latency_us(peers_.size(), 0.0);
        for (int host = 0; host < host_count(); ++host) {
            if (host != me_) {
                const Peer& other = peer(host);
                latency_us[static_cast<std::size_t>(host)] =
                    std::max(other.round_trip_us, other.their_round_trip_us) / 2;
            }
        }
        return latency_us;
    }

    Mailbox& mailbox_;
    int me_;
    int count_;
    std::vector<Peer> peers_;
    Clock::time_point deadline_;
};

}  // namespace

std::vector<double> probe_links(Mailbox& mailbox, const ProbeOptions& options) {
    return Prober(mailbox, options).run();
}

}  // namespace mutirao::mpi
