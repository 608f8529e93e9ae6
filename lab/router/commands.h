// What the lab can be asked: one line in, one line out. The one table of commands is in the source.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/system.h"
#include "router/forwarder.h"
#include "router/host_namespaces.h"
#include "router/link_table.h"

namespace mutirao::lab {

struct Answer {
    std::string line;                ///< `ok`, `ok VALUE` or `error REASON`, without line end
    std::vector<int> descriptors{};  ///< passed along; still owned by the lab
    bool shut_down = false;
};

/// What commands read and change.
struct LabState {
    const std::vector<Host>& hosts;
    const RouterNamespaces& namespaces;
    LinkTable& links;
    Forwarder& forwarder;
    bool punctual;
    std::string description{};  ///< kept for whoever asks later
};

Answer answer(LabState& lab, std::string_view line);

// The control socket: many clients, none of which may hold up the packets, however slowly it
// reads. A connection that merely stays open tells an agent that the lab is alive.

class ControlServer {
  public:
    /// Watches its own descriptors in `epoll`; throws SetupError if the path cannot be listened on.
    ControlServer(const std::string& path, int epoll, LabState& lab);
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
    LabState& lab_;
    UniqueFd listener_;
    std::map<int, Client> clients_;
    bool shut_down_asked_ = false;
};

}  // namespace mutirao::lab
