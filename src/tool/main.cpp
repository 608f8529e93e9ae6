#include <iostream>

#include "tool/tool.h"

int main(int argument_count, char** arguments) {
    return mutirao::tool::run({arguments + 1, arguments + argument_count}, std::cout, std::cerr);
}
