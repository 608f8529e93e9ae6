// What one host tells all others when a communicator's network is measured, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/contact.h"
#include "agent/key.h"

namespace mutirao::mpi {

struct HostRow {
    /// Plain values without gaps, since it is hashed; hosts of one job have one order of bytes.
    struct Head {
        int host = 0;
        int ghs_messages = 0;    ///< sent by this host
        std::uint32_t letters_left = 0;  ///< 1: yes
        std::uint32_t has_agent = 0;     ///< 1: sockets are open for one
        agent::Contact contact;
        agent::Key key;          ///< of the host's own making; host 0's is used
    };
    struct Link {
        double latency_us = 0;
        bool in_tree = false;
    };
    Head head;
    std::vector<Link> links;  ///< to every host
};

std::vector<std::byte> to_bytes(const HostRow& row);

/// All hosts' rows by host, from their bytes one after the other in any order; nothing unless every
/// host's row is there once.
std::optional<std::vector<HostRow>> rows_of(std::span<const std::byte> bytes, int hosts);

}  // namespace mutirao::mpi
