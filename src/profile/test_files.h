// A file of SQLite's in a folder of its own, which is gone when the test ends.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace mutirao::profile::test {

class FileTest : public testing::Test {
  protected:
    FileTest() { std::filesystem::create_directories(folder); }
    ~FileTest() override { std::filesystem::remove_all(folder); }

    /// "a;b;" of the answer's rows and columns, or the error.
    std::string ask(const std::string& question) const {
        sqlite3* database = nullptr;
        std::string answer;
        char* error = nullptr;
        sqlite3_open(path.c_str(), &database);
        sqlite3_busy_timeout(database, 5000);
        const auto keep = [](void* into, int columns, char** values, char**) {
            for (int i = 0; i < columns; ++i)
                *static_cast<std::string*>(into) += std::string(values[i]) + ";";
            return 0;
        };
        if (sqlite3_exec(database, question.c_str(), keep, &answer, &error) != SQLITE_OK) answer = error;
        sqlite3_free(error);
        sqlite3_close(database);
        return answer;
    }

    const std::string folder = testing::TempDir() + "mutirao-" + std::to_string(getpid()) + "-" +
                               testing::UnitTest::GetInstance()->current_test_info()->name();
    std::string path = folder + "/file.db";
};

}  // namespace mutirao::profile::test
