// The master hands out the tasks, and those of workers that are gone again to others.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "transport.h"

namespace mandelbrot {

struct Job {
    Parameters parameters;
    int workers = 0;
    int side = 0;
    int fall_after = -1;  ///< so many tasks are done when one worker is told to fall; -1: none is
};

struct Outcome {
    Image image;
    double return_s = 0;  ///< from when all workers have asked until the last task is done
    std::vector<double> computed_s;  ///< by each worker
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
    int gone = 0;            ///< workers
    double noticed_ms = -1;  ///< after the worker was told to fall; -1: none was, or not noticed
};

class Master {
  public:
    Master(MasterSide& side, const Job& job);
    Outcome run();

  private:
    struct Worker {
        bool gone = false;
        bool asks = false;
        std::optional<Task> task;
    };

    bool hear();
    void lose(Worker& worker);
    void take_result(int number);
    void hand_out();
    void send(int number, Kind kind, const Task& task);

    MasterSide& side_;
    Job job_;
    Message message_;
    std::deque<Task> open_;
    std::vector<Worker> workers_;
    int done_ = 0;
    std::int64_t told_to_fall_ns_ = 0;
    Outcome outcome_;
};

/// A worker: asks, gets, returns, until it is told to stop.
void work(WorkerSide& side, int task_side);

}  // namespace mandelbrot
