"""Rules made of a profile are obeyed by the library that they are for: in a lab the time tells which
algorithm ran."""

import re

import pytest

from shared import network_of
from mutirao.lab.lab import Lab
from mutirao.measure.rules import FORMATS, tables
from mutirao.measure.measure import Contender, Workload, measure
from mutirao.measure.profile import Fabric, Profile, Row
from mutirao.run.mpis import found_mpis

ONE_WAY_MS = 100  # a scheduler may keep a rank waiting for some 10 ms
HOSTS = Fabric(1, 4, 4, (ONE_WAY_MS * 1000.0,) * 6, "", "")
# Each row: collective, whether it has a root, candidate, and how many times the way it takes.
ALGORITHMS = [("broadcast", True, "flat", 1), ("broadcast", True, "chain", 3),
              ("allgather", False, "ring", 3), ("allgather", False, "bruck:radix=2", 2),
              ("alltoall", False, "linear", 1), ("alltoall", False, "pairwise", 3)]


def exported(form, version, collective, rooted, candidate):
    """Of a profile in which that candidate is the fastest."""
    def row(name, median_us):
        return Row(4, 4, 1, collective, 0 if rooted else -1, 1, 16, "warm", "tuned", name, median_us,
                   median_us, median_us, 10, 1.7e9)

    rows = [(HOSTS, version, row(name, time_us))
            for name, time_us in (("native", 9e9), (candidate, 1.0))]
    return form.write(tables(Profile(rows), form.has, form.knows_operators))


def built(name):
    mpi = next((each for each in found_mpis() if each.name == name), None)
    if mpi is None or not (mpi.build_folder / "collective").is_file():
        pytest.skip(f"{name} is not built: make build")
    return mpi


def ways_taken(lab, mpi, collective):
    contender = Contender("native", mpi, collective=collective)
    point, = measure(contender, [Workload([16], [0])], 4, lab).points
    return round(min(point.completion_ms) / ONE_WAY_MS)


@pytest.fixture(scope="module")
def lab(lab_possible):
    with Lab.up(network_of([[0 if a == b else ONE_WAY_MS for b in range(4)] for a in range(4)])) as lab:
        yield lab


@pytest.mark.parametrize("collective, rooted, candidate, ways", ALGORITHMS,
                         ids=[f"{each[0]}/{each[2]}" for each in ALGORITHMS])
def test_open_mpi_obeys(lab, tmp_path, monkeypatch, collective, rooted, candidate, ways):
    mpi = built("openmpi-5")
    rules = tmp_path / "rules"
    rules.write_text(exported(FORMATS["openmpi"], "Open MPI v5", collective, rooted, candidate))
    monkeypatch.setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")
    monkeypatch.setenv("OMPI_MCA_coll_tuned_dynamic_rules_filename", str(rules))
    assert ways_taken(lab, mpi, collective) == ways


@pytest.mark.parametrize("candidate, ways", [("ring", 3), ("bruck:radix=2", 2)])
def test_mpich_obeys(lab, monkeypatch, candidate, ways):
    mpi = built("mpich-5")
    lines = exported(FORMATS["mpich"], "MPICH Version: 5", "allgather", False, candidate).splitlines()
    assignment = lines[-1].removeprefix("export ")
    monkeypatch.setenv(*assignment.split("="))
    assert ways_taken(lab, mpi, "allgather") == ways


@pytest.mark.parametrize("collective, candidate, ways",
                         [("allgather", "ring", 3), ("allgather", "bruck:radix=2", 2),
                          ("alltoall", "linear", 1), ("alltoall", "pairwise", 3)])
def test_intel_obeys(lab, monkeypatch, collective, candidate, ways):
    mpi = built("intel")
    text = exported(FORMATS["intel"], f"Intel(R) MPI Library {mpi.version}", collective, False, candidate)
    name, value = re.search(r'^export (\w+)="(.*)"$', text, re.MULTILINE).groups()
    monkeypatch.setenv(name, value)
    assert ways_taken(lab, mpi, collective) == ways


@pytest.mark.parametrize("candidate, ways", [("ring", 3), ("bruck:radix=2", 2)])
def test_mpich_obeys_its_selection_file(lab, tmp_path, monkeypatch, candidate, ways):
    mpi = built("mpich-5")
    file = tmp_path / "selection.json"
    file.write_text(exported(FORMATS["mpich-json"], f"MPICH Version: {mpi.version}", "allgather", False,
                             candidate))
    monkeypatch.setenv("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", str(file))
    assert ways_taken(lab, mpi, "allgather") == ways
