"""A program gets the MPI library that the loader gives it, with and without mutirao: here a private one, a copy
under another prefix. Compared with the program by itself."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from mutirao.base.paths import BUILD, LIBRARIES, PRELOAD, ROOT
from mutirao.run.launch import launch
from shared import quick_mpi, text_of

CALLS = 5
C_PROGRAM = f"""
#include <mpi.h>
#include <stdio.h>
int work(void) {{
    char line[4096];
    int rank, size, x = 0;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1) x = 42;
    for (int i = 0; i < {CALLS}; ++i) MPI_Bcast(&x, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    FILE* maps = fopen("/proc/self/maps", "r");
    while (rank == 0 && fgets(line, sizeof line, maps)) fputs(line, stdout);
    MPI_Finalize();
    return x != 42;
}}
"""
PYTHON_PROGRAM = f"""
from mpi4py import MPI
world = MPI.COMM_WORLD
for _ in range({CALLS}):
    assert world.bcast(42, root=world.size - 1) == 42
if world.rank == 0:
    print(open("/proc/self/maps").read())
"""


@pytest.fixture(scope="module", params=["openmpi-5", pytest.param("mpich-5", marks=pytest.mark.long)])
def private(request, tmp_path_factory):
    """The library of a copy of that MPI."""
    prefix = tmp_path_factory.mktemp("opt")
    for part in ("lib", "bin", "share", "include"):
        if (from_there := ROOT / ".env" / request.param / part).is_dir():
            shutil.copytree(from_there, prefix / part, symlinks=True, ignore=shutil.ignore_patterns("python*"))
    return prefix / "lib" / {"openmpi-5": "libmpi.so.40", "mpich-5": "libmpi.so.12"}[request.param]


@pytest.fixture(params=["named by the program", "named by a library of it", "LD_LIBRARY_PATH",
                        "Python"])
def program(request, private, tmp_path):
    """A command line and what its environment adds, as a user or a module would set that."""
    path_is_named = f"-Wl,-rpath,{private.parent}"
    modules = {"LD_LIBRARY_PATH": str(private.parent)}
    if request.param == "Python":
        (tmp_path / "program.py").write_text(PYTHON_PROGRAM)
        return [sys.executable, str(tmp_path / "program.py")], modules
    (tmp_path / "work.c").write_text(C_PROGRAM)
    (tmp_path / "main.c").write_text("int work(void); int main() { return work(); }")

    def compiled(*words):
        subprocess.run(["cc", "-I", private.parent.parent / "include", *words], cwd=tmp_path, check=True)

    if request.param == "named by a library of it":
        compiled("-shared", "-fPIC", "work.c", private, path_is_named, "-o", "libwork.so")
        compiled("main.c", "-L.", "-lwork", f"-Wl,-rpath,{tmp_path}", "-o", "program",
                 "-Wl,--allow-shlib-undefined")
        return [str(tmp_path / "program")], {}
    named = request.param == "named by the program"
    compiled("main.c", "work.c", "-L", private.parent, f"-l:{private.name}", *[path_is_named] * named,
             "-o", "program")
    return [str(tmp_path / "program")], {} if named else modules


def mapped(output):
    return {path for path in re.findall(r"(/\S+)$", output, re.MULTILINE)
            if re.match(r"lib(mpi|open-pal|mutirao)\S*\.so", os.path.basename(path))}


def with_mpi_alone(paths):
    return {path for path in paths if not os.path.basename(path).startswith("libmutirao")}


def started_alone(program, **environment):
    """One rank, without a launcher, which would set LD_LIBRARY_PATH."""
    return subprocess.run(["env", *(f"{name}={value}" for name, value in environment.items()), *program],
                          capture_output=True, text=True, check=True, timeout=60).stdout


def test_it_is_the_programs_own(mutirao, private, program, tmp_path):
    """Nor does a bare preload bring one along."""
    argv, variables = program
    natively = mapped(started_alone(argv, **variables))
    assert str(private) in natively
    bare = mapped(started_alone(argv, LD_PRELOAD=str(PRELOAD), **variables))
    assert with_mpi_alone(bare) == natively != bare
    report = tmp_path / "report.json"
    ours = mutirao("run", "-n", 2, "--report", report, "--", *argv, **variables)
    assert with_mpi_alone(mapped(text_of(ours))) == natively
    # And mutirao was there.
    assert json.loads(report.read_text())["communicators"][0]["calls"] >= CALLS
    assert any("libmutirao" in path for path in mapped(ours.stdout))
    native = mutirao("run", "-n", 2, "--native", "--", *argv, **variables)
    assert (mapped(native.stdout), native.stderr.count("mutirao: ")) == (natively, 0)


def test_what_is_no_mpi_program_loads_no_mpi():
    listed = subprocess.run(["cat", "/proc/self/maps"], capture_output=True, text=True, check=True,
                            env={"LD_PRELOAD": str(PRELOAD)}).stdout
    assert {os.path.basename(path) for path in mapped(listed)} == {"libmutirao.so"}


@pytest.fixture
def without_libraries(tmp_path):
    """A build that has none for any binary interface."""
    folder = tmp_path / "build"
    shutil.copytree(BUILD / "bin", folder / "bin", ignore=shutil.ignore_patterns("mandelbrot*"))
    (folder / "lib").mkdir()
    for library in LIBRARIES.glob("libmutirao*.so"):
        shutil.copy(library, folder / "lib")
    return folder


def test_where_none_fits_one_line_says_how_to_build_one(without_libraries):
    mpi = quick_mpi()
    preload = without_libraries / "lib" / PRELOAD.name
    program = ["env", f"LD_PRELOAD={preload}", str(mpi.program("collective")), "broadcast"]
    finished = launch(mpi, program, 2, native=True, capture=True, timeout_s=60)
    assert finished.returncode == 0 and '"bytes":24' in finished.lines[-1], finished.errors
    [line] = finished.errors.strip().splitlines()
    assert "mutirao doctor --build" in line and mpi.version in line


def test_run_says_so_too(mutirao, without_libraries):
    mpi = quick_mpi()
    answer = mutirao("run", "-n", 2, "--mpi", mpi.name, mpi.program("collective"), "broadcast",
                     MUTILAB_BUILD=str(without_libraries))
    assert answer.returncode == 0, answer.stderr
    [line] = answer.stderr.strip().splitlines()
    assert "mutirao doctor --build" in line and str(mpi.library) in line
