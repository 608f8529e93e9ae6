"""`mutirao replay` on the trace that it makes up, against paths and rules worked out here."""

import math
import os
from itertools import combinations

import pytest

from mutirao.lab.network import HostNetwork
from mutirao_studies.replay.trace import load_trace
from pages import assert_stands_alone
from shared import json_of, refused, text_of

# Overheads of a small message over a tree of twelve hosts, beside the links' latencies.
MOST_OVERHEAD_US = 500


def replayed(typed, *words):
    return json_of(typed("replay", "--json", *words))["runs"]


@pytest.fixture(scope="module")
def slices():
    """slices[k][a][b]: one-way latency in us."""
    trace = load_trace("three-sites")
    matrices = []
    for latencies_us in trace.slices:
        matrix = [[0.0] * trace.host_count for _ in range(trace.host_count)]
        for (a, b), us in zip(combinations(range(trace.host_count), 2), latencies_us, strict=True):
            matrix[a][b] = matrix[b][a] = us
        matrices.append(matrix)
    return matrices


@pytest.mark.parametrize("root", [0, 7])
def test_the_bound_and_the_best_trees_are_the_shortest_paths(typed, slices, root):
    run, = replayed(typed, "three-sites", "--root", root)
    hosts = [str(host) for host in range(run["hosts"])]
    assert len(run["slices"]) == len(slices)
    for row, matrix in zip(run["slices"], slices):
        bound = HostNetwork(hosts, hosts, matrix).bound_from(root)
        assert row["bound_us"] == pytest.approx(bound)
        assert bound <= row["fastest"]["always_us"] <= bound + MOST_OVERHEAD_US
        for family in ("fastest", "mst"):
            for use in ("first", "adapting", "always"):
                us = row[family][f"{use}_us"]
                assert us is None or us >= bound


def test_announcements_follow_the_papers_plain_rule(typed):
    runs = replayed(typed, "three-sites", "--threshold", "0,10,70")
    for run, percent in zip(runs, (0, 10, 70)):
        assert run["threshold_percent"] == percent
        announced = {}
        for row, latencies_us in zip(run["slices"], load_trace("three-sites").slices, strict=True):
            news = {link: us for link, us in enumerate(latencies_us) if link not in announced or us != announced[link]
                    and not abs(us - announced[link]) <= percent / 100 * announced[link] < math.inf}
            announced |= news
            assert row["announcements"] == len(news)


def counts(run, use):
    """Of the fastest kind of tree: slices near the bound, switches, links exchanged."""
    rows = [row["fastest"] for row in run["slices"]]
    near = sum(row["fastest"][f"{use}_us"] <= 1.1 * row["bound_us"] for row in run["slices"])
    exchanged = [row[f"{use}_exchanged"] for row in rows]
    return near, len(exchanged) - exchanged.count(0), sum(exchanged)


def test_the_default_is_near_the_bound_with_few_switches(typed):
    """The bar, on the trace that comes with mutirao; and the summary below every slice says so."""
    run, = replayed(typed, "three-sites")
    assert all(row["tree_is_kruskals"] for row in run["slices"])
    adapting, always = counts(run, "adapting"), counts(run, "always")
    assert adapting[0] >= 0.9 * len(run["slices"])
    assert adapting[1] <= always[1] / 4 and adapting[2] <= always[2] / 4
    said = text_of(typed("replay", "three-sites"))
    for text in ("changes judged by forecast error", "equalled Kruskal's in every slice"):
        assert text in said
    lines = said.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines if line[:1].isdigit()][:40] == list(map(str, range(40)))
    for use, (near, *changes) in (("adapting", adapting), ("always", always)):
        [line] = [line for line in lines if line.startswith(f"best tree, {use}")]
        assert line.split()[3:] == [f"{100 * near / 40:.1f}%", *map(str, changes)]


def test_compares_rules(typed):
    lines = text_of(typed("replay", "three-sites", "--threshold", "auto,30", "--tolerance", "0,10")).splitlines()
    words = [line.split()[:2] for line in lines]
    assert [pair for pair in words if pair and pair[0] in ("auto", "30%", "always")] == [
        ["auto", "0%"], ["auto", "10%"], ["30%", "0%"], ["30%", "10%"], ["always", "100.0%"]]
    assert max(map(len, lines)) <= 80


