"""Studies without any lab, and an MPI library for those with one."""

import pytest

from made_up import MadeUpJobs, NoLab, mpi_named
from mutirao.run.mpis import Mpi, found_mpis
from mutirao_studies.paper_000 import six_sites


@pytest.fixture(scope="session")
def mpi():
    built = [each for each in found_mpis() if each.built]
    if not built:
        pytest.skip("no MPI library")
    # Last, since its launcher now and then does not end after MPI_Abort: openpmix/prrte#1839.
    return min(built, key=lambda each: each.name == "openmpi-5")


@pytest.fixture
def study_with(monkeypatch, tmp_path):
    """Runs the study with made-up jobs; some may fail, and MPI libraries be missing."""
    def run(failing=(), found=("openmpi-5", "mpich-5"), **options):
        mpis = {name: mpi_named(name, tmp_path) for name in found}
        monkeypatch.setattr(Mpi, "built", True)
        monkeypatch.setattr(six_sites, "found_mpis", lambda: tuple(mpis.values()))
        monkeypatch.setattr(six_sites, "find_mpi", lambda name: mpis[name])
        monkeypatch.setattr(six_sites.Lab, "up", lambda *_words, **_options: NoLab())
        monkeypatch.setattr(six_sites, "measure", MadeUpJobs(failing))
        return six_sites.run_study(**options)

    return run
