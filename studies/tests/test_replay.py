"""`mutirao replay` on the trace that it makes up, against paths and rules worked out here."""

import csv
import json
import math
import os

import pytest

from mutirao_studies.replay.trace import made_trace_csv
from pages import assert_stands_alone
from shared import refused

# Overheads of a small message over a tree of twelve hosts, beside the links' latencies.
MOST_OVERHEAD_US = 500


def recorded():
    """slices[k][a][b]: one-way latency in us."""
    lines = [line for line in "".join(made_trace_csv(seed=1)).splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    names = list(dict.fromkeys(name for row in rows for name in (row["from"], row["to"])))
    slices = [[[0.0] * len(names) for _ in names] for _ in {row["slice"] for row in rows}]
    for row in rows:
        a, b = names.index(row["from"]), names.index(row["to"])
        us = float(row["rtt_ms"]) * 500
        slices[int(row["slice"])][a][b] = slices[int(row["slice"])][b][a] = us
    return slices


def bound_us(matrix, root):
    shortest = [list(row) for row in matrix]
    for via in range(len(matrix)):
        for row in shortest:
            for target in range(len(matrix)):
                row[target] = min(row[target], row[via] + shortest[via][target])
    return max(shortest[root])


def replayed(typed, *words):
    answer = typed("replay", "--json", *words)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)["runs"]


@pytest.fixture(scope="module")
def slices():
    return recorded()


@pytest.mark.parametrize("root", [0, 7])
def test_the_bound_and_the_best_trees_are_the_shortest_paths(typed, slices, root):
    run, = replayed(typed, "three-sites", "--root", root)
    assert len(run["slices"]) == len(slices)
    for row, matrix in zip(run["slices"], slices):
        bound = bound_us(matrix, root)
        assert row["bound_us"] == pytest.approx(bound)
        assert bound <= row["fastest"]["always_us"] <= bound + MOST_OVERHEAD_US
        for family in ("fastest", "mst"):
            for use in ("first", "adapting", "always"):
                us = row[family][f"{use}_us"]
                assert us is None or us >= bound


def test_announcements_follow_the_papers_plain_rule(typed, slices):
    runs = replayed(typed, "three-sites", "--threshold", "0,10,70", "--measurements", 1)
    for run, percent in zip(runs, (0, 10, 70)):
        assert run["threshold_percent"] == percent
        announced = {}
        for row, matrix in zip(run["slices"], slices):
            news = 0
            for a in range(len(matrix)):
                for b in range(a + 1, len(matrix)):
                    us, before = matrix[a][b], announced.get((a, b))
                    if us == before or (before is not None and math.isfinite(us) and
                                        math.isfinite(before) and
                                        abs(us - before) <= percent / 100 * before):
                        continue
                    announced[a, b] = us
                    news += 1
            assert row["announcements"] == news


def test_the_default_is_near_the_bound_with_few_switches(typed):
    """The bar, on the trace that comes with mutirao."""
    run, = replayed(typed, "three-sites")
    totals = run["totals"]
    assert totals["trees_unlike_kruskal"] == 0
    adapting, always = totals["fastest"]["adapting"], totals["fastest"]["always"]
    assert adapting["near_bound"] >= 0.9 * totals["slices"]
    assert adapting["switches"] <= always["switches"] / 4
    assert adapting["exchanged_links"] <= always["exchanged_links"] / 4


def test_totals_count_what_the_slices_say(typed):
    run, = replayed(typed, "three-sites", "--tolerance", 0)
    totals = run["totals"]
    for name in ("announcements", "messages"):
        assert totals[name] == sum(row[name] for row in run["slices"])
    for family in ("fastest", "mst"):
        for use in ("first", "adapting", "always"):
            near = sum(row[family][f"{use}_us"] <= 1.1 * row["bound_us"]
                       for row in run["slices"] if row[family][f"{use}_us"] is not None)
            assert totals[family][use]["near_bound"] == near
        for use in ("adapting", "always"):
            exchanged = [row[family][f"{use}_exchanged"] for row in run["slices"]]
            assert totals[family][use]["exchanged_links"] == sum(exchanged)
            assert totals[family][use]["switches"] == sum(each > 0 for each in exchanged)


def test_prints_every_slice_and_the_summary(typed):
    answer = typed("replay", "three-sites")
    assert answer.returncode == 0, answer.stderr
    for text in ("changes judged by forecast error", "best tree, adapting", "exchanged links",
                 "equalled Kruskal's in every slice"):
        assert text in answer.stdout
    numbers = [line.split()[0] for line in answer.stdout.splitlines() if line[:1].isdigit()]
    assert numbers[:40] == [str(number) for number in range(40)]
    assert max(map(len, answer.stdout.splitlines())) <= 80


def test_compares_rules(typed):
    answer = typed("replay", "three-sites", "--threshold", "auto,30", "--tolerance", "0,10")
    assert answer.returncode == 0, answer.stderr
    words = [line.split()[:2] for line in answer.stdout.splitlines()]
    assert [pair for pair in words if pair and pair[0] in ("auto", "30%", "always")] == [
        ["auto", "0%"], ["auto", "10%"], ["30%", "0%"], ["30%", "10%"], ["always", "100.0%"]]
    assert max(map(len, answer.stdout.splitlines())) <= 80


