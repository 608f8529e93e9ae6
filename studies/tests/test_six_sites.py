"""`mutirao study six-sites` without a lab: what is planned, kept, left out and said, and its page."""

import json
import re

import pytest

from made_up import MadeUpJobs, mpi_named
from mutirao.base.errors import Failure
from mutirao.measure import circumstances
from mutirao_studies.document import page_of, text_of
from mutirao_studies.paper_000 import paper_000, six_sites
from mutirao_studies.paper_000.six_sites_document import comparisons, document
from shown import shown

KEYS = ["native-openmpi-5", "native-mpich-5", "mpich-like", "magpie-like", "mst", "choice"]


@pytest.fixture
def study_with(monkeypatch, labs):
    """Runs the study with made-up jobs; some may fail, and MPI libraries be missing."""
    def run(failing=(), found=("openmpi-5", "mpich-5"), **options):
        mpis = {name: mpi_named(name) for name in found}
        monkeypatch.setattr(six_sites, "found_mpis", lambda: tuple(mpis.values()))
        monkeypatch.setattr(six_sites, "find_mpi", lambda name: mpis[name])
        monkeypatch.setattr(six_sites, "measure", MadeUpJobs(failing))
        return six_sites.run_study(**options)

    return run


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
    points = [point for arm in result["arms"] for point in arm["points"]]
    assert [(point["root"], point["consecutive"]) for point in points] == [(12, 1), (0, 1), (8, 1)] * 2
    shown(document(result), "mutirao's choice", *(f"{point['median_ms']:.1f}" for point in points))


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


@pytest.mark.parametrize("failing", [("MST",), ("MST", "mutirao's choice", "MagPIe-like"),
                                     ("MPICH-like", "MST", "mutirao's choice", "MagPIe-like")])
def test_what_is_shown_without_some_arms(study_with, failing):
    """Whatever characters the reason has."""
    result = study_with(failing=failing)
    result["left_out"][-1] = {"title": "MST", "reason": "<b>1 & 2</b> $root"}
    shown(document(result), "MST left out: <b>1 & 2</b> $root")


def test_no_arm_at_all_is_a_failure(study_with):
    with pytest.raises(Failure, match="nothing could[^$]*openmpi-5 is not installed"):
        study_with(found=())


def test_every_number_is_shown(study_with):
    """In what is read, not only in the JSON at the end."""
    result = study_with()
    medians = [f"{point['median_ms']:.1f}" for arm in result["arms"] for point in arm["points"]]
    round_trips = [f"{value:g}" for row in result["network"]["round_trip_ms"] for value in row if value]
    in_paper = [f"{value:.2f}" for by_count in paper_000.FIGURE_4_S.values() for times in by_count.values()
                for value in times]
    in_paper += [f"{value:.2f}" for by_count in paper_000.TABLE_2_S.values() for value in by_count.values()]
    _, page = shown(document(result), *in_paper, *medians, "2.09 s", "4.71 s", "6.80 s",
                    in_text=["349.4"], in_page=round_trips)
    assert "http" not in page.replace('xmlns="http://www.w3.org/2000/svg"', "")


def test_what_was_not_as_asked_is_said(study_with):
    """Fewer sites than there are, and packets that the router dropped, of all arms together."""
    result = study_with()
    result["arms"][-1]["start"]["sites"] = [0] * 24
    for arm, overruns in zip(result["arms"], (1, 3), strict=False):
        arm["overruns"] = overruns
    said = " ".join(text_of(document(result)).split())
    assert "saw 1 site instead of 6" in said and "router was too slow for 4 packets" in said


def test_the_papers_percentages():
    """Its Table 2 and its text give these themselves, so they check its figures as typed here."""
    rows = comparisons({"arms": []})
    assert [(source, count, paper) for _, source, count, paper, _ in rows] == [
        ("Table 2", 1, "23% less"), ("Table 2", 4, "22% less"), ("Table 2", 16, "18% less"),
        ("Figure 4", 4, "13% less"), ("Figure 4", 8, "28% less"),
        ("Figure 4", 16, "15% less")]


def test_a_study_is_no_load_of_the_next(monkeypatch):
    circumstances._load_before.cache_clear()
    loads = iter([(3.0, 0, 0), (9.0, 0, 0)])
    monkeypatch.setattr(circumstances.os, "getloadavg", lambda: next(loads))
    results = [circumstances.Circumstances(name, True, []).to_dict() for name in ("one", "two")]
    circumstances._load_before.cache_clear()
    assert [result["machine"]["load_before"] for result in results] == [3.0, 3.0]


def test_no_chart_is_pushed_aside_on_a_narrow_page(study_with):
    """Only the drawings of the core are as wide as they are."""
    page = str(page_of(document(study_with())))
    assert not re.search(r'class="scroll">\s*<(svg|div class="groups)', page)
    assert not re.search(r"svg[^{}]*{[^{}]*min-width: [^01]", page.replace(".cards .spark", ""))
