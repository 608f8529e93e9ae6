#include "agent/daemon/commands.h"

#include <gtest/gtest.h>

#include <sstream>

namespace mutirao::agent {
namespace {

HostFile read(const std::string& text) {
    std::istringstream input(text);
    return read_host_file(input, "hosts");
}

TEST(HostFile, LinesWithAndWithoutPortsAndComments) {
    const HostFile file = read("# ours\nalpha\n\nbeta 99  # the other\n");
    EXPECT_EQ(file.error, "");
    EXPECT_EQ(file.hosts, (std::vector<HostLine>{{"alpha", usual_port}, {"beta", 99}}));
}

TEST(HostFile, TheSameLinesHaveTheSameIdAndOthersAnother) {
    EXPECT_EQ(read("a\nb 7427\n").id(), read("# here\na 7427\n\nb\n").id());
    EXPECT_NE(read("a\nb\n").id(), read("b\na\n").id());
    EXPECT_NE(read("a\nb\n").id(), read("a\nb 7428\n").id());
}

TEST(HostFile, WrongLinesAreNamed) {
    EXPECT_EQ(read("a\nb x\n").error, "hosts:2: port 'x' is not in 1..65535");
    EXPECT_EQ(read("a\nb 65536\n").error, "hosts:2: port '65536' is not in 1..65535");
    EXPECT_EQ(read("a\nb 0\n").error, "hosts:2: port '0' is not in 1..65535");
    EXPECT_EQ(read("a\nb 1 2\n").error, "hosts:2: '2' after the port");
    EXPECT_EQ(read("a\nb\na\n").error, "hosts:3: a 7427 stands here twice");
    EXPECT_EQ(read("a\n").error, "hosts: fewer than two hosts");
}

}  // namespace
}  // namespace mutirao::agent