def test_reads_measurements_of_both_ends(typed, tmp_path):
    """The smaller counts; the farthest host is 2, by way of 1."""
    numpy = pytest.importorskip("numpy")
    rtt_ms = numpy.array([[[0, 16, 40], [10, 0, -1], [50, 20, 0]],
                          [[0, 16, 40], [10, 0, 24], [50, -1, 0]]], dtype="int16")
    numpy.savez(tmp_path / "t.npz", note=numpy.arange(3), rtt_ms=rtt_ms)
    run, = replayed(typed, "t.npz")
    assert [row["bound_us"] for row in run["slices"]] == pytest.approx([15_000, 17_000])
    numpy.savez(tmp_path / "u.npz", y_s=rtt_ms.astype(float))
    run, = replayed(typed, "u.npz")
    assert run["slices"][0]["bound_us"] == pytest.approx(15e6)


WRONG = [
    ([], ["TRACE"]),
    (["three-site"], ["'three-site'", "three-sites"]),
    (["junk.npz"], ["junk.npz", "NumPy"]),
    (["cut.npz"], ["cut.npz", "NumPy"]),
    (["damaged.npz"], ["damaged.npz"]),
    (["folder.npz"], ["folder.npz", "not a file"]),
    (["flat.npz"], ["flat.npz", "slices x hosts x hosts"]),
    (["unit.npz"], ["'latency'", "_ms"]),
    (["three-sites", "--threshold", "ten"], ["--threshold ten"]),
    (["three-sites", "--threshold", "-1"], ["--threshold -1", "0..10000"]),
    (["three-sites", "--bytes", "-1"], ["--bytes"]),
    (["three-sites", "--tolerance", "-3"], ["--tolerance -3"]),
    (["three-sites", "--root", "12"], ["--root 12", "0..11"]),
]


@pytest.fixture
def wrong_files(tmp_path):
    (tmp_path / "junk.npz").write_text("junk")
    numpy = pytest.importorskip("numpy")
    numpy.savez(tmp_path / "flat.npz", rtt_ms=numpy.ones((4, 4)))
    whole = (tmp_path / "flat.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[:150])
    (tmp_path / "damaged.npz").write_bytes(whole[:140] + b"?" * 20 + whole[160:])
    (tmp_path / "folder.npz").mkdir()
    numpy.savez(tmp_path / "unit.npz", latency=numpy.ones((2, 4, 4)))


@pytest.mark.parametrize("words, named", WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_wrong_input_is_one_line_and_exit_code_2(typed, wrong_files, words, named):
    refused(typed("replay", *words), *named)


def test_page(typed, tmp_path):
    """It stands alone, and its tiles say what the terminal says of each rule."""
    file = tmp_path / "a page.html"
    said = text_of(typed("replay", "three-sites", "--threshold", "auto,70", "--page", file))
    text = " ".join(assert_stands_alone(file.read_text()).text)
    compared = [line for line in said.splitlines() if line.startswith(("auto ", "70% "))]
    assert len(compared) == 2
    for line in compared:
        assert f"{line.split()[4]} of the slices within 10% of the bound" in " ".join(text.split())
    assert f"--page '{file}'" in file.read_text().replace("&#x27;", "'")
    nowhere = typed("replay", "three-sites", "--page", tmp_path / "no" / "page.html")
    assert nowhere.returncode == 2 and "there is no folder" in nowhere.stderr


@pytest.mark.skipif("SEATTLE_TRACE" not in os.environ, reason="SEATTLE_TRACE names no file")
def test_seattle(typed):
    """240 slices of 99 hosts. studies/replay.md says why a tree seldom survives a slice."""
    run, = replayed(typed, os.environ["SEATTLE_TRACE"])
    assert (run["hosts"], len(run["slices"])) == (99, 240)
    assert all(row["tree_is_kruskals"] for row in run["slices"])
    adapting, always = counts(run, "adapting"), counts(run, "always")
    assert adapting[0] >= 0.9 * 240 and adapting[1] < always[1]
