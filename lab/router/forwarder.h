// Moves packets: takes whole frames (segmented sends unsplit) from every host's wire, keeps each
// until it is due, and hands it to the host that it is addressed to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/system.h"
#include "router/host_namespaces.h"
#include "router/link_table.h"

namespace mutirao::lab {

Nanoseconds monotonic_now();

/// How well the router itself kept up.
struct Punctuality {
    std::uint64_t overruns = 0;  ///< packets that the kernel had to drop before we took them
    std::uint64_t forwarded = 0;
    Nanoseconds late_sum = 0;
    Nanoseconds late_max = 0;
};

class Forwarder {
  public:
    Forwarder(const std::vector<Host>& hosts, LinkTable& links);
    ~Forwarder();

    int socket_of(std::size_t host) const { return ports_[host].get(); }
    /// Takes what the host has sent since, up to a batch.
    void take_from(std::size_t host);
    /// Delivers everything that is due.
    void deliver();
    /// When `deliver` is next needed; nothing while no packet is under way.
    std::optional<Nanoseconds> next_due() const;
    const Punctuality& punctuality();

  private:
    struct Frame {
        Nanoseconds due;
        std::uint64_t order;
        int from;
        int to;
        bool enters;  // its site, once it is due; else it is due at the host
        std::uint32_t size;
        std::unique_ptr<std::byte[]> bytes;
    };
    struct Batch;

    static bool later(const Frame& a, const Frame& b);
    void queue(std::size_t from, const std::byte* bytes, std::size_t size, Nanoseconds sent);
    std::optional<int> destination(const std::byte* bytes, std::size_t size) const;
    void keep(Frame frame);
    void enter_site(Frame frame);
    void send(const Frame& frame);

    LinkTable& links_;
    std::vector<UniqueFd> ports_;
    std::vector<std::int16_t> host_of_address_;  // by the lower 16 bits; -1: nobody
    std::vector<Frame> heap_;                    // earliest on top
    std::uint64_t order_ = 0;
    std::unique_ptr<Batch> batch_;
    Nanoseconds lead_ = 0;  // what handing over takes of late: begun so much before it is due
    Punctuality punctuality_;
};

}  // namespace mutirao::lab
