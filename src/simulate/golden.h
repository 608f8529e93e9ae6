// Executions that are told in full stand in testdata/, for people to read and for tests to compare.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace mutirao::simulate {

/// With MUTIRAO_UPDATE=1 the file is written instead.
inline void compare_with_golden(const std::string& told, const std::string& name) {
    const std::string path = MUTIRAO_TESTDATA "/" + name;
    if (std::getenv("MUTIRAO_UPDATE") != nullptr) {
        std::ofstream(path) << told;
        return;
    }
    std::ifstream file(path);
    ASSERT_TRUE(file) << path;
    std::stringstream expected;
    expected << file.rdbuf();
    EXPECT_EQ(told, expected.str()) << name;
}

}  // namespace mutirao::simulate
