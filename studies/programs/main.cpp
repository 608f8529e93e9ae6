// mutirao-studies: what studies and replays ask of the core, as a program beside mutirao-core.
#include <iostream>

#include "commands.h"

int main(int argument_count, char** arguments) {
    using namespace mutirao::tool;
    const std::vector<Command> commands = {
        {"replay", "FILE [--threshold auto|PERCENT] [--tolerance PERCENT] [--root R] [--bytes B]", replay_trace},
        {"choice", "MODEL.network BYTES < TIMES", tell_choice},
    };
    return run_program("mutirao-studies", commands, {arguments + 1, arguments + argument_count}, std::cout, std::cerr);
}
