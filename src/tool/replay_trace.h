// A recorded trace as it is handed to `mutirao-core replay`, slice by slice:
//
//   # anything after a hash is a comment
//   hosts 99                     must come first; the hosts are 0 .. 98
//   slice 75000 80000 - inf ...  one-way latencies in us of all links 0-1, 0-2, .. 1-2, ..
//
// "-": not measured in this slice, so what is known stays; "inf": nothing gets through.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace mutirao::tool {

/// The latencies of one slice, link by link in the order of the format; NaN: not measured.
using TraceSlice = std::vector<double>;

class TraceReader {
  public:
    /// `name` is how error lines call the trace. Throws UsageError where the first line is wrong.
    TraceReader(std::istream& input, std::string name);

    int host_count() const { return host_count_; }
    /// Nothing at the end. Throws UsageError where a line is wrong.
    std::optional<TraceSlice> next();

  private:
    /// The words of the next line that has any; empty at the end.
    std::vector<std::string> words();
    [[noreturn]] void refuse(const std::string& what) const;

    std::istream& input_;
    std::string name_;
    int line_number_ = 0;
    int host_count_ = 0;
};

}  // namespace mutirao::tool
