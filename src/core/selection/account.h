// What a class's calls came to, against the MPI library's own.
#pragma once

#include <cstdint>

#include "core/selection/samples.h"

namespace mutirao {

/// On each rank; what is not known counts nothing.
struct Account {
    double took_us = 0;               ///< all calls, as far as they were measured
    double saved_us = 0;              ///< by calls whose time and native's were measured; negative: lost
    double error_us = 0;              ///< of that: half of an interval that holds it with 95%
    double probes_us = 0;             ///< what probes lost; negative: won
    std::uint64_t unknown_calls = 0;  ///< not native, and with nothing to compare with

    void add(const Account& other);
};

class Bookkeeping {
  public:
    /// Of calls as they run now.
    struct Running {
        bool natively = false;
        double time_us = 0;    ///< of one; 0: not known yet, these calls are counted when it is
        Ratio native_to_it{};  ///< unless natively
    };

    /// So many calls more; what they and those that had to wait for a time took.
    double count(std::uint64_t calls, const Running& running);
    /// The same as those before them: what is to run instead is not announced yet.
    double count_as_before(std::uint64_t calls);
    void add_probe(double lost_us) { closed_.probes_us += lost_us; }
    /// Native's time is measured anew from now on. Calls compared by one ratio have one error; others' is their own.
    void compare_anew();

    Account account() const;

  private:
    Account closed_;
    double span_calls_ = 0;        ///< compared since then
    double span_error_us_ = 0;     ///< of one of these
    std::uint64_t waiting_calls_ = 0;
    bool natively_ = true;
    double took_us_ = 0, saved_us_ = 0;  ///< one call of those counted last
};

}  // namespace mutirao
