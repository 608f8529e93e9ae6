#include "tool/network_file.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace mutirao::tool {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

NetworkFile read(const std::string& text) {
    std::istringstream input(text);
    return read_network(input, "net");
}

TEST(NetworkFile, ReadsEveryKindOfLine) {
    const NetworkFile file = read(
        "# two hosts\n"
        "hosts 2\r\n"
        "\n"
        "eager_limit_bytes 65536\n"
        "initial_window_bytes 14480\n"
        "bbr\n"
        "header_bytes 64\n"
        "host 1 20 30.5 125   # busy\n"
        "link 0 1 175300 12.5\n"
        "link 1 0 1e3 inf\n"
        "site 1 Rio\nsite 0 Beijing\n"
        "memory 1 0.5 4000 2000 17e3\n");
    Network expected(2);
    expected.transport.eager_limit_bytes = 65536;
    expected.transport.initial_window_bytes = 14480;
    expected.transport.bbr = true;
    expected.transport.header_bytes = 64;
    expected.set_host(1, {20, 30.5, 125});
    expected.set_link(0, 1, {175300, 12.5});
    expected.set_link(1, 0, {1000, infinity});
    EXPECT_EQ(file.network, expected);
    EXPECT_EQ(file.site_of, (std::vector<int>{1, 0}));
    MemoryCosts memory{1, 0.5, 4000, 2000};
    memory.shared_bytes_per_us = 17000;
    EXPECT_EQ(file.memory, memory);
}

// Catches a default link, which is a perfect one, standing in for one that nobody measured.
TEST(NetworkFile, LinksThatAreNotListedLetNothingThrough) {
    const NetworkFile file = read("hosts 2\nlink 0 1 5 5\n");
    EXPECT_TRUE(file.network.link(0, 1).usable());
    EXPECT_FALSE(file.network.link(1, 0).usable());
    EXPECT_TRUE(file.network.link(1, 1).usable());
    EXPECT_TRUE(file.site_of.empty());
}

TEST(NetworkFile, ErrorsNameTheLine) {
    const auto error_of = [](const std::string& text) -> std::string {
        try {
            read(text);
        } catch (const UsageError& wrong) {
            return wrong.what();
        }
        return "none";
    };
    EXPECT_EQ(error_of("link 0 1 5 5\n"), "net:1: no line of a network: \"link ...\"") << "hosts come first";
    for (const std::string count : {"0", "10001", "x", "1 2"})
        EXPECT_EQ(error_of("hosts " + count + "\n"), "net:1: no line of a network: \"hosts ...\"") << count;
    for (const std::string line :
         {"lnik 0 1 5 5", "link 0 1 5", "link 0 2 5 5", "link 0.5 1 5 5", "link 1 1 5 5", "link 0 1 -5 5",
          "link 0 1 nan 5", "link 0 1 5 0", "host 0 inf 1 1", "host 0 1 1x 1", "host 0 1 1 0", "memory 1 1 0 1 inf",
          "eager_limit_bytes -1", "initial_window_bytes 0", "bbr 1", "site 2 Rio", "site 0"})
        EXPECT_EQ(error_of("hosts 2\n\n" + line + "\n"),
                  "net:3: no line of a network: \"" + line.substr(0, line.find(' ')) + " ...\"");
    EXPECT_EQ(error_of(""), "net: there is no line hosts COUNT");
    EXPECT_EQ(error_of("hosts 2\nsite 0 Rio\n"), "net: a host has no site");
}

}  // namespace
}  // namespace mutirao::tool
