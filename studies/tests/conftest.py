"""An MPI library for the studies' own programs, and labs that are none."""

import pytest

from made_up import NoLab
from mutirao.lab.lab import Lab
from mutirao.run.mpis import found_mpis


@pytest.fixture(scope="session")
def mpi():
    built = [each for each in found_mpis() if each.built]
    if not built:
        pytest.skip("no MPI library")
    # Last, since its launcher now and then does not end after MPI_Abort: openpmix/prrte#1839.
    return min(built, key=lambda each: each.name == "openmpi-5")


@pytest.fixture
def labs(monkeypatch):
    """Those that are brought up, in name only."""
    made = []

    def up(network, *_how):
        made.append(NoLab(network))
        return made[-1]

    monkeypatch.setattr(Lab, "up", up)
    return made
