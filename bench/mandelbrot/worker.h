// A worker: asks, gets, returns, until it is told to stop.
#pragma once

#include "transport.h"

namespace mandelbrot {

void work(WorkerSide& side, int task_side);

}  // namespace mandelbrot
