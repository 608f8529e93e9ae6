// mutirao-profile: the one way for the command line to add to a profile, so that fabrics are told apart and
// measurements merged by the very code that the library runs. One line on stderr and exit code 2 for wrong
// input, 1 for what cannot be done.
//
//   mutirao-profile find FILE [FABRIC]           the number of that fabric in the profile, or 0
//   mutirao-profile remember FILE MPI [FABRIC]   adds the rows on standard input
//
// FABRIC: a file of hosts and links as mutirao-core reads them, or the five columns of schema.sql; without
// it this host. A row is one line of the columns of schema.sql behind `mpi`, separated by tabs.
#include <iostream>

#include "profile/commands.h"

int main(int argument_count, char** arguments) {
    return mutirao::profile::run({arguments + 1, arguments + argument_count}, std::cin, std::cout, std::cerr);
}
