"""What is made of a job's output, and what is refused."""

from contextlib import nullcontext

import pytest

from made_up import NoLab, calls_of, contender_named, counters, mpi_named, report, ruling
from mutirao.base.errors import Failure
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.lab.network import HostNetwork
from mutirao.measure import measure
from mutirao.measure.measure import (
    Contender,
    Measurement,
    Point,
    Workload,
    bound_us,
    check_points,
    check_taken_part,
    read_point,
)
from mutirao.run.launch import CompletedRun

LINE = ('{"bytes":24,"collective":"broadcast","root":1,"consecutive":4,"first_ms":90.5,'
        '"entry_spread_ms":0.000,"completion_ms":[12.500,11.000,19.000,11.500]}')


@pytest.fixture
def network():
    """Four hosts where some ways round are shorter than the direct one, and directions differ."""
    matrix = [[0, 2000, 9000, 30000], [2500, 0, 3000, 22000], [9500, 2750, 0, 5000],
              [40000, 21000, 5500, 0]]
    return HostNetwork(["h0", "h1", "h2", "h3"], ["A", "A", "B", "B"], matrix)


def test_median_spread_and_ratio_to_the_bound(network):
    point = read_point(LINE, network, 4)
    assert (point.length_bytes, point.root, point.consecutive) == (24, 1, 4)
    assert (point.median_ms, point.spread_ms) == (12.0, 8.0)
    assert (point.bound_ms, point.to_bound) == (8.0, 1.5)  # from host 1: over host 2 to host 3
    assert read_point(LINE, None, 4).to_bound is None


@pytest.mark.parametrize("ranks, hosts_of", [
    (2, [0, 1]), (3, [0, 1, 2]), (4, [0, 1, 2, 3]), (6, [0, 0, 1, 1, 2, 3]),
    (9, [0, 0, 0, 1, 1, 2, 2, 3, 3])])
def test_bound_is_of_the_hosts_that_have_ranks(network, ranks, hosts_of):
    """Catches a bound over all hosts of the lab, which would refuse honest runs of few ranks."""
    for root, host in enumerate(hosts_of):
        assert bound_us(network, ranks, root) == max(network.shortest_us[host][other] for other in hosts_of)


@pytest.mark.parametrize("collective, length, bound_ms", [
    ("broadcast", 1, 8.0), ("scatter", 1, 8.0),  # from host 1: over host 2 to host 3
    ("gather", 1, 8.25), ("reduce", 1, 8.25),  # to host 1: from host 3 over host 2
    ("scan", 1, 10.0), ("exscan", 1, 10.0),  # onward only: from host 0 over hosts 1 and 2 to host 3
    ("barrier", 0, 10.75), ("allreduce", 1, 10.75), ("alltoall", 1, 10.75),  # back again takes longest
    ("allreduce", 0, 0.0)])  # nothing is to be done
def test_each_collective_has_its_bound(network, collective, length, bound_ms):
    """Catches a direction taken for the other."""
    assert bound_us(network, 4, 1, collective, length) == bound_ms * 1000


def test_other_lines_are_not_measurements():
    assert read_point("Warning: something about the network", None, 4) is None
    for line in ('{"bytes":24,"root":', '{"bytes":24,"root":1}'):
        with pytest.raises(Failure, match="unreadable"):
            read_point(line, None, 4)


def point(completion_ms, bound_ms=10.0):
    return Point(24, 0, 1, 99.0, tuple(completion_ms), bound_ms)


def test_what_is_possible_passes():
    passed = check_points("x", [point([10.0, 12.0]), point([11.0])], 4, counters(4, 5, overruns=1),
                          counters(4, 7, overruns=4))
    assert passed == (2 * 12, 3)
    # The last rank to enter need not be the one whose data travel farthest.
    check_points("x", [Point(24, 0, 1, 99.0, (9.0,), 10.0, entry_spread_ms=1.0)], 4, counters(4, 5), counters(4, 7))


@pytest.mark.parametrize("name, times_ms, after, said", [
    ("broadcast", [12.0, 9.0, 12.0], counters(4, 7), r"x, 24 bytes from rank 0: refused: 9.*bound"),
    ("scan", [9.0], counters(4, 7), r"x, 24 bytes: refused: 9.*bound"),
    ("broadcast", [11.0], counters(4, 5, to_control=900), "no packet")])
