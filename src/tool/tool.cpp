#include "tool/tool.h"

#include <algorithm>

#include "core/settings/settings.h"
#include "tool/arguments.h"
#include "tool/commands.h"

namespace mutirao::tool {
namespace {

struct Command {
    std::string name;
    std::string usage;
    void (*run)(const Words&, std::ostream&);
};

const std::vector<Command>& commands() {
    static const std::vector<Command> table = {
        {"algorithms", "", list_algorithms},
        {"settings", "", list_settings},
        {"check-settings", "NAME=VALUE...", check_settings},
        {"show",
         "COLLECTIVE/NAME[:KEY=VALUE,...] [--ranks N] [--ranks-per-host N] [--root R] [--bytes B] "
         "[--network FILE] [--format text|json]",
         show_schedule},
        {"predict",
         "COLLECTIVE [CANDIDATE...] [--ranks N] [--ranks-per-host N] [--root R] [--bytes B] "
         "[--network FILE]",
         predict_candidates},
        {"tree", "KIND [--ranks N] [--ranks-per-host N] [--root R] [--bytes B] [--network FILE]",
         show_tree},
        {"replay",
         "FILE|- [--threshold auto|PERCENT] [--tolerance PERCENT] [--root R] [--bytes B] "
         "[--measurements N]",
         replay_trace},
    };
    return table;
}

void print_help(std::ostream& out) {
    for (const Command& command : commands()) {
        out << "mutirao-core " << command.name << (command.usage.empty() ? "" : " ")
            << command.usage << "\n";
    }
}

void run_command(const Words& arguments, std::ostream& out) {
    Words names;
    for (const Command& command : commands()) names.push_back(command.name);
    if (arguments.empty()) {
        throw UsageError("no command" + which_are_valid("", names));
    }
    if (arguments.front() == "--help") return print_help(out);
    require_one_of("command", arguments.front(), names);
    const auto command =
        std::find_if(commands().begin(), commands().end(),
                     [&](const Command& each) { return each.name == arguments.front(); });
    command->run({arguments.begin() + 1, arguments.end()}, out);
}

int refuse(std::ostream& err, const std::string& line, int exit_code) {
    err << "mutirao-core: " << line << "\n";
    return exit_code;
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
    try {
        run_command(arguments, out);
    } catch (const UsageError& error) {
        return refuse(err, error.what(), 2);
    } catch (const Failure& error) {
        return refuse(err, error.what(), 1);
    }
    out.flush();
    return out ? 0 : refuse(err, "the output cannot be written", 1);
}

}  // namespace mutirao::tool
