"""The library in other people's processes: other languages, other tools, wrong uses."""

import sys
import time

import pytest

from ends import decided_calls, ended_well, lines_of_ours, passed
from mutirao.base.paths import PRELOAD
from mutirao.run.launch import launch
from tools import COUNTING, compiled_fortran, compiled_tool

TWO_HOSTS = {"start": "wait", "ranks_per_host": "1", "broadcast": "binomial"}

FORTRAN = """
program broadcast
  use {module}
  implicit none
  integer :: rank, error, values(5)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  values = 0
  if (rank == 1) values = (/ 3, 1, 4, 1, 5 /)
  call MPI_Bcast(values, 5, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
  if (any(values /= (/ 3, 1, 4, 1, 5 /))) call MPI_Abort(MPI_COMM_WORLD, 3, error)
  call MPI_Finalize(error)
  if (rank == 0) print '(a)', 'ok'
end program
"""


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_fortran(run, mpi, tmp_path, module):
    source = tmp_path / "broadcast.f90"
    source.write_text(FORTRAN.format(module=module))
    finished = passed(run([compiled_fortran(mpi, source, tmp_path)], ranks=3, settings=TWO_HOSTS))
    assert decided_calls(finished) == 1  # seen, and not twice


@pytest.mark.parametrize("settings, before_us", [
    (TWO_HOSTS, True), pytest.param({}, False, marks=pytest.mark.on_any_mpi),
    pytest.param({"enabled": "off"}, False, marks=pytest.mark.on_any_mpi),
    ({"ranks_per_host": "1", "broadcast": "native"}, False)],
    ids=["before us", "behind us on one host", "switched off", "native chosen"])
def test_a_profiling_tool_sees_every_call_once(run, mpi, tmp_path, settings, before_us):
    """Behind us the native ones."""
    tool = compiled_tool(mpi, COUNTING, tmp_path)
    # The launcher puts our library first in LD_PRELOAD; the program's own `env` puts the tool there.
    preloaded = [tool, PRELOAD] if before_us else [PRELOAD, tool]
    program = ["env", f"LD_PRELOAD={':'.join(map(str, preloaded))}", str(mpi.program("collective")), "broadcast"]
    finished = ended_well(run(program, "--repeat", 3, ranks=2, settings=settings))
    assert finished.lines[-1] == "tool saw 4"
    assert not before_us or decided_calls(finished) == 4


@pytest.mark.on_any_mpi
def test_a_wrong_setting_ends_every_rank_before_any_communication(run):
    finished = run("collective", "broadcast", ranks=3, settings={"broadcast": "binomail"})
    assert finished.returncode != 0 and finished.lines == []
    [line] = lines_of_ours(finished)
    assert "binomial" in line


def test_a_killed_rank_ends_the_job_as_it_does_natively(mpi):
    """A rank is killed in the middle of a broadcast that the others cannot complete."""
    victim = [sys.executable, "-c", "import os\n"
              "from mpi4py import MPI\n"
              "comm = MPI.COMM_WORLD\n"
              "data = bytearray(1 << 20)\n"
              "comm.Bcast(data, root=0)\n"
              "if comm.rank == 1: os.kill(os.getpid(), 9)\n"
              "for _ in range(100): comm.Bcast(data, root=0)\n"]
    ends = []
    for native in (True, False):
        begin = time.monotonic()
        finished = launch(mpi, victim, 3, capture=True, timeout_s=60, native=native,
                          settings={"start": "wait", "ranks_per_host": "1",
                                    "broadcast": "chain:segment_bytes=4096"})
        ends.append(finished.returncode)
        assert time.monotonic() - begin < 50  # ended, not hung
    assert 0 not in ends and ends[0] == ends[1]