def test_what_cannot_be_is_refused(name, times_ms, after, said):
    """Catches a look at the median only, and a sum over the control host's row and column."""
    with pytest.raises(Failure, match=said):
        check_points("x", [point([11.0]), point(times_ms)], 4, counters(4, 5, to_control=1), after, COLLECTIVES[name])


def run_with(monkeypatch, contender, network, lines, returncode=0):
    """measure() with a launcher that only says these lines."""
    def fake_launch(_mpi, argv, _ranks, *, on_line, **options):
        fake_launch.argv = argv
        for line in lines:
            on_line(line)
        fake_launch.settings = options["settings"]
        return CompletedRun(returncode, lines, "it broke\n", 1.0, argv, report(4, [
            calls_of(root, length, ruling("flat")) for root, length in ((1, 24), (0, 24), (0, 100))]))

    monkeypatch.setattr(measure, "launch", fake_launch)
    workloads = (Workload((24,), (1,), (4,), 4), Workload((24, 100), (0,), repeat=1))
    done = measure.measure(contender, workloads[:1 if len(lines) < 3 else 2], 4, NoLab(network))
    return done, fake_launch


def test_measures_several_workloads_in_one_job(monkeypatch, network):
    lines = [LINE, "noise", *(f'{{"bytes":{length},"collective":"broadcast","root":0,"consecutive":1,'
                              '"first_ms":50,"entry_spread_ms":0,"completion_ms":[16]}'
                              for length in (24, 100))]
    done, launched = run_with(monkeypatch, contender_named("flat"), network, lines)
    assert [(each.length_bytes, each.root, each.consecutive) for each in done.points] == [
        (24, 1, 4), (24, 0, 1), (100, 0, 1)]
    assert done.point(100, 0).completion_ms == (16,)
    assert launched.argv == ["collective", "broadcast", "--bytes", "24", "--roots", "1",
                             "--consecutive", "4", "--repeat", "4", "--then", "--bytes", "24,100",
                             "--roots", "0", "--consecutive", "1", "--repeat", "1"]


@pytest.mark.parametrize("name, settings, launched_with", [
    ("flat", {}, {"broadcast": "flat", "start": "wait", "profile": "off"}),
    ("flat", {"start": "beside"}, {"broadcast": "flat", "start": "beside", "profile": "off"}), ("native", {}, None)])
def test_what_is_measured_is_settled_unless_asked_otherwise(monkeypatch, network, name, settings, launched_with):
    done, launched = run_with(monkeypatch, contender_named(name, **settings), network, [LINE])
    assert done.to_dict()["settings"] == launched.settings == launched_with


@pytest.mark.parametrize("line, code, said", [
    (LINE.replace("11.000", "7.900"), 0, "less than the physical bound"), ("nothing", 0, "0 of 1 points"),
    (LINE, 3, "flat on Open MPI 5.9.9 failed with exit code 3\nit broke")])
def test_a_job_that_cannot_be_true_fails(monkeypatch, network, line, code, said):
    with pytest.raises(Failure, match=said):
        run_with(monkeypatch, contender_named("flat"), network, [line], returncode=code)


@pytest.mark.parametrize("length, ran", [(16, "flat"), (24, "flat"), (31, "flat"), (32, "chain"),
                                         (65536, None), (15, None)])
def test_rulings_are_for_a_range_of_lengths(length, ran):
    given = [calls_of(3, 16, ruling("flat", [("flat", 1500), ("native", None)])),
             calls_of(3, 32, ruling("chain")), calls_of(2, 65536, ruling("flat"))]
    done = Measurement(contender_named("auto"), (), report(4, given), 1.0)
    assert done.chosen(length, 3) == ran
    assert done.predicted_ms(length, 3) == ({"flat": 1.5} if ran == "flat" else {})


def test_the_last_ruling_counts():
    done = Measurement(contender_named("auto"), (), report(4, [calls_of(
        3, 24, ruling("flat", [("flat", 1500)]), ruling("chain", [("chain", 900)], 7))]), 1.0)
    assert done.chosen(24, 3) == "chain" and done.predicted_ms(24, 3) == {"chain": 0.9}


