// The sockets of an agent, bound before the other agents are known, so that their ports can be
// told to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "agent/contact.h"
#include "agent/file.h"

namespace mutirao::agent {

class Endpoint {
  public:
    /// One UDP and one TCP socket of the same port (0: any) on all IPv4 interfaces, not inherited
    /// by programs that this process starts. Nothing, and `why_not` says why, if the port is taken,
    /// or there are no sockets to be had.
    static std::optional<Endpoint> open(std::uint16_t port = 0, std::string* why_not = nullptr);

    const Contact& contact() const { return contact_; }
    int tcp() const { return tcp_.number(); }
    int udp() const { return udp_.number(); }

  private:
    Endpoint(File tcp, File udp, Contact contact)
        : tcp_(std::move(tcp)), udp_(std::move(udp)), contact_(contact) {}

    File tcp_;
    File udp_;
    Contact contact_;
};

}  // namespace mutirao::agent
