"""The steady program as the studies run it, reactions as they are judged, and overheads; once in a
small lab."""

import time

import pytest

from made_up import NoLab, calls_of, contender_named, mpi_named, report, ruling
from made_up_steady import steady_run
from mutirao.base.errors import Failure
from mutirao.lab.network import HostNetwork
from mutirao.measure import measure
from mutirao.measure.measure import Contender
from mutirao.run.launch import CompletedRun
from mutirao_studies.paper_000 import overhead, reaction
from mutirao_studies.paper_000.reaction import RECOVERS, WORSENS, reaction_s
from mutirao_studies.paper_000.steady import Pace, run_steady
from shared import lab_of, wait_until
from shown import shown

TIMES = ('{"bytes":24,"root":1,"every_ms":0,"began_ms":99.5,"whole_ms":900.5,"stopped_ms":12.5,'
         '"begin_ms":[0.5,100.5,200.5],"rank_0_begin_ms":[-9.5,90.5,190.5],'
         '"completion_ms":[11.0,12.0,10.0]}')
FOUR_HOSTS = HostNetwork.from_sites(["A", "B"], [[0, 20], [20, 0]], 2)


@pytest.mark.parametrize("lines, count, bounds, said", [
    ([TIMES], 3, (10.0, 12.5, 10.0), "less than the physical bound"), ([TIMES], 4, (1.0,) * 4, "did not tell"),
    ([], 3, (1.0,) * 3, "did not tell"), ([TIMES[:40]], 3, (1.0,) * 3, "did not tell")])
def test_what_cannot_be_is_refused(monkeypatch, lines, count, bounds, said):
    """The second case's bound holds for one call only. Catches one bound for all calls."""
    def fake_launch(_mpi, argv, _ranks, **_options):
        return CompletedRun(0, lines, "", 1.0, argv, report(4, [calls_of(1, 24, ruling("flat"))]))

    monkeypatch.setattr(measure, "launch", fake_launch)
    with pytest.raises(Failure, match=said):
        run_steady(contender_named("auto"), Pace(1, count), NoLab(FOUR_HOSTS), bounds)


@pytest.mark.parametrize("good, changed, expected", [
    ("..xxx" + "." * 10, 900, 1.6),  # calls of 1000, 1500 and 2000 are late
    ("xx" + "." * 12, 900, 0.0),  # late before the change only
    ("..x.x" + "." * 10, 900, 1.6),  # one good call is not enough
    ("..x" + "." * 10 + "x..", 900, 0.6),  # a stray
    ("..xxx" + "." * 9, 900, None)])
def test_reaction(good, changed, expected):
    """Catches the first good call instead of the first of ten, and calls before the change."""
    begins = [500.0 * number for number in range(len(good))]
    run = steady_run(contender_named("auto"), begins, [900.0 if each == "x" else 100.0 for each in good])
    calls = reaction.judged_calls(run, changed, 1e6, 110.0)
    assert reaction_s(calls, changed) == expected


def test_calls_natively_for_comparison_say_nothing():
    """Of the calls from the one of 1000 ms on two are by the MPI library, then another is on probe."""
    run = steady_run(contender_named("auto"), [500.0 * number for number in range(6)], [900.0] * 6)
    run.measurement.communicator["changes"] = [
        {"call": 1, "to": "native", "lead_calls": 2, "probe_calls": 2},
        {"call": 5, "to": "tree:kind=mst", "lead_calls": 0, "probe_calls": 2},
        {"call": 6, "to": "native", "lead_calls": 0, "probe_calls": 0}]
    calls = reaction.judged_calls(run, 0.0, 1e6, 110.0)
    assert [begin for begin, _ in calls] == [0.0, 500.0, 2000.0, 2500.0]


def test_calls_that_meet_the_next_change_say_nothing():
    """The one of 2000 ms began before it, but a good call could still have been under way."""
    run = steady_run(contender_named("auto"), [500.0 * number for number in range(6)], [900.0] * 6)
    calls = reaction.judged_calls(run, 900.0, 2050.0, 110.0)
    assert [begin for begin, _ in calls] == [1000.0, 1500.0]


class ClockedLab(NoLab):
    """Knows when its links changed."""

    def __init__(self):
        super().__init__()
        self.times_ms = []

    def set_pair(self, a, b, latency_ms):
        super().set_pair(a, b, latency_ms)
        self.times_ms.append(time.monotonic() * 1000)


