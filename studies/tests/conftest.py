"""An MPI library for the studies' own programs."""

import pytest

from mutirao.run.mpis import found_mpis


@pytest.fixture(scope="session")
def mpi():
    built = [each for each in found_mpis() if each.built]
    if not built:
        pytest.skip("no MPI library")
    # Last, since its launcher now and then does not end after MPI_Abort: openpmix/prrte#1839.
    return min(built, key=lambda each: each.name == "openmpi-5")
