#!/usr/bin/env bash
# Everything that must pass: set-up and build, unit tests of the core and of the simulated ranks,
# then what needs MPI, the lab and the command line. Says how long each part took.
#   scripts/test.sh [ARGUMENTS FOR PYTEST]
#   scripts/test.sh --core        only the core's unit tests: needs no MPI and no Python environment
#   scripts/test.sh --sanitize    only unit tests and some MPI programs, under the sanitizers for addresses and for threads
#   scripts/test.sh --all         everything, in all shapes and with the sanitizers: some hours
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"

timed() {
    local part=$1 begin=$SECONDS
    shift
    "$@"
    printf '%s: %d s\n' "$part" "$((SECONDS - begin))"
}

# Agents mostly wait for each other. In a terminal a counter in place; elsewhere (continuous integration) only what failed.
unit_tests() {
    local run=(ctest --preset "$1" -j "$((2 * $(nproc)))" --no-tests=error "${@:2}") output
    if [[ -t 1 ]]; then
        "${run[@]}" --progress
    else
        output=$("${run[@]}" 2>&1) || { printf '%s\n' "$output"; return 1; }
        grep 'tests passed' <<<"$output"
    fi
}

# Compiling takes most of the time here, and half of that goes into optimising and debug data.
build_core() {
    scripts/setup.sh --core
    cmake --preset core --log-level=NOTICE -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS=-O1 >/dev/null
    cmake --build --preset core --target core_test simulate_test
}

# The core and the simulations have no threads: under the sanitizer for these they take longest, and show nothing.
declare -A tests_under=([address]=unit_tests [thread]="agent_test mpi_test profile_test")

build_sanitized() {
    scripts/sanitized_programs.sh "$1" --build
    cmake --build --preset "$1" --target ${tests_under[$1]}
}

sanitized() {
    local preset
    for preset in address thread; do
        timed "build ($preset)" build_sanitized "$preset"
        timed "unit tests ($preset)" unit_tests "$preset" -R '_test/'
        timed "MPI programs ($preset)" scripts/sanitized_programs.sh "$preset"
    done
}

# Most tests wait for something for most of their time, so four at once go on two processors.
whole_suite() {
    timed build scripts/build.sh
    timed "unit tests" unit_tests release
    timed "other tests" env -u MUTIRAO_SEEDS .env/cli/bin/python -m pytest -n 4 "$@"  # it is no setting
}

if [[ ${1-} == --core ]]; then
    timed build build_core
    timed "unit tests" unit_tests core -R '^(core|simulate)_test/'
    exit
fi
timed set-up scripts/setup.sh
case "${1-}" in
    --sanitize) sanitized ;;
    --all)
        timed "set-up of what clusters have" scripts/setup.sh --cluster
        sanitized
        # Of random walks; without this 5000.
        MUTIRAO_SEEDS=10000 whole_suite --everything "${@:2}" ;;
    *) whole_suite "$@" ;;
esac
