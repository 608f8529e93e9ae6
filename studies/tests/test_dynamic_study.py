"""`mutirao study six-sites-dynamic` without a lab: the network, the schedule, columns, tables, page."""

import json

import pytest

from made_up import mpi_named
from made_up_steady import MadeUpSteadyJobs
from mutirao.base.errors import Failure
from mutirao_studies.document import text_of, write_files
from mutirao_studies.paper_000 import paper_000, six_sites_dynamic
from mutirao_studies.paper_000.changing_network import CHANGES, six_gateways, with_links
from mutirao_studies.paper_000.dynamic_document import comparisons, document
from shared import kruskal
from shown import shown


@pytest.fixture
def dynamic_with(monkeypatch, labs):
    def run(failing=(), quick=True):
        run.jobs = MadeUpSteadyJobs(failing)
        monkeypatch.setattr(six_sites_dynamic, "run_steady", run.jobs)
        monkeypatch.setattr(six_sites_dynamic, "STANDS_PER_LINK_S", 0)
        return six_sites_dynamic.run_study(mpi_named("openmpi-5"), quick)

    return run


def test_the_tree_is_the_papers_figure_3():
    """Sites as stars; the sites' first hosts joined. The changed links are in it when good."""
    tree = set(kruskal(six_gateways().latency_us))
    gateways = range(0, 24, 4)
    assert {(a, b) for a in gateways for b in range(a + 1, a + 4)} < tree
    assert {(a, b) for a, b in tree if a // 4 != b // 4} == {
        (0, 12), (12, 20), (12, 16), (4, 16), (4, 8)}
    for name, good in (("4-6", "before"), ("12-20", "before"), ("12-16", "after")):
        link = tuple(map(int, name.split("-")))
        value = getattr(CHANGES[name], f"{good}_ms")
        assert link in kruskal(with_links(six_gateways(), {link: value}).latency_us)


def test_every_arm_of_every_figure(dynamic_with):
    result = dynamic_with()
    assert [figure["number"] for figure in result["figures"]] == [5, 6, 7]
    for figure in result["figures"]:
        assert [arm["key"] for arm in figure["arms"]] == [arm.key for arm in six_sites_dynamic.ARMS]
        for arm in figure["arms"]:
            assert arm["settings"].get("change_threshold_percent") == (
                f"{figure['threshold_percent']:g}" if arm["key"].startswith("mst-") else None)
    assert json.loads(json.dumps(result)) == result


def test_equal_jobs_run_once(dynamic_with):
    """Static arms and the default know no threshold: figures 5 and 6 share them."""
    dynamic_with()
    assert len(dynamic_with.jobs.asked) == 5 + 2 + 5
    dynamic_with(quick=False)
    assert len(dynamic_with.jobs.asked) == 3 * (5 + 2 + 5)


def test_links_change_at_their_calls(dynamic_with, labs):
    """And each job begins with a fresh network. Catches calls counted from 0."""
    dynamic_with(failing=[arm.title for arm in six_sites_dynamic.ARMS[1:]])
    at_once = [("h04", "h06", 4999.5), ("h12", "h20", 22.5), ("h00", "h02", 50.0),
               ("h12", "h16", 10.5)]
    in_turn = [at_once[0], at_once[3], at_once[1], at_once[2]]
    assert labs[0].pairs == [*at_once, *in_turn]
    name, settings, pace, bounds = dynamic_with.jobs.asked[-5]
    assert (name, pace.count, sorted(pace.stops)) == ("MagPIe-like", 20, [4, 8, 12, 16])
    assert [(latency_us[4][6], latency_us[12][16]) for latency_us in labs[0].latencies] == [(500.0, 750_000.0)] * 12
    # From host 12 the farthest is in S2: 701.2 / 2 at first, by way of S4 once 12-16 is good.
    assert bounds[:7] == pytest.approx([(701.2 + 1) / 2] * 7)
    assert bounds[7:] == pytest.approx([(21 + 371.7 + 1) / 2] * 13)


def test_columns(dynamic_with):
    """Adapting inside the broadcasts is not counted as broadcasting. Catches checks counted that were
    ahead of the counted calls, or from rank 0's entry instead of the root's."""
    result = dynamic_with()
    figure = result["figures"][0]
    columns = {arm["key"]: arm["columns_s"] for arm in figure["arms"]}
    spent = 16 * 1.25 * figure["bound_ms"][0] / 1000
    for key, adapting in (("mst-each", 16 * 0.2), ("mst-fourth", 4 * 0.2), ("default", 0.004)):
        assert columns[key]["broadcasts"] == pytest.approx(spent, abs=1e-3)
        assert columns[key]["adapting"] == pytest.approx(adapting)
    assert columns["mst"]["broadcasts"] == pytest.approx(100 * spent, abs=1e-3)
    assert {columns[key]["changing"] for key in columns} == {0.7125}
    # In MPI_Init, and in the first check.
    assert {key: each["building"] for key, each in columns.items()} == {
        key: pytest.approx(6.799 + 0.5 * key.startswith("mst-")) for key in columns}
    rows = dict((row[0], row[1:]) for row in comparisons(figure))
    assert rows["MST, adapting at each: faster than MST"] == ("18.6 x", "100.0 x")
    assert rows["MST, adapting at each: adapting in the program"][0] == "28.4%"


def test_what_is_not_told_is_left_open(dynamic_with, monkeypatch):
    """A library that says nothing of adapting."""
    monkeypatch.setattr("made_up_steady.adaptation", lambda *_words: None)
    result = dynamic_with()
    assert result["figures"][0]["arms"][-1]["columns_s"]["adapting"] is None
    shown(document(result), in_text=[" - "])


def test_an_arm_that_fails_is_left_out(dynamic_with):
    result = dynamic_with(failing=("MST",))
    assert all(len(figure["arms"]) == 4 for figure in result["figures"])
    assert "\nMST (broadcast=tree:kind=mst, adaptation=off) left out: MST" in text_of(document(result))
    with pytest.raises(Failure, match="nothing could be measured"):
        dynamic_with(failing=[arm.title for arm in six_sites_dynamic.ARMS])


def test_what_is_shown(dynamic_with, tmp_path):
    """All that was measured; what changes when, and when each arm knew."""
    result = dynamic_with(quick=False)
    columns = [values for figure in paper_000.FIGURES.values() for values in figure.rows_s.values()]
    columns += [arm["columns_s"].values() for figure in result["figures"] for arm in figure["arms"]]
    numbers = [f"{value:.2f}" for values in columns for value in values]
    shown(document(result), "9999", *numbers, in_text=["took up changes at broadcast 2\n"], in_page=[
        "120001", "2000.02", "30000", "1500", "before broadcast 8: link 12-16 from 1500 to 21 ms",
        "took up changes at broadcasts 2, 5"])
    files = write_files(document(result), tmp_path)
    assert json.loads(files[1].read_text()) == result
