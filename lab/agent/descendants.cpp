#include "agent/descendants.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace mutirao::lab {

namespace {

struct Process {
    pid_t id;
    pid_t parent;
    pid_t group;
};

std::optional<Process> read_process(const char* id) {
    std::ifstream file(std::string("/proc/") + id + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');  // the name itself may hold anything
    if (name_end == std::string::npos) return std::nullopt;
    Process process{std::atoi(id), 0, 0};
    const int read = std::sscanf(text.c_str() + name_end + 1, " %*c %d %d", &process.parent,
                                 &process.group);
    return read == 2 ? std::optional(process) : std::nullopt;
}

std::vector<Process> all_processes() {
    std::vector<Process> found;
    DIR* processes = opendir("/proc");
    if (processes == nullptr) return found;
    while (const dirent* entry = readdir(processes)) {
        if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
        if (const auto process = read_process(entry->d_name)) found.push_back(*process);
    }
    closedir(processes);
    return found;
}

std::vector<pid_t> children() {
    std::vector<pid_t> found;
    for (const Process& process : all_processes()) {
        if (process.parent == getpid()) found.push_back(process.id);
    }
    return found;
}

}  // namespace

void signal_children(int signal) {
    for (const pid_t child : children()) kill(child, signal);
}

void signal_own_group(int signal) {
    const std::vector<Process> processes = all_processes();
    std::vector<pid_t> family{getpid()};
    for (std::size_t next = 0; next < family.size(); ++next) {
        for (const Process& process : processes) {
            if (process.parent != family[next]) continue;
            family.push_back(process.id);
            if (process.group == getpgrp()) kill(process.id, signal);
        }
    }
}

void kill_descendants() {
    for (std::vector<pid_t> next = children(); !next.empty(); next = children()) {
        for (const pid_t child : next) kill(child, SIGKILL);
        for (const pid_t child : next) waitpid(child, nullptr, 0);
    }
}

}  // namespace mutirao::lab
