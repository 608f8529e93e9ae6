// Small messages between ranks of the twin, under a tag of their own, while calls go on: nothing here blocks. Who has the
// tag is written on each, so that who has it next drops what still comes for an owner that is no more.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mutirao::mpi {

struct Message {
    int from = -1;  ///< rank
    std::vector<std::byte> bytes;
};
/// The next that has come under that tag; nothing: none has. Does not block.
std::optional<Message> take_message(MPI_Comm comm, int tag);

class Post {
  public:
    using Bytes = std::vector<std::byte>;
    /// What is sent, be it to several, or passed on as it came.
    using Letter = std::shared_ptr<const Bytes>;
    struct Received {
        int from = -1;  ///< rank
        Letter letter;

        std::span<const std::byte> content() const { return std::span(*letter).first(letter->size() - owner_bytes); }
    };

    Post(MPI_Comm comm, int tag, std::uint64_t owner) : comm_(comm), tag_(tag), owner_(owner) {}
    /// Leaves the sends under way to MPI.
    ~Post();
    Post(const Post&) = delete;
    Post& operator=(const Post&) = delete;

    Letter letter_of(Bytes content) const;
    /// Letters to one rank arrive in their order.
    void send(int rank, Letter letter);
    /// Open MPI looks first and sees what has come afterwards, which matters to who looks once in a call: two
    /// looks see what one would leave to the next call.
    std::optional<Received> receive(int looks = 2);
    struct Sends {
        std::vector<MPI_Request> requests;
        std::vector<Letter> letters;  ///< that they read
    };
    /// Those under way, for whom they are left to.
    Sends take_sends();

  private:
    static constexpr std::size_t owner_bytes = sizeof(std::uint64_t);

    bool is_mine(const Bytes& bytes) const;
    void reap();

    MPI_Comm comm_;
    int tag_;
    std::uint64_t owner_;
    Sends sending_;
};

}  // namespace mutirao::mpi
