#include "agent/poller.h"

#include <algorithm>

namespace mutirao::agent {
namespace {

std::uint32_t events_for(bool readable, bool writable) {
    return (readable ? std::uint32_t{EPOLLIN} : 0U) | (writable ? std::uint32_t{EPOLLOUT} : 0U);
}

epoll_event event_of(std::uint64_t name, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = name;
    return event;
}

}  // namespace

std::uint64_t Poller::add(int socket, bool writable) {
    epoll_event event = event_of(++last_name_, events_for(true, writable));
    return epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, socket, &event) == 0 ? last_name_ : 0;
}

void Poller::change(int socket, std::uint64_t name, bool readable, bool writable) {
    epoll_event event = event_of(name, events_for(readable, writable));
    epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, socket, &event);
}

void Poller::remove(int socket) { epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, socket, nullptr); }

std::span<const Ready> Poller::wait(int timeout_ms) {
    const int count = epoll_wait(epoll_.number(), events_.data(),
                                 static_cast<int>(events_.size()), timeout_ms);
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events_[static_cast<std::size_t>(i)];
        const std::uint32_t failed = event.events & (EPOLLERR | EPOLLHUP);
        ready_[static_cast<std::size_t>(i)] = {event.data.u64,
                                               (event.events & EPOLLIN) != 0 || failed != 0,
                                               (event.events & EPOLLOUT) != 0 || failed != 0};
    }
    return {ready_.data(), static_cast<std::size_t>(std::max(count, 0))};
}

}  // namespace mutirao::agent
