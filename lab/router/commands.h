// What the lab can be asked: one line in, one line out. The one table of commands is in the source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "router/forwarder.h"
#include "router/host_namespaces.h"
#include "router/link_table.h"

namespace mutirao::lab {

struct Answer {
    std::string line;              ///< `ok`, `ok VALUE` or `error REASON`, without line end
    std::vector<int> descriptors;  ///< passed along; still owned by the lab
    bool shut_down = false;
};

class Commands {
  public:
    Commands(const std::vector<Host>& hosts, const RouterNamespaces& namespaces,
             LinkTable& links, Forwarder& forwarder, bool punctual);

    Answer answer(std::string_view line);

  private:
    struct Command;
    static const std::vector<Command>& table();

    Answer ready(std::string_view rest);
    Answer info(std::string_view rest);
    Answer describe(std::string_view rest);
    Answer matrix(std::string_view rest);
    Answer pairs(std::string_view rest);
    Answer sites(std::string_view rest);
    Answer uplink(std::string_view rest);
    Answer settings(std::string_view rest);
    Answer counters(std::string_view rest);
    Answer enter(std::string_view rest);
    Answer shut_down(std::string_view rest);

    const std::vector<Host>& hosts_;
    const RouterNamespaces& namespaces_;
    LinkTable& links_;
    Forwarder& forwarder_;
    bool punctual_;
    std::string description_;
};

}  // namespace mutirao::lab
