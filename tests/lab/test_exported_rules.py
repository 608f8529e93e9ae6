"""Rules made of a profile are obeyed by the library that they are for: in a lab the time tells which
algorithm ran."""

import pytest

from mutirao.catalogue.collectives import COLLECTIVES
from shared import network_of
from mutirao.lab.lab import Lab
from mutirao.measure.rules import FORMATS, tables
from mutirao.measure.measure import Contender, Workload, measure
from mutirao.measure.profile import Fabric, Profile, Row
from mutirao.run.mpis import found_mpis

ONE_WAY_MS = 60  # a scheduler may keep a rank waiting for some 10 ms
HOSTS = Fabric(1, 4, 4, (ONE_WAY_MS * 1000.0,) * 6, "", "")
# Each row: candidate, its collective, and how many times the way it takes.
WAYS = {"flat": ("broadcast", 1), "chain": ("broadcast", 3), "ring": ("allgather", 3),
        "bruck:radix=2": ("allgather", 2), "linear": ("alltoall", 1), "pairwise": ("alltoall", 3)}
# MPICH's variables and file are tried with those of one collective; Intel MPI has none of these broadcasts.
ALLGATHERS = [name for name, (collective, _) in WAYS.items() if collective == "allgather"]
NO_BROADCASTS = [name for name, (collective, _) in WAYS.items() if collective != "broadcast"]


def exported(form, version, candidate):
    """Of a profile in which that candidate is the fastest."""
    form, collective = FORMATS[form], WAYS[candidate][0]

    root = 0 if COLLECTIVES[collective].rooted else -1

    def row(name, median_us):
        return Row(4, 4, 1, collective, root, 1, 16, "warm", "tuned", name, median_us, median_us, median_us, 10, 1.7e9)

    rows = [(HOSTS, version, row(name, time_us))
            for name, time_us in (("native", 9e9), (candidate, 1.0))]
    return form.write(tables(Profile(rows), form.has, form.knows_operators))


def built(name):
    mpi = next((each for each in found_mpis() if each.name == name), None)
    if mpi is None or not (mpi.build_folder / "collective").is_file():
        pytest.skip(f"{name} is not built: make build")
    return mpi


def assert_obeys(lab, mpi, candidate):
    collective, ways = WAYS[candidate]
    contender = Contender("native", mpi, collective=collective)
    point, = measure(contender, [Workload([16], [0])], 4, lab).points
    assert round(min(point.completion_ms) / ONE_WAY_MS) == ways


@pytest.fixture(scope="module")
def lab(lab_possible):
    with Lab.up(network_of([[0 if a == b else ONE_WAY_MS for b in range(4)] for a in range(4)])) as lab:
        yield lab


@pytest.mark.parametrize("candidate", WAYS)
def test_open_mpi_obeys(lab, tmp_path, monkeypatch, candidate):
    rules = tmp_path / "rules"
    rules.write_text(exported("openmpi", "Open MPI v5", candidate))
    monkeypatch.setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")
    monkeypatch.setenv("OMPI_MCA_coll_tuned_dynamic_rules_filename", str(rules))
    assert_obeys(lab, built("openmpi-5"), candidate)


@pytest.mark.parametrize("mpi_name, form, version, candidate", [
    *(("mpich-5", "mpich", "MPICH Version: 5", name) for name in ALLGATHERS),
    *(("intel", "intel", "Intel(R) MPI Library 2021", name) for name in NO_BROADCASTS)])
def test_a_librarys_variables_are_obeyed(lab, monkeypatch, mpi_name, form, version, candidate):
    mpi = built(mpi_name)
    lines = exported(form, version, candidate).splitlines()
    name, value = lines[-1].removeprefix("export ").split("=", 1)
    monkeypatch.setenv(name, value.strip('"'))
    assert_obeys(lab, mpi, candidate)


@pytest.mark.parametrize("candidate", ALLGATHERS)
def test_mpich_obeys_its_selection_file(lab, tmp_path, monkeypatch, candidate):
    mpi = built("mpich-5")
    file = tmp_path / "selection.json"
    file.write_text(exported("mpich-json", f"MPICH Version: {mpi.version}", candidate))
    monkeypatch.setenv("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", str(file))
    assert_obeys(lab, mpi, candidate)
