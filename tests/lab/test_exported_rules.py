"""Rules made of a profile are obeyed by the library that they are for: in a lab the time tells which
algorithm ran."""

import pytest

from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.measure.measure import Contender, Workload, measure
from mutirao.measure.profile import Fabric, Profile, Row
from mutirao.measure.rules import FORMATS, tables
from shared import built_mpi, lab_of, network_of

ONE_WAY_MS = 60  # a scheduler may keep a rank waiting for some 10 ms
HOSTS = Fabric(1, 4, 4, (ONE_WAY_MS * 1000.0,) * 6, "", "")
# By collective and length: what is the fastest, and how many times the way that takes.
RULED = {"broadcast": {8: ("flat", 1), 64: ("chain", 3)}, "allgather": {8: ("bruck:radix=2", 2), 64: ("ring", 3)},
         "alltoall": {8: ("linear", 1), 64: ("pairwise", 3)}}


def exported(form, version, collective, lengths):
    """Of a profile of these lengths."""
    form, root = FORMATS[form], 0 if COLLECTIVES[collective].rooted else -1

    def row(length, name, median_us):
        return Row(4, 4, 1, collective, root, 1, length, "warm", "tuned", name, *[median_us] * 3, 10, 1.7e9)

    rows = [(HOSTS, version, row(length, name, time_us)) for length in lengths
            for name, time_us in (("native", 9e9), (RULED[collective][length][0], 1.0))]
    return form.write(tables(Profile(rows), form.has, form.knows_operators))


def assert_obeys(lab, mpi, collective, lengths):
    contender = Contender("native", mpi, collective=collective)
    points = measure(contender, [Workload(lengths, [0], repeat=2)], 4, lab).points
    assert {point.length_bytes: round(min(point.completion_ms) / ONE_WAY_MS) for point in points} == {
        length: RULED[collective][length][1] for length in lengths}


lab = lab_of(network_of([[0 if a == b else ONE_WAY_MS for b in range(4)] for a in range(4)]))


@pytest.mark.parametrize("collective", RULED)
def test_open_mpi_obeys(lab, tmp_path, monkeypatch, collective):
    rules = tmp_path / "rules"
    rules.write_text(exported("openmpi", "Open MPI v5", collective, [8, 64]))
    monkeypatch.setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")
    monkeypatch.setenv("OMPI_MCA_coll_tuned_dynamic_rules_filename", str(rules))
    assert_obeys(lab, built_mpi("openmpi-5"), collective, [8, 64])


# MPICH's variables know no lengths; Intel MPI has none of these broadcasts.
@pytest.mark.parametrize("mpi_name, form, version, collective, lengths", [
    *(("mpich-5", "mpich", "MPICH Version: 5", "allgather", [length]) for length in (8, 64)),
    *(("intel", "intel", "Intel(R) MPI Library 2021", name, [8, 64]) for name in ("allgather", "alltoall"))])
def test_a_librarys_variables_are_obeyed(lab, monkeypatch, mpi_name, form, version, collective, lengths):
    mpi = built_mpi(mpi_name)
    lines = exported(form, version, collective, lengths).splitlines()
    name, value = lines[-1].removeprefix("export ").split("=", 1)
    monkeypatch.setenv(name, value.strip('"'))
    assert_obeys(lab, mpi, collective, lengths)


def test_mpich_obeys_its_selection_file(lab, tmp_path, monkeypatch):
    mpi = built_mpi("mpich-5")
    file = tmp_path / "selection.json"
    file.write_text(exported("mpich-json", f"MPICH Version: {mpi.version}", "allgather", [8, 64]))
    monkeypatch.setenv("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", str(file))
    assert_obeys(lab, mpi, "allgather", [8, 64])
