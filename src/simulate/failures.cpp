#include "simulate/failures.h"

#include <csignal>
#include <cstdio>
#include <utility>

namespace mutirao::simulate {
namespace {

std::function<std::string()> current_note;

// Called by abort() in the middle of ordinary code, so it may use ordinary code itself.
void print_note(int) {
    std::signal(SIGABRT, SIG_DFL);
    std::fprintf(stderr, "%s\n", current_note().c_str());
}

}  // namespace

AbortNote::AbortNote(std::function<std::string()> note) {
    current_note = std::move(note);
    std::signal(SIGABRT, print_note);
}

AbortNote::~AbortNote() {
    std::signal(SIGABRT, SIG_DFL);
    current_note = nullptr;
}

}  // namespace mutirao::simulate
