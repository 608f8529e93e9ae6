"""The preload library on a network with delays, where links are long, dead or too slow to probe, and where standing agents
know it already."""

import json
import random
from itertools import combinations, permutations

import pytest

from ends import calls_of, chosen_in, run_in, world_of
from mutirao.lab.lab import Lab, verify_run
from mutirao.lab.network import HostNetwork
from mutirao_studies.long_messages import kernel_has
from mutirao_studies.paper_000.agents import StandingAgents
from shared import built_mpi, in_time, lab_of, network_of

pytestmark = [pytest.mark.usefixtures("wheels_only"), pytest.mark.on_any_mpi]

MOST_AHEAD_US = 50


def random_network():
    chosen = random.Random(1)
    matrix = [[0.0] * 6 for _ in range(6)]
    for a, b in combinations(range(6), 2):
        matrix[a][b] = matrix[b][a] = chosen.randint(10, 60) / 2
    return network_of(matrix)


lab = lab_of(random_network())


def broadcast(mpi, lab, *words, **settings):
    before = lab.counters().total_packets
    finished = run_in(lab, mpi, "collective", "broadcast", *words, settings={"start": "wait", **settings})
    assert finished.errors == ""  # the launcher has nothing to warn of, either
    results = [json.loads(line) for line in finished.lines]
    for each in results:
        verify_run(lab.network.bound_from(each["root"]), min(each["completion_ms"]) * 1000, before,
                   lab.counters().total_packets)
    return results, finished.report["communicators"][0]


def test_latencies_are_the_labs_and_the_choice_follows_the_shortest_paths(mpi, lab):
    """The lab's asked delays are an independent truth. Probes may only measure longer ones, but for what the lab's router
    sends ahead to make up for the time that handing over takes. The choice is one that the predictor expects within a
    few percent of the physical bound. Latencies tell of one site: all are about as far from each other."""
    asked, pairs = lab.network.latency_us, list(permutations(range(6), 2))

    def trial():
        results, world = broadcast(mpi, lab, "--roots", "0,3,5", "--repeat", 3)
        measured = world["latency_us"]
        assert all(measured[a][b] >= asked[a][b] - MOST_AHEAD_US for a, b in pairs)
        assert world["state"] == "mutirao" and len(results) == 3 and world["sites"] == [0] * 6
        predicted_us = {each["root"]: each["rulings"][-1]["considered"][0]["predicted_us"]
                        for each in world["classes"] if each["collective"] == "broadcast"}
        assert set(predicted_us) == {0, 3, 5}
        return ([pair for pair in pairs if measured[pair[0]][pair[1]] >= asked[pair[0]][pair[1]] + 20_000]
                or {root: us for root, us in predicted_us.items() if us >= 1.25 * lab.network.bound_from(root)})

    in_time(trial)


def test_sites_are_those_that_the_user_names(mpi, lab):
    _, world = broadcast(mpi, lab, "--repeat", 1, sites="h3,h[45];h0,h2")
    assert world["sites"] == [0, 1, 0, 2, 2, 2]


@pytest.mark.parametrize("tcp", ["plain", "bbr"])
def test_ranks_know_whether_their_connections_are_bbrs(mpi, lab_possible, tcp):
    """The lab asks for a control by its routes, beside which the system's own, often BBR, is of no account."""
    if not kernel_has("bbr"):
        pytest.skip("the kernel has no BBR")
    with Lab.up(network_of([[0, 5], [5, 0]]), tcp) as lab:
        _, world = broadcast(mpi, lab, "--repeat", 1)
    assert world["bbr"] == (tcp == "bbr")


def test_no_answer_from_anybody_leaves_the_mpi_librarys_own(mpi, lab):
    """Every probe is older than its timeout when it comes back: no link, no tree."""
    _, world = broadcast(mpi, lab, "--repeat", 1, probe_timeout_ms="1", broadcast="tree:kind=mst")
    assert calls_of(world)[0] == 0 and chosen_in(world) == {"native"}
    assert "not known" in world["classes"][0]["rulings"][-1]["reason"]


