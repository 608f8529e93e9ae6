// The beginning of a small file, such as those of /proc, without streams or allocation.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "agent/file.h"

namespace mutirao::agent {

class TextFile {
  public:
    explicit TextFile(const char* path) {
        const File file(open(path, O_RDONLY | O_CLOEXEC));
        const ssize_t count = file ? read(file.number(), bytes_.data(), bytes_.size()) : 0;
        size_ = count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    /// Empty if it cannot be read.
    std::string_view text() const { return {bytes_.data(), size_}; }

  private:
    std::array<char, 2048> bytes_;
    std::size_t size_ = 0;
};

}  // namespace mutirao::agent
