"""A link changes under a program that goes on, and its communicator takes that up: the truth are the
latencies that the lab was asked for, and the minimum spanning tree that Prim's algorithm finds."""

import math
import time

import pytest

from mutirao.lab import Lab
from mutirao.measure import Contender
from mutirao.mpis import found_mpis
from mutirao.network import HostNetwork
from mutirao.studies.steady import Pace, run_steady

WHEELS = {mpi.name: mpi for mpi in found_mpis() if mpi.built and mpi.known.environment}
# One way in ms, all far enough from each other for noise not to change their order.
MATRIX = [[0, 20, 62, 90, 104],
          [20, 0, 34, 76, 97],
          [62, 34, 0, 48, 83],
          [90, 76, 48, 0, 69],
          [104, 97, 83, 69, 0]]
LINK = (1, 2)
WORSE_MS = 340
HOSTS = len(MATRIX)


def minimum_spanning_tree(matrix):
    inside, edges = {0}, []
    while len(inside) < len(matrix):
        _, low, high = min((matrix[a][b], a, b) for a in inside for b in range(len(matrix))
                           if b not in inside)
        inside.add(high)
        edges.append(sorted((low, high)))
    return sorted(edges)


def with_link(latency_ms):
    low, high = LINK
    matrix = [list(row) for row in MATRIX]
    matrix[low][high] = matrix[high][low] = latency_ms
    return matrix


@pytest.fixture
def lab():
    hosts = [f"h{host}" for host in range(HOSTS)]
    one_way_us = [[value * 1000.0 for value in row] for row in MATRIX]
    with Lab.up(HostNetwork(hosts, hosts, one_way_us, None, "test", "made up"), hold=True) as up:
        yield up


@pytest.mark.parametrize("name,settings", [
    ("openmpi-5", {}),
    ("mpich-5", {}),
    ("openmpi-5", {"agent": "in-band"}),
    ("mpich-5", {"agent": "in-band"}),
    ("openmpi-5", {"adaptation": "every:8"}),
])
def test_a_worse_link_leaves_the_tree(lab, name, settings):
    if name not in WHEELS:
        pytest.skip(f"no {name}")
    low, high = LINK
    assert list(LINK) in minimum_spanning_tree(MATRIX)

    def worsen():
        lab.set_pair(f"h{low}", f"h{high}", latency_ms=WORSE_MS)
        time.sleep(2)

    run = run_steady(Contender("tree", WHEELS[name], {"broadcast": "tree:tree=mst", **settings}),
                     Pace(0, 24, stops={3: worsen}), lab,
                     [float(max(MATRIX[0]))] * 24, timeout_s=120)
    world = run.measurement.communicator
    before = min(change["before_us"] for change in shown(world)) / 1000
    after = max(change["after_us"] for change in shown(world)) / 1000
    assert math.isclose(before, MATRIX[low][high], abs_tol=10)
    if settings.get("agent") == "in-band":
        assert 2 * MATRIX[low][high] < after < WORSE_MS + 10
    else:
        assert math.isclose(after, WORSE_MS, abs_tol=10)
    assert world["tree"] == minimum_spanning_tree(with_link(WORSE_MS))


def shown(world):
    changes = [link for taken_up in world["adaptation"]["taken_up"] for link in taken_up["shown"]
               if (link["low"], link["high"]) == LINK]
    assert changes, world["adaptation"]
    return changes
