#!/usr/bin/env bash
# Builds the core, the tool, the lab's router, and one preload library for every MPI found.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
# Intel's compiler wrapper cannot tell by itself where it lies.
export I_MPI_ROOT=$root/.env/intel
mpis=$(.env/cli/bin/python -m mutirao.mpis)
cmake --preset release --log-level=NOTICE -DMUTIRAO_MPIS="$mpis" >/dev/null
cmake --build --preset release
