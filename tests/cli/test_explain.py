"""`mutirao explain` on a made-up report of four hosts in two sites, one pair without a link."""

import json
import math
import re

import pytest

from mutirao.commands.explain import draw_tree, ghs_message_bound
from mutirao.units import duration, size

LATENCY_US = [
    [0, 100, 9000, 9500],
    [100, 0, 8000, None],
    [9000, 8000, 0, 50],
    [9500, None, 50, 0],
]
REPORT = {
    "mutirao": "0.1.0", "mpi": "Open MPI v5.0.11",
    "communicators": [
        {"name": "MPI_COMM_WORLD", "ranks": 4, "hosts": 4, "state": "mutirao",
         "reason": "network measured",
         "setup_ms": {"hosts": 1.0, "probe": 50.0, "ghs": 90.0, "gather": 20.0, "total": 161.0},
         "ghs_messages": 37, "sites": [0, 0, 1, 1], "tree": [[0, 1], [1, 2], [2, 3]],
         "latency_us": LATENCY_US,
         "decisions": [
             {"collective": "broadcast", "root_host": 1, "length_bytes": 24, "calls": 16,
              "chosen": "tree:tree=mst", "reason": "predicted to be the fastest",
              "considered": [{"candidate": "tree:tree=mst", "predicted_us": 8050},
                             {"candidate": "native", "predicted_us": 16100}]}]},
        {"name": "halves", "ranks": 2, "hosts": 1, "state": "native", "reason": "one host",
         "setup_ms": {"total": 0}, "ghs_messages": 0, "sites": [0], "tree": [],
         "latency_us": [[0]], "decisions": []},
    ],
}


def test_says_what_ran_and_why(mutirao, tmp_path):
    file = tmp_path / "report.json"
    file.write_text(json.dumps(REPORT))
    answer = mutirao("explain", file)
    assert answer.returncode == 0, answer.stderr
    for text in ["Open MPI v5.0.11", "MPI_COMM_WORLD: 4 ranks on 4 hosts in 2 sites",
                 "network measured", "37 messages", "broadcast of 24 B from host 1, 16 calls",
                 "tree:tree=mst", "predicted   8.05 ms  0.50 x native", "16.1 ms",
                 "halves: 2 ranks on 1 host", "left to the MPI library: one host"]:
        assert text in answer.stdout
    assert json.loads(mutirao("explain", "--json", file).stdout) == REPORT


def explained(mutirao, tmp_path, adaptation):
    file = tmp_path / "report.json"
    first, *others = REPORT["communicators"]
    file.write_text(json.dumps({**REPORT, "communicators": [{**first, "adaptation": adaptation},
                                                            *others]}))
    answer = mutirao("explain", file)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_says_what_of_the_network_was_taken_up(mutirao, tmp_path):
    told = explained(mutirao, tmp_path, {
        "mode": "auto", "epochs": 12, "checks": 0, "waits": 1, "waited_ms": 2.5, "adapting_ms": 0,
        "taken_up": [{"call": 8, "links": 3, "new_tree": True, "shown": [
            {"low": 0, "high": 2, "before_us": 9000, "after_us": 90000},
            {"low": 1, "high": 2, "before_us": 8000, "after_us": None}]}]})
    for text in ["12 epochs", "waited 1 time for it, 2.50 ms in all", "from call 9 on:",
                 "hosts 0-2 9.00 ms -> 90.0 ms", "hosts 1-2 8.00 ms -> unusable", "1 more link",
                 "a new spanning tree"]:
        assert text in told


def test_says_what_adapting_inside_calls_cost(mutirao, tmp_path):
    told = explained(mutirao, tmp_path, {
        "mode": "every:4", "epochs": 0, "checks": 5, "waits": 0, "waited_ms": 0,
        "adapting_ms": 1234, "taken_up": []})
    assert "every 4. call: links measured 5 times, 1.23 s in all" in told
    assert "no change of the network taken up" in told


@pytest.mark.parametrize("edges", [
    [(0, 1), (1, 2), (2, 3)],
    [(0, 3), (1, 3), (2, 3)],
    [(2, 0), (0, 1), (0, 3)],
])
def test_tree_names_each_host_once_below_its_parent(edges):
    lines = list(draw_tree(edges, None, None))
    hosts = [int(re.search(r"host (\d+)", line)[1]) for line in lines]
    assert sorted(hosts) == [0, 1, 2, 3]
    # The nearest line above that is less indented is the parent.
    indents = [line.index("host") for line in lines]
    drawn = set()
    for i in range(1, len(lines)):
        parent = max(j for j in range(i) if indents[j] < indents[i])
        drawn.add(frozenset((hosts[i], hosts[parent])))
    assert drawn == {frozenset(edge) for edge in edges}


def test_a_long_chain_is_drawn():
    """Catches drawing by recursion."""
    assert len(list(draw_tree([(i, i + 1) for i in range(3000)], None, None))) == 3001


def test_message_bound_counts_usable_links():
    assert ghs_message_bound(LATENCY_US) == int(2 * 5 + 5 * 4 * math.log2(4))


def test_units():
    assert [duration(us) for us in (0.5, 999, 1000, 351200, 4373000)] == [
        "0.50 us", "999.0 us", "1.00 ms", "351.2 ms", "4.37 s"]
    assert [size(n) for n in (0, 24, 1024, 1000, 1 << 20, 3 << 19)] == [
        "0 B", "24 B", "1 KiB", "1000 B", "1 MiB", "1536 KiB"]
