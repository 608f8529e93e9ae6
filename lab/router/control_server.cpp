#include "router/control_server.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <vector>

#include "common/system.h"

namespace mutirao::lab {

namespace {

// A matrix of a thousand hosts fits several times.
constexpr std::size_t longest_line_bytes = 64 << 20;
constexpr std::size_t read_at_once_bytes = 64 << 10;

}  // namespace

ControlServer::ControlServer(const std::string& path, int epoll, Commands& commands)
    : path_(path),
      epoll_(epoll),
      commands_(commands),
      listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw SetupError("path too long: " + path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const mode_t before = umask(0177);
    const bool bound = listener_ && bind(listener_.get(), reinterpret_cast<sockaddr*>(&address),
                                         sizeof address) == 0;
    umask(before);
    require(bound && listen(listener_.get(), SOMAXCONN) == 0, "listening on " + path);
    watch(listener_.get(), EPOLLIN, EPOLL_CTL_ADD);
}

ControlServer::~ControlServer() { unlink(path_.c_str()); }

void ControlServer::watch(int fd, unsigned events, int operation) {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    epoll_ctl(epoll_, operation, fd, &event);
}

bool ControlServer::handle(int fd, unsigned events) {
    if (fd == listener_.get()) {
        accept_client();
        return true;
    }
    const auto client = clients_.find(fd);
    if (client == clients_.end()) return false;
    if (!serve(client->second, events)) clients_.erase(client);
    return true;
}

void ControlServer::accept_client() {
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    const int fd = socket.get();
    watch(fd, EPOLLIN, EPOLL_CTL_ADD);
    clients_.emplace(fd, Client{std::move(socket), {}, {}});
}

bool ControlServer::serve(Client& client, unsigned events) {
    if ((events & EPOLLOUT) != 0 && !flush(client)) return false;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return true;
    std::vector<char> received(read_at_once_bytes);
    const ssize_t size = recv(client.socket.get(), received.data(), received.size(), 0);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    if (size == 0) return false;
    const std::size_t searched = client.unread.size();
    client.unread.append(received.data(), static_cast<std::size_t>(size));
    if (client.unread.find('\n', searched) == std::string::npos) {
        return client.unread.size() <= longest_line_bytes;
    }
    return answer_lines(client);
}

bool ControlServer::answer_lines(Client& client) {
    std::size_t start = 0;
    for (std::size_t end = client.unread.find('\n'); end != std::string::npos;
         end = client.unread.find('\n', start)) {
        const Answer answer =
            commands_.answer(std::string_view(client.unread).substr(start, end - start));
        start = end + 1;
        shut_down_asked_ = shut_down_asked_ || answer.shut_down;
        if (!reply(client, answer)) return false;
    }
    client.unread.erase(0, start);
    return true;
}

bool ControlServer::reply(Client& client, const Answer& answer) {
    if (answer.descriptors.empty()) {
        client.unsent += answer.line + "\n";
        return flush(client);
    }
    const std::string line = answer.line + "\n";
    iovec part{const_cast<char*>(line.data()), line.size()};
    const std::size_t bytes = answer.descriptors.size() * sizeof(int);
    std::vector<char> ancillary(CMSG_SPACE(bytes));
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.data();
    message.msg_controllen = ancillary.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(header), answer.descriptors.data(), bytes);
    return sendmsg(client.socket.get(), &message, MSG_NOSIGNAL) ==
           static_cast<ssize_t>(line.size());
}

bool ControlServer::flush(Client& client) {
    const bool waited = !client.unsent.empty();
    while (!client.unsent.empty()) {
        const ssize_t sent = send(client.socket.get(), client.unsent.data(), client.unsent.size(),
                                  MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) return false;
        if (sent < 0) break;
        client.unsent.erase(0, static_cast<std::size_t>(sent));
    }
    if (waited) {
        const bool more = !client.unsent.empty();
        watch(client.socket.get(), EPOLLIN | (more ? EPOLLOUT : 0U), EPOLL_CTL_MOD);
    }
    return true;
}

}  // namespace mutirao::lab
