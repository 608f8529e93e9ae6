#include "agent/system.h"

#include <fcntl.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>

namespace mutirao::agent {
namespace {

/// One bit for each open file. Files of larger numbers are left to children.
constexpr std::size_t most_files = 65'536;
constexpr std::size_t word_bits = 64;
std::array<std::atomic<std::uint64_t>, most_files / word_bits> open_files;
/// How many forks lie between this process and the one that loaded the library.
std::atomic<unsigned> forks{0};

void note(int file, bool open) {
    const auto number = static_cast<std::size_t>(file);
    if (number >= most_files) return;
    const std::uint64_t bit = std::uint64_t{1} << (number % word_bits);
    std::atomic<std::uint64_t>& word = open_files[number / word_bits];
    if (open)
        word.fetch_or(bit);
    else
        word.fetch_and(~bit);
}

/// Runs in the child, where nothing may be called that takes a lock.
void close_all() {
    forks.fetch_add(1);
    for (std::size_t i = 0; i < open_files.size(); ++i) {
        for (std::uint64_t word = open_files[i].exchange(0); word != 0; word &= word - 1)
            close(static_cast<int>(i * word_bits) + std::countr_zero(word));
    }
}

/// Where the program has closed a standard stream, what is written there is not to reach a file of ours.
int beside_standard_streams(int file) {
    if (file < 0 || file > STDERR_FILENO) return file;
    const int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(file);
    return moved;
}

}  // namespace

File::File(int number) : number_(beside_standard_streams(number)), process_(forks.load()) {
    static const int registered = pthread_atfork(nullptr, nullptr, close_all);
    if (number_ >= 0 && registered == 0) note(number_, true);
}

File::~File() {
    if (number_ < 0 || process_ != forks.load()) return;
    note(number_, false);
    ::close(number_);
}

}  // namespace mutirao::agent
