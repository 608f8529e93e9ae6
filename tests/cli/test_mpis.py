"""Every MPI found starts programs with mutirao preloaded, in C and in Python."""

import sys
from pathlib import Path

import pytest

from mutirao.base.errors import UsageError
from mutirao.cli.commands import doctor
from mutirao.lab.network import spread
from mutirao.run.mpis import KNOWN, cmake_list, found_mpis, made_of, mpi_in
from mutirao.run.program_mpi import check_linked, mpi_of
from shared import each_mpi, json_of, text_of

FOUND = found_mpis()

# Says what it is preloaded with, so that a launcher that drops the environment is seen.
PROGRAM = """
from mpi4py import MPI
with open("/proc/self/maps") as maps:
    preloaded = "libmutirao" in maps.read()
world = MPI.COMM_WORLD
number = world.bcast(42 if world.rank == 1 else None, root=1)
print(f"{world.size} {number} {preloaded}\\n", end="", flush=True)
"""


def test_the_table():
    names = [known.name for known in KNOWN]
    assert len(set(names)) == len(names)
    assert cmake_list().count("=") == len(FOUND) >= 2
    for mpi in FOUND:
        assert mpi.launcher.is_file() and mpi.library.is_file()
        assert mpi.version.startswith(mpi.known.major)


def test_a_folder_that_cannot_be_looked_into_has_none():
    """Such as one of root's in the PATH of a job; too long a name is refused to root, too."""
    assert mpi_in(Path("/" + 300 * "x")) is None


@pytest.mark.parametrize("mpi", [mpi for mpi in FOUND if mpi.known.title == "Open MPI"
                                 and not mpi.is_outside_the_system], ids=lambda mpi: mpi.name)
def test_it_is_found_by_a_rank_of_another_open_mpi(mutirao, mpi, tmp_path):
    """As by the ranks that the host's mpirun starts in containers; it tells them its own folder."""
    said = mutirao("doctor", OPAL_PREFIX=str(tmp_path))
    rows = [line.split() for line in said.stdout.splitlines()]
    assert [mpi.name, "ok"] in [row[:2] for row in rows]


def test_one_from_elsewhere_is_not_missed(monkeypatch):
    """Intel MPI by a module, say, where scripts/setup.sh would bring another."""
    its_own = made_of("Intel MPI", "2021.17", Path("/opt/bin/mpicc"), Path("/opt/bin/mpirun"), Path("/opt/libmpi.so.12"))
    others = [mpi for mpi in FOUND if mpi.known.title != "Intel MPI"]

    def missing(found):
        monkeypatch.setattr(doctor, "found_mpis", lambda: found)
        return [finding.what for finding in doctor._mpis() if finding.state == "missing"]

    assert set(missing(others)) - set(missing([*others, its_own])) == {"intel"}


@each_mpi
def test_python_program(mutirao, tmp_path, mpi):
    (tmp_path / "program.py").write_text(PROGRAM)
    answer = mutirao("run", "-n", 2, "--mpi", mpi.name, "--", sys.executable, "program.py")
    assert text_of(answer).split("\n") == ["2 42 True"] * 2 + [""]
    # Nothing but what root must tell Open MPI, and the line at the end.
    [line] = [line for line in answer.stderr.splitlines() if "--allow-run-as-root" not in line]
    assert "; its start took" in line


@each_mpi
def test_the_mpi_of_a_program_is_recognised(mutirao, mpi):
    program = str(mpi.program("collective"))
    assert mpi_of(program).name == mpi.name
    assert json_of(mutirao("run", "-n", 2, "--json", program, "broadcast"))["mpi"] == mpi.name


@each_mpi
def test_another_family_is_refused(mpi):
    """Its library would be of the wrong ABI."""
    program = str(mpi.program("collective"))
    for other in FOUND:
        if other.known.soname != mpi.known.soname:
            with pytest.raises(UsageError, match=f"--mpi {mpi.name}"):
                check_linked(program, other)


@each_mpi
def test_exit_code_is_the_programs(mutirao, mpi):
    assert mutirao("run", "-n", 1, "--mpi", mpi.name, "--", "sh", "-c", "exit 7").returncode == 7


@pytest.mark.parametrize("ranks", [1, 5, 23, 24, 25, 48, 100])
def test_ranks_are_spread_evenly(ranks):
    slots = spread(ranks, 24)
    assert sum(slots) == ranks
    assert max(slots) - min(slots) <= 1 and min(slots) >= 1
    assert len(slots) == min(ranks, 24)
