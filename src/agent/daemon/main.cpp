// mutirao-agent: a standing agent as a program, and a look at what agents know. A failure is one line
// on stderr, with exit code 2 for wrong usage, 3 for an agent that steps aside, 1 for the rest.
#include <algorithm>
#include <array>
#include <iostream>

#include "agent/daemon/commands.h"
#include "tool/arguments.h"

namespace {

using namespace mutirao;

struct Command {
    const char* name;
    const char* usage;
    int (*run)(const agent::Words&, std::ostream&);
};

constexpr std::array commands = {
    Command{"run",
            " --hosts FILE --self N --key FILE [--port P] [--series FILE] [--name NAME]"
            " [--threshold-percent P] [--tree-period-ms T] [--other-period-ms T]"
            " [--dead-after-ms T] [--sensor-period-ms T] [--round-limit-ms T]"
            " [--bandwidth-period-ms T]",
            agent::run_agent},
    Command{"status", " [NAME] [--json]", agent::show_status},
    Command{"list", " [--json]", agent::list},
    Command{"dump", " [NAME] [--json] [--follow SECONDS]", agent::dump},
};

int run(const agent::Words& words) {
    agent::Words names;
    for (const Command& each : commands) names.emplace_back(each.name);
    if (!words.empty() && words.front() == "--help") {
        for (const Command& each : commands)
            std::cout << "mutirao-agent " << each.name << each.usage << "\n";
        return 0;
    }
    if (words.empty()) throw tool::UsageError("no command; valid are run, status, list, dump");
    tool::require_one_of("command", words.front(), names);
    const auto command = std::find_if(commands.begin(), commands.end(), [&](const Command& each) {
        return each.name == words.front();
    });
    return command->run({words.begin() + 1, words.end()}, std::cout);
}

int refuse(const char* line, int exit_code) {
    std::cerr << "mutirao-agent: " << line << "\n";
    return exit_code;
}

}  // namespace

int main(int argument_count, char** arguments) {
    try {
        return run({arguments + 1, arguments + argument_count});
    } catch (const tool::UsageError& error) {
        return refuse(error.what(), 2);
    } catch (const std::exception& error) {
        return refuse(error.what(), 1);
    }
}
