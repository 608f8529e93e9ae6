#!/usr/bin/env bash
# Builds the core, the tool, the lab, and a library for the binary interface of every MPI found, with their tests.
#   scripts/build.sh --mpicc PATH ...    also for the MPI of this compiler wrapper, from now on
#   scripts/build.sh --demo              only what the demo runs: one MPI, no tests
# Both build in one folder, with the same flags: what one has built the other finds.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
# Intel's compiler wrapper cannot tell by itself where it lies.
export I_MPI_ROOT=$root/.env/intel
options=(-DMUTIRAO_TESTS=ON) targets=() wrappers=()
while [[ $# -gt 0 ]]; do
    case "$1" in
        --mpicc)
            wrappers+=("${2-}")
            shift 2 ;;
        --demo)
            targets=(--target demo)
            # Without GoogleTest; but a folder that is set up for tests stays so.
            if [[ -e build/CMakeCache.txt ]]; then options=(); else options=(-DMUTIRAO_TESTS=OFF); fi
            shift ;;
        *)
            printf "build: unknown option '%s' (known: --mpicc, --demo)\n" "$1" >&2
            exit 1 ;;
    esac
done
mpis=$(.env/cli/bin/python -m mutirao.run.mpis "${wrappers[@]}")
cmake --preset release --log-level=NOTICE -DMUTIRAO_MPIS="$mpis" "${options[@]}" >/dev/null
cmake --build --preset release "${targets[@]}"