def test_a_ruling_for_any_root():
    """The library counts native calls by their own root. Catches the calls taken for unruled ones."""
    done = Measurement(contender_named("auto"), (point([11.0]),), report(4, [
        calls_of(-1, 24, ruling("flat")), calls_of(2, 24, ruling("chain"))]), 1.0)
    assert [done.chosen(24, root) for root in (0, 1, 2)] == ["flat", "flat", "chain"]
    check_taken_part(done)


def takes_part(measurement, refused):
    """Or is refused, if anything is said."""
    with pytest.raises(Failure, match=refused) if refused else nullcontext():
        check_taken_part(measurement)


@pytest.mark.parametrize("name, told, said", [
    ("chain", {"communicators": [{"state": "native", "reason": "some hosts cannot be reached"}]}, "some hosts cannot"),
    ("chain", {"start": {"native_reason": "spawned processes"}, "communicators": []}, "spawned processes"),
    ("chain", None, "no report"), ("native", None, None), ("chain", report(4, []), None)])
def test_native_times_do_not_pass_for_ours(name, told, said):
    """Catches a communicator that fell back to the MPI library, which no time tells."""
    takes_part(Measurement(contender_named(name), (), told, 1.0), said)


NATIVE_AT_ONCE = calls_of(0, 16, ruling("native"))
UNRULED = calls_of(0, 16, native_calls=6)
RULED_LATE = calls_of(0, 16, ruling("chain", first_call=6), native_calls=6)
NATIVE_LATE = calls_of(0, 16, ruling("native", first_call=6), native_calls=6)
FELL_BACK = calls_of(0, 16, ruling("chain"), native_calls=6)
CHANGED = calls_of(0, 16, ruling("native"), ruling("chain", first_call=6))
OTHER_ROOT = calls_of(1, 16, ruling("chain"))


@pytest.mark.parametrize("of_class, name, settings, said", [
    (NATIVE_AT_ONCE, "auto", {}, None),
    (CHANGED, "auto", {}, None),
    (UNRULED, "auto", {}, "took 6 calls without a ruling"),
    (RULED_LATE, "auto", {}, "took 6 calls without a ruling"),
    (NATIVE_LATE, "auto", {}, "took 10 calls without a ruling"),
    (FELL_BACK, "chain", {}, "took 6 calls without a ruling"),
    (OTHER_ROOT, "chain", {}, "no such call"),
    (NATIVE_AT_ONCE, "chain", {}, "native ran instead: because"),
    (CHANGED, "chain:segment_bytes=512", {}, "native ran instead: because"),
    (UNRULED, "auto", {"start": "beside"}, None),
    (RULED_LATE, "auto", {"start": "beside"}, None),
    (RULED_LATE, "chain", {"start": "beside"}, None),
    (UNRULED, "chain", {"start": "beside"}, "took 6 calls without a ruling"),
    (NATIVE_LATE, "chain", {"start": "beside"}, "native ran instead"),
    (UNRULED, "auto", {"start": "beside", "adaptation": "every:4"}, "without a ruling"),
])
def test_what_ran_natively_without_a_ruling_is_refused(of_class, name, settings, said):
    """A call may be native by a ruling, and where nobody waits for one until there is one; a
    prescribed algorithm must have run in the end."""
    done = Measurement(contender_named(name, **settings), (point([11.0]),), report(4, [of_class]), 1.0)
    takes_part(done, said and f"24 bytes from rank 0: .*{said}")


@pytest.mark.parametrize("name, length, said", [
    ("allgather", 24, None), ("allreduce", 24, "24 bytes: mutirao saw no such call"), ("barrier", 0, "no such call"),
    ("reduce", 0, None)])
def test_only_calls_of_the_same_collective_count(name, length, said):
    """A barrier needs a ruling without a message; of empty messages mutirao reports none."""
    way = Contender("ring", mpi_named("openmpi-5"), {name: "ring"}, name)
    done = Measurement(way, (Point(length, 0, 1, 99.0, (11.0,), 10.0),), report(4, [
        calls_of(0, 24, ruling("ring"), collective="allgather")]), 1.0)
    takes_part(done, said)
