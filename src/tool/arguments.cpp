#include "tool/arguments.h"

#include <algorithm>
#include <sstream>

#include "core/text/names.h"
#include "core/text/numbers.h"

namespace mutirao::tool {
namespace {

int run_command(std::string_view program, const std::vector<Command>& commands, const Words& words, std::ostream& out) {
    Words names;
    for (const Command& command : commands) names.push_back(command.name);
    if (words.empty()) throw UsageError("no command" + which_are_valid("", names));
    if (words.front() == "--help") {
        for (const Command& command : commands)
            out << program << " " << command.name << (command.usage.empty() ? "" : " ") << command.usage << "\n";
        return 0;
    }
    require_one_of("command", words.front(), names);
    const auto command = std::ranges::find(commands, words.front(), &Command::name);
    return command->run({words.begin() + 1, words.end()}, out);
}

int refuse(std::string_view program, std::ostream& err, std::string_view line, int exit_code) {
    err << program << ": " << line << "\n";
    return exit_code;
}

}  // namespace

Arguments::Arguments(const Words& words, const std::vector<std::string>& option_names) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (!word.starts_with("--")) {
            positional_.push_back(word);
            continue;
        }
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(2, equals == word.npos ? word.npos : equals - 2);
        require_one_of("option", name, option_names);
        if (equals == word.npos && i + 1 == words.size()) {
            throw UsageError("option --" + name + " needs a value");
        }
        const std::string value = equals == word.npos ? words[++i] : word.substr(equals + 1);
        if (!options_.emplace(name, value).second) {
            throw UsageError("option --" + name + " is given twice");
        }
    }
}

std::optional<std::string> Arguments::option(const std::string& name) const {
    const auto found = options_.find(name);
    return found == options_.end() ? std::nullopt : std::optional(found->second);
}

long long Arguments::number(const std::string& name, long long otherwise, long long least,
                            long long most) const {
    const auto text = option(name);
    if (!text) return otherwise;
    const auto value = number_in<long long>(*text);
    if (!value || *value < least || *value > most) {
        throw UsageError("--" + name + " " + *text + " is not an integer in " +
                         std::to_string(least) + ".." + std::to_string(most));
    }
    return *value;
}

void read_lines(std::istream& input, const std::string& name, const std::function<void(const Words&)>& line) {
    std::string text;
    for (int number = 1; std::getline(input, text); ++number) {
        std::istringstream stream(text.substr(0, text.find('#')));
        Words words;
        for (std::string word; stream >> word;) words.push_back(word);
        try {
            if (!words.empty()) line(words);
        } catch (const UsageError& wrong) {
            throw UsageError(name + ":" + std::to_string(number) + ": " + wrong.what());
        }
    }
}

void require_one_of(std::string_view what, std::string_view wanted,
                    const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) return;
    throw UsageError("unknown " + std::string(what) + " \"" + std::string(wanted) + "\"" +
                     which_are_valid(wanted, names));
}

int run_program(std::string_view program, const std::vector<Command>& commands, const Words& words, std::ostream& out,
                std::ostream& err) {
    int exit_code = 0;
    try {
        exit_code = run_command(program, commands, words, out);
    } catch (const UsageError& error) {
        return refuse(program, err, error.what(), 2);
    } catch (const std::exception& error) {
        return refuse(program, err, error.what(), 1);
    }
    out.flush();
    return out ? exit_code : refuse(program, err, "the output cannot be written", 1);
}

}  // namespace mutirao::tool
