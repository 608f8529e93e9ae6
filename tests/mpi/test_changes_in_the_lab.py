"""A link changes under a program that goes on, and its communicator takes that up: the truth are the
latencies that the lab was asked for, and the minimum spanning tree that Kruskal's algorithm finds."""

import math
import time

import pytest

from ends import run_in, world_of
from shared import built_mpi, in_time, kruskal, lab_of, network_of
from mutirao.lab.lab import Lab
from mutirao.measure.measure import Contender
from mutirao_studies.paper_000.steady import Pace, run_steady

# One way in ms, all far enough from each other for little noise not to change their order.
MATRIX = [[0, 20, 62, 90, 104],
          [20, 0, 34, 76, 97],
          [62, 34, 0, 48, 83],
          [90, 76, 48, 0, 69],
          [104, 97, 83, 69, 0]]
LINK = LOW, HIGH = 1, 2
WORSE_MS = 340
NOISE_MS = 7
FAR_MS = 1500
HOSTS = len(MATRIX)
LINK_MS = MATRIX[LOW][HIGH]


def with_link(latency_ms):
    matrix = [list(row) for row in MATRIX]
    matrix[LOW][HIGH] = matrix[HIGH][LOW] = latency_ms
    return matrix


lab = lab_of(network_of(MATRIX))


@pytest.mark.on_any_mpi
@pytest.mark.parametrize("settings", [{}, {"agent": "in-band"}], ids=["agents", "in band"])
def test_a_worse_link_leaves_the_tree(lab, wheel, settings):
    worse_link_leaves_the_tree(lab, wheel, settings)


def test_a_worse_link_leaves_the_tree_inside_calls(lab):
    worse_link_leaves_the_tree(lab, built_mpi("openmpi-5"), {"adaptation": "every:8"})


@pytest.mark.on_any_mpi
def test_what_takes_longer_than_probes_wait_is_no_link_inside_calls(lab_possible, wheel):
    """Nor does the check wait for what hosts say of themselves over it."""
    with Lab.up(network_of(with_link(FAR_MS))) as lab:
        world = world_of(run_in(lab, wheel, "collective", "broadcast", "--repeat", 9, settings={
            "adaptation": "every:4", "probe_timeout_ms": "500", "broadcast": "tree:kind=mst"}))
    assert world["latency_us"][LOW][HIGH] is None
    assert list(map(tuple, world["tree"])) == kruskal(with_link(math.inf))
    later = sorted(world["adaptation"]["check_ms"][1:])
    assert later and later[0] < FAR_MS, later


def test_calls_go_on_where_probes_between_sites_take_too_long_inside_calls(lab_possible):
    """Neither site then needs a tree for what it knows of the other one."""
    mpi, far = built_mpi("openmpi-5"), 15
    with Lab.up(network_of([[0, 0.1, far, far], [0.1, 0, far, far], [far, far, 0, 0.1], [far, far, 0.1, 0]])) as lab:
        world = world_of(run_in(lab, mpi, "out_of_step", "late_rank", settings={
            "adaptation": "every:10", "probe_timeout_ms": "10"}))
    changed = [link for taken_up in world["adaptation"]["taken_up"] for link in taken_up["shown"]]
    assert any(link["after_us"] is None for link in changed), changed


def worse_link_leaves_the_tree(lab, mpi, settings):
    """The link gets worse before the third call."""
    def worsen():
        lab.set_pair(f"h{LOW}", f"h{HIGH}", latency_ms=WORSE_MS)
        time.sleep(2)

    def trial():
        lab.set_latencies(lab.network.latency_us)
        pace = Pace(0, 24, stops={3: worsen})
        run = run_steady(contender, pace, lab, [float(max(MATRIX[0]))] * 24, timeout_s=120)
        world = run.measurement.communicator
        changes = [link for taken_up in world["adaptation"]["taken_up"] for link in taken_up["shown"]
                   if (link["low"], link["high"]) == LINK]
        if not changes:
            return "nothing taken up"
        others = {(a, b): world["latency_us"][a][b] / 1000 for a in range(HOSTS) for b in range(a)
                  if (b, a) != LINK}
        late = {link: value for link, value in others.items()
                if value > MATRIX[link[0]][link[1]] + NOISE_MS}
        before = min(change["before_us"] for change in changes) / 1000
        after = max(change["after_us"] for change in changes) / 1000
        if late or before > LINK_MS + NOISE_MS or after > WORSE_MS + 10:
            return late or (before, after)
        assert before >= LINK_MS - 1
        # In band the least that it can be is known, or more.
        assert after > (2 * LINK_MS if settings.get("agent") == "in-band" else WORSE_MS - 1)
        assert list(map(tuple, world["tree"])) == kruskal(with_link(WORSE_MS))
        return None

    contender = Contender("tree", mpi, {"broadcast": "tree:kind=mst", **settings})
    assert LINK in kruskal(MATRIX)
    in_time(trial)
