#!/usr/bin/env bash
# Whole MPI programs under a sanitizer: MPICH, four ranks as four hosts, so that agents, the deciding thread, rulings
# and probes are all at work. What the MPI library does wrong by itself is passed over by name; nothing of ours is.
#   scripts/sanitized_programs.sh address|thread [--build]      with --build they are only built
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
preset=${1-}
case "$preset" in
    address) runtime=asan ;;
    thread) runtime=tsan ;;
    *)
        echo "sanitized_programs.sh: which sanitizer is missing: address or thread" >&2
        exit 2 ;;
esac
build=$root/build/$preset
mpi=$(.env/cli/bin/python -m mutirao.run.mpis | tr ';' '\n' | grep '^mpich-5=') || {
    echo "sanitized_programs.sh: MPICH 5 is missing: run scripts/setup.sh" >&2
    exit 1
}
wrapper=${mpi#*=}
mpi_folder=$(dirname "$(dirname "$wrapper")")
programs=(loop unusual_collectives)
cmake --preset "$preset" --log-level=NOTICE -DMUTIRAO_TESTS=ON -DMUTIRAO_MPIS="$mpi" >/dev/null
cmake --build --preset "$preset" --target mutirao mutirao-mpi-library mutirao-mpich "${programs[@]/%/-mpich-5}"
if [[ ${2-} == --build ]]; then exit; fi

options="exitcode=66"
case "$preset" in
    address) options+=" detect_leaks=0" ;;  # the MPI library keeps much until the process ends
    thread) options+=" suppressions=$root/scripts/thread_sanitizer.txt" ;;
esac

under_sanitizer() {  # SETTINGS... -- PROGRAM ARGUMENTS...
    local settings=()
    while [[ $1 != -- ]]; do
        settings+=("$1")
        shift
    done
    shift
    local program=$1
    shift
    # UCX's hooks call into the sanitizer when a thread has ended.
    UCX_MEM_MMAP_HOOK_MODE=none LD_LIBRARY_PATH=$mpi_folder/lib timeout 300 \
        "$mpi_folder/bin/mpiexec" -n 4 env MUTIRAO_RANKS_PER_HOST=1 MUTIRAO_PROFILE=off MUTIRAO_TRIALS=on "${settings[@]}" \
        "${runtime^^}_OPTIONS=$options" LD_PRELOAD="$("${CXX:-c++}" -print-file-name="lib$runtime.so") $build/lib/libmutirao.so" \
        "$build/mpi/mpich-5/$program" "$@" >/dev/null
    echo "clean: $program $* (${settings[*]#MUTIRAO_})"
}

calls=(loop 3000 random barrier:0 broadcast:24 allreduce:8 allgather:1024 alltoall:1024 reduce:1024)
under_sanitizer MUTIRAO_START=soon -- "${calls[@]}"
under_sanitizer MUTIRAO_START=wait -- "${calls[@]}"
under_sanitizer MUTIRAO_START=soon MUTIRAO_AGENT=in-band -- "${calls[@]}"
under_sanitizer MUTIRAO_ADAPTATION=every:50 -- "${calls[@]}"
for use in messages threads communicators; do
    under_sanitizer MUTIRAO_START=soon -- unusual_collectives "$use"
done