def test_what_calls_take_judges_the_predicted_choice(mpi, lab):
    """Beside the program: in the end one way is settled on, for a reason that was measured."""
    def trial():
        finished = run_in(lab, mpi, "collective", "allgather", "--bytes", 16384, "--consecutive", 100, "--repeat", 3)
        [world] = [each for each in finished.report["communicators"] if each["name"] == "MPI_COMM_WORLD"]
        [of_class] = [each for each in world["classes"] if each["collective"] == "allgather"]
        rulings = of_class["rulings"]
        assert rulings[0]["chosen"] == "native" and rulings[0]["probe_calls"] > 0  # what is predicted is tried first
        assert sum(each["calls"] + each["probe_calls"] for each in rulings) + of_class["native_calls"] >= 300
        last = rulings[-1]
        return None if last["settled"] and last["reason"].startswith("measured") else last

    in_time(trial)


def test_addresses_are_asked_for_ahead_of_calls(lab):
    """Open MPI's ranks natively know only those that they have sent something to; others exchange addresses in
    MPI_Init."""
    def least_known(**options):
        return run_in(lab, built_mpi("openmpi-5"), "ahead", "addresses", **options).lines[-1]

    assert least_known() == "ok known 5 of 5"
    assert least_known(native=True) != "ok known 5 of 5"


@pytest.mark.parametrize("who, ranks", [("farewell", 6), ("farewell", 14), ("without_launcher", 6), ("lower_half", 6)])
def test_ranks_get_to_know_each_other(mpi, lab, who, ranks):
    """By their launcher, in the first call, unless one of them hears nothing from it, or MPICH's do not all come."""
    finished = run_in(lab, mpi, "sums", who, ranks=ranks,
                      settings={"allreduce": "recursive_doubling", "profile": "off"})
    assert max(calls_of(each)[0] for each in finished.report["communicators"]) > 0
    if who == "farewell" or (who == "lower_half" and mpi.known.title == "Open MPI"):
        assert finished.report["start"]["by_launcher"]


@pytest.fixture
def warm_lab(lab_possible):
    with Lab.up(HostNetwork.from_sites(["A", "B", "C"], [[0, 30, 80], [30, 0, 50], [80, 50, 0]], 2)) as lab:
        with StandingAgents(lab) as agents:
            yield lab, agents


def test_a_job_finds_the_tree_of_standing_agents(mpi, warm_lab):
    """It measures nothing, and follows what they see from then on. It rules within ten calls of its first; that noise may break, so it is tried again."""
    lab, agents = warm_lab

    def trial():
        agents.wait_for_tree()
        world = world_of(run_in(lab, mpi, "collective", "broadcast", "--repeat", 20, settings={"start": "soon"}))
        assert world["reason"] == "network known to the hosts' agents", world
        assert world["adaptation"]["mode"] == "auto"
        measured = world["latency_us"]
        assert all(measured[a][b] > asked[a][b] * 0.99 for a, b in long_links)
        # Also what was known before anything was taken up, and the first ruling.
        assert all(not link["before_us"] or
                   link["before_us"] > asked[link["low"]][link["high"]] * 0.99
                   for taken_up in world["adaptation"]["taken_up"] for link in taken_up["shown"]
                   if (link["low"], link["high"]) in long_links)
        [of_class, *_] = world["classes"]
        decided = [each for each in (*of_class["rulings"], of_class.get("native_choice")) if each]
        if not decided:
            return "nothing decided"
        bound_us = lab.network.bound_from(of_class["root"])
        predicted_us = decided[0]["considered"][0]["predicted_us"]
        assert predicted_us > bound_us * 0.99
        late = [(a, b) for a, b in long_links if measured[a][b] >= asked[a][b] + 5_000]
        return late or predicted_us >= bound_us * 1.25 or decided[0]["first_call"] > 10

    asked = lab.network.latency_us
    long_links = [(a, b) for a in range(6) for b in range(6) if asked[a][b] > 10_000]
    in_time(trial)
