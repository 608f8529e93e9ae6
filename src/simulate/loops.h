// The loops and networks whose times have been measured, as simulated programs: what the simulator is held against.
#pragma once

#include "simulate/program.h"

namespace mutirao::simulate {

/// As agents see hosts with these round trips, one rank on each, and nothing else that limits: the costs of hosts
/// that the library assumes, and TCP and Open MPI 5 over it as it knows them.
std::shared_ptr<const RankNetwork> network_of(const std::vector<std::vector<double>>& round_trips_ms);

/// What the decider's host learns of it in a job that communicates meanwhile: latencies at `known_us`, then the
/// bandwidths of one pair of sites after another, which agents measure beside the program and so as the program and
/// the machine leave them.
std::vector<Program::News> news_of(const std::shared_ptr<const RankNetwork>& network, double known_us,
                                  std::uint64_t seed);

/// Four sites of two hosts, 5 to 40 ms.
std::vector<std::vector<double>> round_trips_of_a();
/// Two sites of four hosts, 30 ms.
std::vector<std::vector<double>> round_trips_of_b();
/// Thome and Drummond's Table 1: 24 hosts in six sites; `trunk_ms` between S3 and S4.
std::vector<std::vector<double>> round_trips_of_six_sites(double trunk_ms = 331.0);

/// What Open MPI 5 runs among 8 ranks, of what these loops call.
WalkedTruth::Options open_mpi_5();

/// Among 8 ranks, as an application does them: see docs/results.md.
Program sgd(int rounds);
Program fft(int rounds);
Program k_means(int rounds);

}  // namespace mutirao::simulate
