// The words of a command line, which command of a program they name, and how that refuses them: one line on stderr, with
// exit code 2 for wrong input and 1 for what cannot be done.
#pragma once

#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mutirao::tool {

using Words = std::vector<std::string>;

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
    Arguments(const Words& words, const std::vector<std::string>& option_names);

    const Words& positional() const& { return positional_; }
    void positional() && = delete;  // would dangle
    std::optional<std::string> option(const std::string& name) const;
    /// The option's value as a whole number in least..most.
    long long number(const std::string& name, long long otherwise, long long least,
                     long long most) const;

  private:
    Words positional_;
    std::map<std::string, std::string> options_;
};

/// Hands over the words of each line that has any; "#" begins a comment. What is thrown of a line as UsageError goes on
/// as "NAME:LINE: what is wrong".
void read_lines(std::istream& input, const std::string& name, const std::function<void(const Words&)>& line);

/// Stops with an error line unless `wanted` is one of `names`; `what` says of what kind they are.
void require_one_of(std::string_view what, std::string_view wanted,
                    const std::vector<std::string>& names);

/// One of a program's commands.
struct Command {
    /// `work` takes the words after the command's name and writes to `out`, or throws UsageError or Failure. It may
    /// return an exit code.
    template <typename Run>
    Command(std::string its_name, std::string its_usage, Run work)
        : name(std::move(its_name)), usage(std::move(its_usage)) {
        if constexpr (std::is_void_v<std::invoke_result_t<Run, const Words&, std::ostream&>>) {
            run = [work](const Words& words, std::ostream& out) { return work(words, out), 0; };
        } else {
            run = work;
        }
    }

    std::string name;
    std::string usage;
    std::function<int(const Words&, std::ostream&)> run;
};

/// Runs the command that the first word names; --help lists all. Returns the exit code.
int run_program(std::string_view program, const std::vector<Command>& commands, const Words& words, std::ostream& out,
                std::ostream& err);

}  // namespace mutirao::tool
