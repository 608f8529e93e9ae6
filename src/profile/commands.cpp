#include "profile/commands.h"

#include <chrono>
#include <optional>

#include "profile/profile_store.h"
#include "tool/arguments.h"
#include "tool/network_file.h"

namespace mutirao::profile {
namespace {

using tool::Failure;
using tool::UsageError;
using tool::Words;

/// Nobody waits for this but a person.
constexpr std::chrono::seconds patience{10};

/// From the words behind FILE and MPI.
Fabric fabric_in(const Words& words) {
    if (words.empty()) return describe_fabric(Network(1), processor(), transport());
    if (words.size() == 1)
        return describe_fabric(tool::read_network_file(words.front()).network, processor(), transport());
    const auto fabric = words.size() == 5 ? fabric_from(words) : std::nullopt;
    if (!fabric)
        throw UsageError("remember takes FILE MPI [NETWORK | HOSTS SITES LATENCIES PROCESSOR TRANSPORT]");
    return *fabric;
}

void remember_rows(const Words& words, std::istream& in, std::ostream& out) {
    if (words.size() < 2) throw UsageError("remember takes FILE MPI and perhaps a fabric");
    const Fabric fabric = fabric_in({words.begin() + 2, words.end()});
    std::vector<ProfileRow> rows;
    for (std::string line; std::getline(in, line);) {
        const auto row = row_from(line);
        if (!row) throw UsageError("line " + std::to_string(rows.size() + 1) + " is no row of a profile");
        rows.push_back(*row);
    }
    const auto store = ProfileStore::open(words[0]);
    if (!store) throw UsageError("remember takes the name of a file");
    const std::size_t count = rows.size();
    store->remember(fabric, words[1], std::move(rows));
    if (!store->flush(patience)) throw Failure("others hold " + words[0] + " for too long");
    if (!store->trouble().empty()) throw Failure(store->trouble());
    out << count << "\n";
}

/// Its number in the file; 0 where it is not known there.
void find_fabric(const Words& words, std::ostream& out) {
    if (words.empty()) throw UsageError("find takes FILE and perhaps a fabric");
    const Fabric fabric = fabric_in({words.begin() + 1, words.end()});
    std::string trouble;
    const auto number = ProfileStore(words[0]).number_of(fabric, trouble);
    if (!number) throw Failure(trouble);
    out << *number << "\n";
}

}  // namespace

int run(const Words& words, std::istream& in, std::ostream& out, std::ostream& err) {
    const std::vector<tool::Command> commands = {
        {"find", "FILE [FABRIC]", find_fabric},
        {"remember", "FILE MPI [FABRIC]",
         [&in](const Words& rest, std::ostream& to) { remember_rows(rest, in, to); }},
    };
    return tool::run_program("mutirao-profile", commands, words, out, err);
}

}  // namespace mutirao::profile
