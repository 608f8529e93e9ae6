#include "agent/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/system.h"

namespace mutirao::lab {
namespace {

constexpr std::size_t most_descriptors = 5;

struct Reply {
    std::string line;
    std::vector<UniqueFd> descriptors;
};

UniqueFd connect_to_lab() {
    const char* path = std::getenv("MUTILAB_CONTROL");
    if (path == nullptr) throw SetupError("no lab: MUTILAB_CONTROL is not set");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (std::strlen(path) >= sizeof address.sun_path) throw SetupError("MUTILAB_CONTROL too long");
    std::strcpy(address.sun_path, path);
    UniqueFd lab(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    require(lab && connect(lab.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
            "the lab at " + std::string(path) + " does not answer");
    return lab;
}

Reply ask(int lab, const std::string& request) {
    require(send(lab, request.data(), request.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(request.size()),
            "asking the lab");
    char line[512];
    alignas(cmsghdr) char ancillary[CMSG_SPACE(most_descriptors * sizeof(int))];
    iovec part{line, sizeof line};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = ancillary;
    message.msg_controllen = sizeof ancillary;
    const ssize_t size = recvmsg(lab, &message, MSG_CMSG_CLOEXEC);
    require(size > 0, "the lab's answer");
    Reply reply{std::string(line, static_cast<std::size_t>(size)), {}};
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        std::vector<int> received(count);
        std::memcpy(received.data(), CMSG_DATA(header), count * sizeof(int));
        for (const int fd : received) reply.descriptors.emplace_back(fd);
    }
    reply.line.erase(reply.line.find_last_not_of('\n') + 1);
    return reply;
}

// A launcher inside a rootless lab is in its user namespace already; joining it again is refused.
bool already_in(int user_namespace) {
    struct stat own{};
    struct stat other{};
    return stat("/proc/self/ns/user", &own) == 0 && fstat(user_namespace, &other) == 0 &&
           own.st_ino == other.st_ino;
}

}  // namespace

UniqueFd enter_host(const std::string& host) {
    UniqueFd lab = connect_to_lab();
    const Reply reply = ask(lab.get(), "enter " + host + "\n");
    if (reply.line.rfind("ok ", 0) != 0) {
        throw SetupError(reply.line.rfind("error ", 0) == 0 ? reply.line.substr(6) : reply.line);
    }
    char folder[PATH_MAX];
    const bool known = getcwd(folder, sizeof folder) != nullptr;
    for (const UniqueFd& space : reply.descriptors) {
        const bool is_user = reply.descriptors.size() == most_descriptors &&
                             &space == &reply.descriptors.front();
        if (is_user && already_in(space.get())) continue;
        require(setns(space.get(), 0) == 0, "entering " + host);
    }
    if (!known || chdir(folder) != 0) require(chdir("/") == 0, "entering the root folder");
    setenv("MUTILAB_HOST", reply.line.substr(3).c_str(), 1);
    return lab;
}

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
