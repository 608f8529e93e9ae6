#include "agent/daemon/commands.h"

#include <gtest/gtest.h>

#include <sstream>

namespace mutirao::agent {
namespace {

std::vector<HostLine> read(const std::string& text) {
    std::istringstream input(text);
    return read_host_file(input, "hosts");
}

TEST(HostFile, LinesWithAndWithoutPortsAndComments) {
    const std::vector<HostLine> hosts = read("# ours\nalpha\n\nbeta 99  # the other\n");
    EXPECT_EQ(hosts, (std::vector<HostLine>{{"alpha", usual_port}, {"beta", 99}}));
}

TEST(HostFile, TheSameLinesHaveTheSameIdAndOthersAnother) {
    EXPECT_EQ(id_of(read("a\nb 7427\n")), id_of(read("# here\na 7427\n\nb\n")));
    EXPECT_NE(id_of(read("a\nb\n")), id_of(read("b\na\n")));
    EXPECT_NE(id_of(read("a\nb\n")), id_of(read("a\nb 7428\n")));
}

std::string lines_of(int hosts) {
    std::string text;
    for (int host = 0; host < hosts; ++host) text += "h" + std::to_string(host) + "\n";
    return text;
}

TEST(HostFile, AsManyHostsAsALinkTableHolds) { EXPECT_EQ(read(lines_of(1024)).size(), 1024U); }

TEST(HostFile, WrongLinesAreNamed) {
    const std::pair<std::string, std::string> cases[] = {
        {"a\nb x\n", "hosts:2: port 'x' is not in 1..65535"},
        {"a\nb 65536\n", "hosts:2: port '65536' is not in 1..65535"},
        {"a\nb 0\n", "hosts:2: port '0' is not in 1..65535"},
        {"a\nb 1 2\n", "hosts:2: '2' after the port"},
        {"a\nb\na\n", "hosts:3: a 7427 stands here twice"},
        {"a\n", "hosts: fewer than two hosts"},
        {lines_of(1025), "hosts: too many hosts (at most 1024)"},
    };
    for (const auto& [text, error] : cases) {
        try {
            read(text);
            ADD_FAILURE() << text;
        } catch (const tool::UsageError& wrong) {
            EXPECT_EQ(wrong.what(), error);
        }
    }
}

}  // namespace
}  // namespace mutirao::agent
