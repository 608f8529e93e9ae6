// The words of a command line, and how the tool refuses them: one line and exit code 2.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mutirao::tool {

/// What was asked for does not exist or is out of range. Ends as one line and exit code 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What was asked for is valid but cannot be had. Ends as one line and exit code 1.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Words, and options that each take a value: "--NAME VALUE" or "--NAME=VALUE".
class Arguments {
  public:
    Arguments(const std::vector<std::string>& words, const std::vector<std::string>& option_names);

    const std::vector<std::string>& positional() const& { return positional_; }
    void positional() && = delete;  // would dangle
    std::optional<std::string> option(const std::string& name) const;
    std::string option(const std::string& name, const std::string& otherwise) const;
    /// The option's value as a whole number in least..most.
    long long number(const std::string& name, long long otherwise, long long least,
                     long long most) const;

  private:
    std::vector<std::string> positional_;
    std::map<std::string, std::string> options_;
};

/// Stops with an error line unless `wanted` is one of `names`; `what` says of what kind they are.
void require_one_of(std::string_view what, std::string_view wanted,
                    const std::vector<std::string>& names);

}  // namespace mutirao::tool
