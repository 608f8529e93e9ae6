"""MPI programs with and without mutirao preloaded, for every MPI library found on this machine."""

import os

import pytest

from mutirao.run.launch import launch
from mutirao.run.mpis import found_mpis

BUILT = [mpi for mpi in found_mpis() if mpi.built]
# From PyPI, always of the same version; those that tests of other things than MPI libraries use.
WHEELS = {mpi.name: mpi for mpi in BUILT if mpi.known.environment}


@pytest.fixture(params=BUILT, ids=lambda mpi: mpi.name)
def mpi(request):
    return request.param


@pytest.fixture(params=WHEELS.values(), ids=WHEELS)
def wheel(request):
    return request.param


@pytest.fixture
def wheels_only(mpi):
    """For tests whose programs find bugs of other versions of the MPI libraries."""
    if mpi.name not in WHEELS:
        pytest.skip("with the MPI libraries from PyPI only")


_NATIVE_ENDS = {}


@pytest.fixture
def run(mpi, monkeypatch, pytestconfig):
    """Runs a program of tests/mpi or bench, or any command line, to its end. With `once` only the
    first test that asks for a native run makes it; it must not depend on anything else."""
    # MPICH's ranks spin while they wait for each other's memory, and each has a session of its own, so that giving
    # way does not help: where processors are fewer a program takes 20 times as long as over sockets. With --everything
    # up to four are not spared that.
    most_spinning = max(os.cpu_count(), 4 if pytestconfig.option.everything else 0)

    def start(program, *words, ranks=4, once=False, timeout_s=120, **options):
        argv = [str(mpi.program(program))] if isinstance(program, str) else list(program)
        argv += map(str, words)
        if once and (mpi.name, ranks, *argv) in _NATIVE_ENDS:
            return _NATIVE_ENDS[mpi.name, ranks, *argv]
        if once:
            options["native"] = True
        if not options.get("native"):  # also with fewer processors than ranks
            # ... and so that short programs get that far
            options["settings"] = {"trials": "on", "start": "soon", **(options.get("settings") or {})}
        if mpi.known.title == "MPICH" and ranks > most_spinning:
            monkeypatch.setenv("MPIR_CVAR_NOLOCAL", "1")
        finished = launch(mpi, argv, ranks, capture=True, timeout_s=timeout_s, **options)
        if once:
            _NATIVE_ENDS[mpi.name, ranks, *argv] = finished
        return finished

    return start


@pytest.fixture
def by_ucx(run, mpi, monkeypatch):
    """Open MPI passes messages by UCX, whatever that finds, if it can here."""
    for name, value in (("pml", "ucx"), ("opal_common_ucx_devices", "any"), ("opal_common_ucx_tls", "any")):
        monkeypatch.setenv(f"OMPI_MCA_{name}", value)
    if not mpi.name.startswith("openmpi") or run("sums", "farewell", ranks=3, native=True).returncode != 0:
        pytest.skip("no UCX here")
