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
        "host 1 20 30.5 125   # busy\n"
        "link 0 1 175300 12.5\n"
        "link 1 0 1e3 inf\n"
        "site 1 Rio\nsite 0 Beijing\n"
        "memory 1 0.5 4000 2000 17e3\n");
    Network expected(2);
    expected.transport.eager_limit_bytes = 65536;
    expected.transport.initial_window_bytes = 14480;
    expected.set_host(1, {20, 30.5, 125});
    expected.set_link(0, 1, {175300, 12.5});
    expected.set_link(1, 0, {1000, infinity});
    EXPECT_EQ(file.network, expected);
    EXPECT_EQ(file.site_of, (std::vector<int>{1, 0}));
    MemoryCosts memory{1, 0.5, 4000, 2000};
    memory.shared_bytes_per_us = 17000;
    EXPECT_EQ(file.memory, memory);
    EXPECT_EQ(file.site_names, (std::vector<std::string>{"Rio", "Beijing"}));
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
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "net: there is no line hosts COUNT"},
        {"link 0 1 5 5\n", "net:1: the first line must be hosts COUNT"},
        {"hosts 0\n", "net:1: hosts \"0\" is not in 1..10000"},
        {"hosts 2\nhosts 2\n", "net:2: hosts is given twice"},
        {"hosts 2\n\nlnik 0 1 5 5\n", "net:3: unknown line \"lnik\"; did you mean link?"},
        {"hosts 2\nlink 0 1 5\n",
         "net:2: 3 values where 4 belong: link FROM TO LATENCY_US BANDWIDTH_BYTES_PER_US"},
        {"hosts 2\nmemory 1 1 0 1 inf\n", "net:2: copy is \"0\"; it must be a number above 0 or inf"},
        {"hosts 2\nlink 0 2 5 5\n", "net:2: host \"2\" is not in 0..1"},
        {"hosts 2\nlink 1 1 5 5\n", "net:2: a link from host 1 to itself"},
        {"hosts 2\nlink 0 1 5 5\nlink 0 01 5 5\n", "net:3: link 0 1 is given twice"},
        {"hosts 2\nlink 0 1 -5 5\n",
         "net:2: latency is \"-5\"; it must be a number of at least 0 or inf"},
        {"hosts 2\nlink 0 1 nan 5\n",
         "net:2: latency is \"nan\"; it must be a number of at least 0 or inf"},
        {"hosts 2\nlink 0 1 5 0\n",
         "net:2: bandwidth is \"0\"; it must be a number above 0 or inf"},
        {"hosts 2\nhost 0 inf 1 1\n",
         "net:2: send overhead is \"inf\"; it must be a number of at least 0"},
        {"hosts 2\nhost 0 1 1x 1\n",
         "net:2: receive overhead is \"1x\"; it must be a number of at least 0"},
        {"hosts 2\neager_limit_bytes -1\n",
         "net:2: eager_limit_bytes \"-1\" is not a whole number"},
        {"hosts 2\ninitial_window_bytes 0\n",
         "net:2: initial_window_bytes \"0\" is not a whole number above 0"},
        {"hosts 2\nsite 0 Rio\n", "net: host 1 has no site, but others have one"},
        {"hosts 2\nsite 0 Rio\nsite 0 Lima\n", "net:3: site of host 0 is given twice"},
    };
    for (const auto& [text, error] : cases) {
        try {
            read(text);
            ADD_FAILURE() << text;
        } catch (const UsageError& wrong) {
            EXPECT_EQ(wrong.what(), error);
        }
    }
}

}  // namespace
}  // namespace mutirao::tool
