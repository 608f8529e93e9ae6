// TCP: a descriptor that closes itself, and whole messages by read() and write().
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace mandelbrot {

class Descriptor {
  public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;

    int number() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    int release();

  private:
    int number_;
};

/// At a port that the system picks, so that none can be in use.
Descriptor listen_at(const std::string& ipv4);
/// "IPV4:PORT"
std::string address_of(const Descriptor& listening);
Descriptor connect_to(const std::string& address);
/// Messages leave at once.
Descriptor accept_from(const Descriptor& listening);

/// False: the other end is gone.
bool read_whole(int socket, std::span<std::uint8_t> bytes);
bool write_whole(int socket, std::span<const std::uint8_t> bytes);

}  // namespace mandelbrot
