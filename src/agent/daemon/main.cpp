// mutirao-agent: a standing agent as a program, a look at what agents know, and where a job's ranks meet. A failure is one line
// on stderr, with exit code 2 for wrong usage, 3 for an agent that steps aside, 1 for the rest.
#include <iostream>

#include "agent/daemon/commands.h"

int main(int argument_count, char** arguments) {
    using namespace mutirao;
    const std::vector<tool::Command> commands = {
        {"run",
         "--hosts FILE --self N --key FILE [--port P] [--series FILE] [--name NAME] [--threshold-percent P] "
         "[--tree-period-ms T] [--other-period-ms T] [--dead-after-ms T] [--bandwidth-period-ms T]",
         agent::run_agent},
        {"status", "[NAME]", agent::show_status},
        {"list", "", agent::list},
        {"rendezvous", "", agent::hold_rendezvous},
    };
    return tool::run_program("mutirao-agent", commands, {arguments + 1, arguments + argument_count}, std::cout,
                             std::cerr);
}
