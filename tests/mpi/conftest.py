"""MPI programs with and without mutirao preloaded, for every MPI library found on this machine."""

import pytest

from mutirao.launch import launch
from mutirao.mpis import found_mpis

BUILT = [mpi for mpi in found_mpis() if mpi.built]


@pytest.fixture(params=BUILT, ids=lambda mpi: mpi.name)
def mpi(request):
    return request.param


@pytest.fixture
def run(mpi):
    """Runs a program of tests/mpi or bench, or any command line, to its end."""

    def start(program, *words, ranks=4, **options):
        argv = [str(mpi.program(program))] if isinstance(program, str) else list(program)
        return launch(mpi, [*argv, *map(str, words)], ranks, capture=True, timeout_s=120, **options)

    return start
