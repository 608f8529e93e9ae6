// mutirao-studies: what replays ask of the core, as a program beside mutirao-core.
#include <iostream>

#include "replay.h"

int main(int argument_count, char** arguments) {
    using namespace mutirao::tool;
    const std::vector<Command> commands = {
        {"replay",
         "FILE|- [--threshold auto|PERCENT] [--tolerance PERCENT] [--root R] [--bytes B] [--measurements N]",
         replay_trace},
    };
    return run_program("mutirao-studies", commands, {arguments + 1, arguments + argument_count}, std::cout, std::cerr);
}
