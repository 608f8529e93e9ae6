// A broken invariant aborts the program; a test that explores wants to say where it was by then.
#pragma once

#include <functional>
#include <string>

namespace mutirao::simulate {

/// While it lives, an abort first prints what `note` returns. One at a time.
class AbortNote {
  public:
    explicit AbortNote(std::function<std::string()> note);
    ~AbortNote();
    AbortNote(const AbortNote&) = delete;
    AbortNote& operator=(const AbortNote&) = delete;
};

}  // namespace mutirao::simulate
