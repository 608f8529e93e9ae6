"""The command line's table of collectives against the library's, and predictions without a run."""

import re
import statistics

import pytest

from mutirao.base.errors import UsageError
from mutirao.base.paths import ROOT
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.catalogue.predicted import best_table, median_to_bound, predict_all, table
from mutirao.lab.network import HostNetwork

ROW = re.compile(r'\{Collective::\w+, "(\w+)", (true|false), (?:true|false), InBlocks::(\w+),')


def test_the_table_is_the_librarys():
    text = (ROOT / "src" / "core" / "collectives" / "collective.h").read_text()
    rows = [(name, rooted == "true", in_blocks != "none")
            for name, rooted, in_blocks in ROW.findall(text)]
    assert rows == [(row.name, row.rooted, row.in_blocks) for row in COLLECTIVES.values()]


def test_the_table_is_the_measuring_programs():
    text = (ROOT / "bench" / "calls.h").read_text()
    rows = re.findall(r'\{"(\w+)", \w+, (\w+), (\w+), \w+, ([01]), [01]\}', text)
    assert [(name, rooted == "1", "block_per_rank" in parts) for name, *parts, rooted in rows] == [
        (row.name, row.rooted, row.in_blocks) for row in COLLECTIVES.values()]


@pytest.fixture
def network():
    """Where the way from host 0 to host 2 over host 1 is shorter than the direct one."""
    return HostNetwork(["h0", "h1", "h2"], ["A", "A", "B"],
                       [[0, 1000, 9000], [1000, 0, 1000], [9000, 1000, 0]])


BROADCAST = COLLECTIVES["broadcast"]


def times_of(prediction):
    return {row["name"]: row["predicted_ms"] for row in prediction["candidates"]}


def test_predictions_are_fastest_first(network):
    [done] = predict_all(BROADCAST, network, 3, [24], [0], [])
    of_each, [first, *_] = times_of(done), done["candidates"]
    times = list(of_each.values())
    assert times == sorted(times) and "native" in of_each and len(times) > 5
    # Two ways of 1 ms, each with 10 us of either side's processor.
    assert done["latency_bound_ms"] == 2.04
    # 24 bytes out of or into a port of 1000 bytes/us.
    assert done["bound_ms"] == pytest.approx(2.040024) and times[0] >= done["bound_ms"]
    assert done["chosen"] == done["best"] == first["name"]
    assert all(row["to_native"] == row["predicted_ms"] / of_each["native"] for row in done["candidates"])


def test_predictions_of_some_are_beside_native(network):
    [done] = predict_all(BROADCAST, network, 3, [24], [0], ["chain", "auto", "flat"])
    assert set(times_of(done)) == {"chain", "flat", "native"}
    lines = table(done).splitlines()
    assert lines[0] == "broadcast of 24 B from rank 0, predicted"
    assert lines[2].split() == ["lower", "bound", "2.040"]
    assert lines[3].split()[0] == "chain"
    best = done["candidates"][0]
    assert lines[-1].startswith(f"best: {best['name']}, {best['predicted_ms'] / done['bound_ms']:.2f} x the lower")


def test_the_best_of_every_collective_beside_its_bound(network):
    predictions = [each for row in COLLECTIVES.values() for each in predict_all(
        row, network, 3, [24, 100_000] if row.has_length else [0], [0], [])]
    assert len(predictions) == 2 * len(COLLECTIVES) - 1  # barriers have no length
    ratios = [times_of(each)[each["best"]] / each["bound_ms"] for each in predictions]
    assert median_to_bound(predictions) == pytest.approx(statistics.median(ratios))
    assert all(times_of(each)["native"] >= each["bound_ms"] >= each["latency_bound_ms"] > 0 for each in predictions)
    assert all(len(each["candidates"]) > 1 for each in predictions)
    lines = best_table(predictions, "made up").splitlines()
    assert lines[0] == "made up, predicted" and len(lines) == 3 + len(predictions)
    last = predictions[-1]
    assert lines[-2].split()[-1] == f"{ratios[-1]:.2f}" and last["best"] in lines[-2]


@pytest.mark.parametrize("ranks, fit", [(1, True), (2, True), (3, True), (4, False), (6, True)])
def test_ranks_are_placed_as_jobs_place_them(network, ranks, fit):
    if fit:
        [done] = predict_all(BROADCAST, network, ranks, [24], [0], ["flat"])
        assert done["latency_bound_ms"] == {1: 0.0, 2: 1.02}.get(ranks, 2.04)
        return
    with pytest.raises(UsageError, match="-n 4"):
        predict_all(BROADCAST, network, ranks, [24], [0], ["flat"])
