// Where the ranks of one job get to know each other beside MPI, if their launcher passes nothing on: each says once what
// others must know of it, and takes along what all have said. A job's key, made anew for it, proves to both sides who the
// other one is; nothing that is said may be a secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/endpoint.h"
#include "agent/key.h"

namespace mutirao::agent {

/// What is handed to the ranks of a job: a plain value.
struct Invitation {
    Contact place;
    Key key;

    /// In hexadecimal digits. It holds the key: for the environment, never for a command line.
    std::string text() const;
    /// Nothing of what is no such text.
    static std::optional<Invitation> from(std::string_view text);
};

/// What one rank says.
using Said = std::array<std::byte, 216>;

class Rendezvous {
  public:
    /// Each takes what all have said.
    static constexpr std::uint32_t most_ranks = 64;

    /// Nothing: no sockets or random numbers are to be had.
    static std::optional<Rendezvous> open();

    Invitation invitation() const { return {endpoint_.contact(), key_}; }
    /// Until all ranks of one job have been told, or `end` has something to read or is closed at its other end. Who does
    /// not hold the key, or says what another has said for it, is sent away.
    void serve(int end);

  private:
    Rendezvous(Endpoint endpoint, Key key) : endpoint_(std::move(endpoint)), key_(key) {}

    Endpoint endpoint_;
    Key key_;
};

/// What all ranks said, by rank; nothing: some did not come, or not by then (now_ns()). `ranks`: of the job, at most
/// Rendezvous::most_ranks.
std::optional<std::vector<Said>> meet(const Invitation& invitation, std::uint32_t rank, std::uint32_t ranks,
                                      const Said& mine, std::int64_t until_ns);

}  // namespace mutirao::agent
