#!/usr/bin/env python3
"""What `make call-files` prints: which of our files one settled MPI_Allreduce passes, told by coverage.

Two jobs of two ranks differ in how many such calls they make: a line that every call passes runs as much oftener in the
one that makes more."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
PROGRAM = ROOT / "build" / "coverage" / "allreduces"
CALLS = (1000, 3000)
SOURCE = """#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    double sum = 0, one = 1;
    for (int call = atoi(argv[1]); call > 0; --call)
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""
# Ruled from the first call on, by an algorithm of ours, as if the two ranks were two hosts.
SETTINGS = {"START": "wait", "ALLREDUCE": "recursive_doubling", "RANKS_PER_HOST": "1"}


def build(mpi: str, mpicc: str) -> None:
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=", "-DMUTIRAO_TESTS=OFF",
                    "-DCMAKE_CXX_FLAGS=-O0 --coverage", f"-DMUTIRAO_MPIS={mpi}={mpicc}", "--log-level=NOTICE"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--target", "demo"], check=True,
                   stdout=subprocess.DEVNULL)
    source = PROGRAM.with_suffix(".c")
    source.write_text(SOURCE)
    subprocess.run([mpicc, source, "-o", PROGRAM], check=True)


def lines_run(launcher: str, calls: int) -> Counter:
    """How often each line of ours ran, by (file, line)."""
    for old in BUILD.rglob("*.gcda"):
        old.unlink()
    environment = os.environ | {"LD_PRELOAD": str(BUILD / "lib" / "libmutirao.so")}
    environment |= {f"MUTIRAO_{name}": value for name, value in SETTINGS.items()}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    subprocess.run([launcher, "-n", "2", PROGRAM, str(calls)], check=True, env=environment)
    counts: Counter = Counter()
    for data in BUILD.rglob("*.gcda"):
        told = subprocess.run(["gcov", "--json-format", "--stdout", data], cwd=BUILD, check=True,
                              capture_output=True, text=True).stdout
        for file in json.loads(told)["files"]:
            for line in file["lines"]:
                path = os.path.relpath(BUILD / file["file"], ROOT)
                counts[path, line["line_number"]] = max(counts[path, line["line_number"]], line["count"])
    return counts


def main() -> None:
    listed = subprocess.run([sys.executable, "-m", "mutirao.run.mpis"], env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
                            text=True, capture_output=True, check=True).stdout.strip()
    mpi, _, mpicc = listed.split(";")[0].partition("=")
    build(mpi, mpicc)
    launcher = str(Path(mpicc).with_name("mpirun"))
    if not shutil.which(launcher):
        sys.exit(f"call_files: {launcher} is missing")
    fewer, more = (lines_run(launcher, calls) for calls in CALLS)
    extra = CALLS[1] - CALLS[0]
    passed: Counter = Counter()
    for (path, line), count in more.items():
        if path.startswith("src/") and count - fewer[path, line] >= extra:
            passed[path] += 1
    for path, lines in sorted(passed.items()):
        print(f"{lines:5} lines of {path}")
    print(f"{len(passed)} files")


if __name__ == "__main__":
    main()
