// The report of one run, from which `mutirao explain` and the studies read.
#pragma once

#include <optional>
#include <string>

#include "mpi/account/record.h"

namespace mutirao::mpi {

class Job;

/// On rank 0 of the job, at its end: writes the file of the setting `report` as JSON, and with the settings
/// `explain` and `summary` says the same in short on stderr. `job` is null where the MPI library took all calls. One
/// line on stderr if the file cannot be written.
void write_report(const Job* job);

/// Beside the program: where the file REPORT.wanted stands beside the report to be, writes REPORT.now as the
/// report would be now, and takes the request away. Calls no MPI, and waits for nobody.
void answer_request();

/// All that is remembered of the run so far, as JSON. `job`: as for write_report(). Beside the program if it is
/// `running`: no lock is held for long that a call may wait for, and MPI is not called once library_version() has been.
std::string report_json(const Job* job, bool running);

/// A call of the program went to the MPI library since there is no job. The first one of a program
/// whose MPI_Init was not seen makes that its report is written when the process ends.
void note_native_call();

/// What all communicators come to against the MPI library's own, net of all that mutirao cost, on each rank; said so
/// by the setting `summary` at the end of a program, by the report and by `mutirao explain`.
struct Total {
    Sums sums;
    double start_ms = 0;  ///< what it took of the program's time
    std::optional<double> net_us{};  ///< saved; nothing: not known
    double error_us = 0;             ///< of that
    /// How much faster or slower collectives were, as far as that was measured, and how many calls ran by what; where all
    /// were native, why.
    std::string what_ran{};

    Total(Sums all, double start_ms);
    double waited_us() const { return 1000 * sums.waited_ms; }
    /// Nothing: as fast, or not known.
    std::optional<bool> faster() const;
    std::string line() const;
};

/// Of all communicators.
Total total_of(const Job& job);

/// The line of the setting `summary`. `job`: null where the MPI library took all calls, or MPI_Init was not seen.
std::string summary(const Job* job);

/// The same, and a line for each kind of call.
std::string explanation(const Job* job);

/// Of one communicator; `record` is locked.
std::string explanation(const Record& record);

}  // namespace mutirao::mpi
