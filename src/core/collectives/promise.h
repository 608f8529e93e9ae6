// What each collective promises, as the checker takes it.
#pragma once

#include "core/collectives/call_shape.h"
#include "core/schedule/checker.h"

namespace mutirao {

Promise promise(const CallShape& shape, int size);

}  // namespace mutirao