def test_reaction_study(monkeypatch):
    """Of a library that needs 100 ms for worse links and never notices better ones."""
    lab, jobs = ClockedLab(), []
    for name, value in (("SETTLE_S", 0.05), ("WINDOW_S", 0.9), ("EVERY_MS", 50)):
        monkeypatch.setattr(reaction, name, value)
    monkeypatch.setattr(reaction.Lab, "up", lambda *_words, **_options: lab)
    monkeypatch.setattr(reaction.Lab, "attach", lambda _name: lab)

    def job(contender, pace, _lab, bounds_ms, on_begin, timeout_s):
        on_begin(time.monotonic() * 1000)
        jobs.append(pace)
        made = 2 * len(jobs) - 2  # changes before this job
        changes = 2 if pace.every_ms else 4
        wait_until(lambda: len(lab.times_ms) == made + changes)
        worse, better = lab.times_ms[made:made + 2]
        begins = [worse - 90 + 50 * number for number in range(pace.count)]
        late = pace.every_ms > 0  # and one after the other all are good
        each = [bounds_ms[0] * (50 if late and (worse <= begin < worse + 100 or begin > better)
                                else 1) for begin in begins]
        return steady_run(contender, begins, each)

    monkeypatch.setattr(reaction, "run_steady", job)
    monkeypatch.setattr(HostNetwork, "bound_from", lambda _network, _root: 1000.0)
    result = reaction.run_study(mpi_named("openmpi-5"), quick=True)
    assert lab.pairs == [("h12", "h16", 1655.0), ("h12", "h16", 165.5),
                        ("h12", "h16", 300.0), ("h12", "h16", 30.0),
                        *[("h12", "h16", 830.0), ("h12", "h16", 83.0)] * 2]
    assert len(result["scenarios"][2]["trials"]) == 4
    for scenario in result["scenarios"][:2]:
        worse, better = scenario["trials"]
        assert (worse["kind"], better["kind"]) == (WORSENS, RECOVERS)
        assert worse["reaction_s"] == pytest.approx(0.11, abs=0.005)  # 10 ms past a call's begin
        assert worse["late_calls"] == 2 and worse["worst_ms"] == 50
        assert better["reaction_s"] is None
    lines, _ = shown(reaction.document(result), "private line, the link recovers; at most 8 s wanted", in_page=[
        "never", f"{result['scenarios'][0]['trials'][0]['reaction_s']:.2f} s"])
    assert sum("never" in line for line in lines) >= 4


def test_overhead_study(monkeypatch, labs):
    """The order within a pair alternates, and the median is of the pairs' ratios. Catches a ratio of
    medians over all runs, which a slow hour of the machine would decide."""
    asked = []

    def job(contender, pace, _lab, bounds_ms, timeout_s):
        mode = contender.settings["adaptation"]
        assert contender.settings["agent"] == "in-band"
        asked.append(mode)
        slow = 100 if len(asked) > 4 else 1
        return steady_run(contender, range(pace.count),
                          [slow * (1.02 if mode == "auto" else 1.0)] * pace.count)

    monkeypatch.setattr(overhead, "run_steady", job)
    result = overhead.run_study(mpi_named("openmpi-5"), settings={"agent": "in-band"})
    assert asked == ["auto", "off", "off", "auto"] * 2 + ["auto", "off"]
    assert result["ratio"] == pytest.approx(1.02)
    _, page = shown(overhead.document(result), "agent=in-band", in_text=[
        "1.0200 × the time of a broadcast, median of 5 pairs; at most 1.01 wanted"])
    assert 'class="tile bad"><b>1.0200 ×' in page and "--set agent=in-band" in page


lab = lab_of(FOUR_HOSTS)


def test_links_change_before_a_call_in_the_lab(lab, mpi):
    """The third call is the first to meet the slow link; the program is native, so it stays on it."""
    def change():
        lab.set_pair("A", "B", latency_ms=40)

    lab.set_latencies(FOUR_HOSTS.latency_us)

    run = run_steady(Contender("native", mpi), Pace(0, 4, stops={3: change}), lab,
                     [10.0, 10.0, 40.0, 40.0], timeout_s=120)
    assert all(10 * 0.995 <= each for each in run.completion_ms[:2])
    assert all(40 * 0.995 <= each for each in run.completion_ms[2:])
    assert run.begin_ms == tuple(sorted(run.begin_ms)) and run.stopped_ms > 0


def test_a_pace_is_kept_in_the_lab(lab, mpi):
    """Messages take longer than the pause between calls, and the root goes on. Catches a program
    that waits for its receivers."""
    lab.set_pair("A", "B", latency_ms=300)
    began = []
    run = run_steady(Contender("native", mpi), Pace(0, 8, every_ms=50), lab, [300.0] * 8,
                     began.append, timeout_s=120)
    assert len(began) == 1 and began[0] <= run.begin_ms[0]
    assert run.begin_ms[-1] < run.begin_ms[0] + run.completion_ms[0] * 7 / 2
    assert all(late >= early + 50 - 0.01 for early, late in
               zip([began[0] - 50, *(began[0] + 50 * i for i in range(7))], run.begin_ms))
