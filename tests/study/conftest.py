"""Studies without any lab."""

import pytest

from made_up import MadeUpJobs, NoLab, mpi_named
from mutirao.measure.measure import Contender
from mutirao.run.mpis import Mpi
from mutirao.studies import six_sites


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


@pytest.fixture
def contender(tmp_path):
    def make(name, **settings):
        native = name == "native"
        return Contender(name, mpi_named("openmpi-5", tmp_path),
                         None if native else {"broadcast": name, **settings})

    return make
