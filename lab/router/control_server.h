// The control socket: many clients, none of which may hold up the packets, however slowly it
// reads. A connection that merely stays open tells an agent that the lab is alive.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "common/system.h"
#include "router/commands.h"

namespace mutirao::lab {

class ControlServer {
  public:
    /// Watches its own descriptors in `epoll`; throws SetupError if the path cannot be listened on.
    ControlServer(const std::string& path, int epoll, Commands& commands);
    ~ControlServer();

    /// Whether the event was for a descriptor of this server.
    bool handle(int fd, unsigned events);
    bool shut_down_asked() const { return shut_down_asked_; }

  private:
    struct Client {
        UniqueFd socket;
        std::string unread;
        std::string unsent;
    };

    void accept_client();
    bool serve(Client& client, unsigned events);
    bool answer_lines(Client& client);
    bool reply(Client& client, const Answer& answer);
    bool flush(Client& client);
    void watch(int fd, unsigned events, int operation);

    std::string path_;
    int epoll_;
    Commands& commands_;
    UniqueFd listener_;
    std::map<int, Client> clients_;
    bool shut_down_asked_ = false;
};

}  // namespace mutirao::lab
