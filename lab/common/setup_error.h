// What keeps a lab from coming up: one line for the person who asked for it.
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace mutirao::lab {

class SetupError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The step that failed, and why according to errno.
[[noreturn]] inline void fail_with_errno(const std::string& step) {
    throw SetupError(step + ": " + std::generic_category().message(errno));
}

inline void require(bool worked, const std::string& step) {
    if (!worked) fail_with_errno(step);
}

}  // namespace mutirao::lab