def test_the_made_up_trace_is_what_it_generates(typed, tmp_path):
    assert typed("replay", "--generate", "made.csv").returncode == 0
    assert replayed(typed, "made.csv") == replayed(typed, "three-sites")
    assert typed("replay", "--generate", "other.csv", "--seed", 2).returncode == 0
    assert (tmp_path / "other.csv").read_text() != (tmp_path / "made.csv").read_text()
    assert typed("replay", "other.csv").returncode == 0


def test_reads_numpy_archives_and_both_ends_measurements(typed, tmp_path):
    numpy = pytest.importorskip("numpy")
    # 1-2 is measured from one end alone, in each slice from the other one.
    rtt_ms = numpy.array([[[0, 16, 40], [10, 0, -1], [50, 20, 0]],
                          [[0, 16, 40], [10, 0, 24], [50, -1, 0]]], dtype="int16")
    numpy.savez(tmp_path / "t.npz", note=numpy.arange(3), rtt_ms=rtt_ms)
    # The farthest host is 2, by way of 1.
    for round_trip, first_ms in {"least": 10, "owner": 16, "mean": 13, "greatest": 16}.items():
        run, = replayed(typed, "t.npz", "--round-trip", round_trip)
        assert [row["bound_us"] for row in run["slices"]] == pytest.approx(
            [(first_ms + second_ms) * 500 for second_ms in (20, 24)]), round_trip
    numpy.savez(tmp_path / "u.npz", x_us=rtt_ms, y_s=rtt_ms.astype(float))
    run, = replayed(typed, "u.npz", "--array", "y_s")
    assert run["slices"][0]["bound_us"] == pytest.approx(15e6)


WRONG = [
    ([], ["trace", "three-sites"]),
    (["three-site"], ["'three-site'", "three-sites"]),
    (["none.npz"], ["none.npz"]),
    (["junk.npz"], ["junk.npz", "NumPy"]),
    (["cut.npz"], ["cut.npz", "NumPy"]),
    (["damaged.npz"], ["damaged.npz"]),
    (["folder.csv"], ["folder.csv", "not a file"]),
    (["flat.npz"], ["flat.npz", "slices x hosts x hosts"]),
    (["unit.npz"], ["'latency'", "_ms"]),
    (["flat.npz", "--array", "rtt"], ["'rtt'", "rtt_ms"]),
    (["three-sites", "--array", "rtt_ms"], ["--array"]),
    (["trace.txt"], [".npz", ".csv"]),
    (["columns.csv"], ["columns.csv", "'rtt_ms'"]),
    (["empty.csv"], ["no measurement"]),
    (["word.csv"], ["line 2", "'fast'"]),
    (["negative.csv"], ["negative", "-3"]),
    (["itself.csv"], ["to itself"]),
    (["three-sites", "--threshold", "ten"], ["--threshold ten"]),
    (["three-sites", "--threshold", "10,"], ["--threshold"]),
    (["three-sites", "--threshold", "-1"], ["--threshold -1", "0..10000"]),
    (["three-sites", "--threshold", "nan"], ["--threshold nan"]),
    (["three-sites", "--tolerance", "auto"], ["--tolerance auto"]),
    (["three-sites", "--bytes", "-1"], ["--bytes"]),
    (["three-sites", "--tolerance", "-3"], ["--tolerance -3"]),
    (["three-sites", "--root", "12"], ["--root 12", "0..11"]),
    (["three-sites", "--measurements", "0"], ["--measurements 0", "1..1000"]),
    (["three-sites", "--round-trip", "lest"], ["'lest'", "least"]),
    (["three-sites", "--generate", "x.csv"], ["--generate"]),
]


@pytest.fixture
def wrong_files(tmp_path):
    header = "slice,from,to,rtt_ms\n"
    for name, text in {"junk.npz": "junk", "trace.txt": "", "columns.csv": "slice,from,to\n",
                       "empty.csv": header, "word.csv": header + "0,a,b,fast\n",
                       "negative.csv": header + "0,a,b,-3\n",
                       "itself.csv": header + "0,a,a,3\n"}.items():
        (tmp_path / name).write_text(text)
    numpy = pytest.importorskip("numpy")
    numpy.savez(tmp_path / "flat.npz", rtt_ms=numpy.ones((4, 4)))
    whole = (tmp_path / "flat.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[:150])
    (tmp_path / "damaged.npz").write_bytes(whole[:140] + b"?" * 20 + whole[160:])
    (tmp_path / "folder.csv").mkdir()
    numpy.savez(tmp_path / "unit.npz", latency=numpy.ones((2, 4, 4)))


@pytest.mark.parametrize("words, named", WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_wrong_input_is_one_line_and_exit_code_2(typed, wrong_files, words, named):
    refused(typed("replay", *words), *named)


def test_page(typed, tmp_path):
    """It stands alone, and its tiles say what the terminal says of each rule."""
    file = tmp_path / "a page.html"
    answer = typed("replay", "three-sites", "--threshold", "auto,70", "--page", file)
    assert answer.returncode == 0, answer.stderr
    text = " ".join(assert_stands_alone(file.read_text()).text)
    compared = [line for line in answer.stdout.splitlines() if line.startswith(("auto ", "70% "))]
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
    totals = run["totals"]
    assert (run["hosts"], totals["slices"], totals["trees_unlike_kruskal"]) == (99, 240, 0)
    adapting, always = totals["fastest"]["adapting"], totals["fastest"]["always"]
    assert adapting["near_bound"] >= 0.9 * totals["slices"]
    assert adapting["switches"] < always["switches"]
