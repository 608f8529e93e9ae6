"""Studies without any lab."""

import pytest

from made_up import MadeUpJobs, NoLab, mpi_named
from mutirao.run.mpis import Mpi
from mutirao_studies.paper_000 import six_sites


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
