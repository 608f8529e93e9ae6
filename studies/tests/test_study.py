"""`mutirao study six-sites` without a lab: what is planned, kept, left out and said."""

import json

import pytest

from mutirao.base.errors import Failure, UsageError
from mutirao.measure import circumstances
from mutirao.run.mpis import Mpi
from mutirao_studies.account import LeftOut
from mutirao_studies.document import text_of
from mutirao_studies.paper_000 import paper_000, six_sites
from mutirao_studies.paper_000.six_sites_document import comparisons, demo_document, document

KEYS = ["native-openmpi-5", "native-mpich-5", "mpich-like", "magpie-like", "mst", "choice"]


def test_everything_is_measured(study_with):
    result = study_with()
    assert [arm["key"] for arm in result["arms"]] == KEYS
    assert result["left_out"] == []
    for arm in result["arms"]:
        assert [(point["root"], point["consecutive"]) for point in arm["points"]] == [
            (12, 1), (12, 4), (12, 8), (12, 16), (0, 1), (4, 1), (8, 1), (16, 1), (20, 1)]
        assert (arm["start"] is None) == (arm["settings"] is None)
        assert arm["settings"] is None or arm["settings"]["start"] == "wait"
    assert result["arms"][-1]["points"][0]["ran"] == "tree:kind=shortest_path"
    assert json.loads(json.dumps(result)) == result


def test_quick_measures_once(study_with):
    points = study_with(quick=True)["arms"][0]["points"]
    assert {len(point["completion_ms"]) for point in points} == {1}


def test_the_demo_compares_one_mpi_with_and_without(study_with):
    result = study_with(found=("openmpi-5",), mpi_names=["openmpi-5"], scope=six_sites.DEMO)
    assert [arm["key"] for arm in result["arms"]] == ["native-openmpi-5", "choice"]
    assert result["left_out"] == []
    for arm in result["arms"]:
        assert {(point["root"], point["consecutive"]) for point in arm["points"]} == {
            (12, 1), (0, 1), (8, 1)}
    lines = text_of(demo_document(result)).splitlines()
    assert max(map(len, lines)) <= 80
    assert any("mutirao's choice" in line for line in lines)


def test_an_mpi_that_is_missing_is_left_out(study_with):
    """mutirao's arms go on with the next MPI."""
    result = study_with(found=("mpich-5",))
    assert [arm["key"] for arm in result["arms"]] == [KEYS[1], *KEYS[2:]]
    assert {arm["mpi"] for arm in result["arms"]} == {"mpich-5"}
    [row] = result["left_out"]
    assert row["title"] == "Open MPI 5, native" and "openmpi-5 is not installed" in row["reason"]


def test_an_arm_that_fails_is_left_out(study_with, capsys):
    result = study_with(failing=("MST",))
    assert [arm["key"] for arm in result["arms"]] == [key for key in KEYS if key != "mst"]
    assert result["left_out"] == [{"title": "MST", "reason": "MST did not want to"}]
    assert "MST left out: MST did not want to" in capsys.readouterr().err
    assert "\nMST left out: MST did not want to" in text_of(document(result))


def test_no_arm_at_all_is_a_failure(study_with):
    with pytest.raises(Failure, match="nothing could[^$]*openmpi-5 is not installed"):
        study_with(found=())


def test_unknown_mpi():
    with pytest.raises(UsageError, match="unknown MPI 'mpich'"):
        six_sites.plan(["mpich"], six_sites.MUTIRAO_ARMS, LeftOut())


def test_nothing_built(monkeypatch, study_with):
    study_with()
    monkeypatch.setattr(Mpi, "built", False)
    left_out = LeftOut()
    arms = six_sites.plan(["openmpi-5"], six_sites.MUTIRAO_ARMS, left_out)
    assert [arm.key for arm, _ in arms] == ["native-openmpi-5"]
    assert len(left_out.rows) == 4 and all("make build" in row["reason"] for row in left_out.rows)


def test_tables_fit_a_terminal(study_with):
    lines = text_of(document(study_with())).splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    for figure in ("4.93", "15.88", "28.20", "8.64", "349.4", "2.09 s", "4.71 s",
                   "6.80 s", "in MPI_Init", "call 1"):
        assert figure in text


def test_fewer_sites_than_there_are_is_said(study_with):
    result = study_with()
    result["arms"][-1]["start"]["sites"] = [0] * 24
    assert "saw 1 site instead of 6" in " ".join(text_of(document(result)).split())


def test_the_papers_percentages():
    """Its Table 2 and its text give these themselves, so they check its figures as typed here."""
    rows = comparisons({"arms": [], "paper": paper_000.to_dict()})
    assert [(source, count, paper) for _, source, count, paper, _ in rows] == [
        ("Table 2", "1", "23% less"), ("Table 2", "4", "22% less"), ("Table 2", "16", "18% less"),
        ("Figure 4", "4", "13% less"), ("Figure 4", "8", "28% less"),
        ("Figure 4", "16", "15% less")]


@pytest.mark.parametrize("name", ["MagPIe-like", "AGM"])
def test_figure_4_adds_up(name):
    """The third bar is the difference of the others, to the last digit that is printed."""
    for building, whole, rest in paper_000.FIGURE_4_S[name].values():
        assert whole - building == pytest.approx(rest, abs=0.0151)


def test_a_study_is_no_load_of_the_next(monkeypatch):
    circumstances._load_before.cache_clear()
    loads = iter([(3.0, 0, 0), (9.0, 0, 0)])
    monkeypatch.setattr(circumstances.os, "getloadavg", lambda: next(loads))
    results = [circumstances.Circumstances(name, True, []).to_dict() for name in ("one", "two")]
    circumstances._load_before.cache_clear()
    assert [result["machine"]["load_before"] for result in results] == [3.0, 3.0]
