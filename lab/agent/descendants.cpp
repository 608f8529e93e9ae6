#include "agent/descendants.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace mutirao::lab {

namespace {

pid_t parent_of(const char* pid) {
    std::ifstream file(std::string("/proc/") + pid + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');  // the name itself may hold anything
    int parent = 0;
    if (name_end == std::string::npos) return 0;
    return std::sscanf(text.c_str() + name_end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

std::vector<pid_t> children() {
    std::vector<pid_t> found;
    DIR* processes = opendir("/proc");
    if (processes == nullptr) return found;
    while (const dirent* entry = readdir(processes)) {
        if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
        if (parent_of(entry->d_name) == getpid()) found.push_back(std::atoi(entry->d_name));
    }
    closedir(processes);
    return found;
}

}  // namespace

void signal_children(int signal) {
    for (const pid_t child : children()) kill(child, signal);
}

void kill_descendants() {
    for (std::vector<pid_t> next = children(); !next.empty(); next = children()) {
        for (const pid_t child : next) kill(child, SIGKILL);
        for (const pid_t child : next) waitpid(child, nullptr, 0);
    }
}

}  // namespace mutirao::lab
