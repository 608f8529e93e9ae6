"""`mutirao study start` without a lab: what is run, what is made of it, and refused; then natively in a
small lab."""

import json

import pytest

from made_up import calls_of, mpi_named, report, ruling, said_of_adapting
from mutirao.base.errors import Failure
from mutirao.lab.named_networks import load_preset
from mutirao.lab.network import HostNetwork
from mutirao.measure import measure
from mutirao.measure.measure import Contender
from mutirao.run.launch import CompletedRun
from mutirao_studies.paper_000 import start
from mutirao_studies.paper_000.start import median, settled
from shared import lab_of
from shown import shown

BOUND_MS = load_preset("six-sites").bound_from(start.ROOT) / 1000
NATIVE_MS, GOOD_MS = BOUND_MS * 1.35, BOUND_MS * 1.01
TWIN_MS = 3600.0


def made_up_report(first_ruled_call, state="mutirao"):
    given = report(24, [calls_of(start.ROOT, 24, ruling("tree:kind=mst"))])
    world = given["communicators"][0]
    world |= {"first_ruled_call": first_ruled_call, "state": state,
              "adaptation": said_of_adapting("auto", early_waits=1, early_waited_ms=1.5,
                                             waits=2, waited_ms=3.0)}
    given["start"] |= {"twin_ms": TWIN_MS, "waited_ms": 0.0, "introduced_ms": 900.0}
    return given


class MadeUpPrograms:
    """In the place of launch(): natively every call takes 1.35 times the bound; with mutirao the first
    9 do, and one of them more, then 1.01 times."""

    def __init__(self, state="mutirao"):
        self.state = state
        self.jobs = []

    def __call__(self, mpi, argv, ranks, *, lab, settings, native, **_options):
        count, every_ms = (int(argv[argv.index(name) + 1]) for name in ("--count", "--every-ms"))
        self.jobs.append((native, count, every_ms, settings))
        each = [NATIVE_MS if native or call < 9 else GOOD_MS for call in range(count)]
        if not native and count > 5:
            each[5] *= 1.02
        init_ms = 1500.0 + (0 if native else TWIN_MS)
        times = {"bytes": 24, "root": 12, "every_ms": every_ms, "init_ms": init_ms,
                 "finalize_ms": 50.0, "whole_ms": init_ms + sum(each) + 50.0,
                 "begin_ms": [5.0 + 400.0 * call for call in range(count)], "completion_ms": each}
        return CompletedRun(0, ["noise", json.dumps(times)], "", 2 + times["whole_ms"] / 1000, list(argv),
                            None if native else made_up_report(9, self.state))


@pytest.fixture
def start_with(monkeypatch, labs):
    def run(programs, **options):
        monkeypatch.setattr(measure, "launch", programs)
        return start.run_study(mpi_named("openmpi-5"), **options)

    return run


def test_pairs_of_every_situation(start_with):
    """The order within a pair alternates; nothing waits."""
    programs = MadeUpPrograms()
    result = start_with(programs)
    assert len(programs.jobs) == 3 * 5 * 2
    assert [job[0] for job in programs.jobs[:10]] == [True, False, False, True] * 2 + [True, False]
    of_situation = [programs.jobs[10 * number][1:3] for number in range(3)]
    assert of_situation == [(3, 0), (30, 0), (150, 333)]
    for native, _, every_ms, settings in programs.jobs:
        assert settings == (None if native else {"start": "soon" if every_ms else "beside", "profile": "off"})
    assert json.loads(json.dumps(result)) == result


def test_settings_are_the_users(start_with):
    programs = MadeUpPrograms()
    result = start_with(programs, quick=True, settings={"agent": "in-band"})
    assert len(programs.jobs) == 3 * 2
    assert programs.jobs[1][3] == {"start": "beside", "profile": "off", "agent": "in-band"}
    assert result["settings"] == {"agent": "in-band"}


def test_what_is_made_of_it(start_with):
    """Ratios are of whole jobs, from launch to end."""
    three, thirty, cold = start.summary(start_with(MadeUpPrograms()))
    native_ms = 2000 + 1500 + 3 * NATIVE_MS + 50
    assert three["first_ms"]["ratio"] == 1
    assert three["whole_ms"]["ratio"] == pytest.approx((native_ms + TWIN_MS) / native_ms, abs=1e-3)
    assert three["init_ms"]["ratio"] == pytest.approx((1500 + TWIN_MS) / 1500)
    saved_ms = 21 * (NATIVE_MS - GOOD_MS) - 0.02 * NATIVE_MS
    native_ms += 27 * NATIVE_MS
    assert thirty["whole_ms"]["ratio"] == pytest.approx((native_ms + TWIN_MS - saved_ms) / native_ms, abs=1e-3)
    assert cold["settled_calls"] == 9 and cold["settled_s"] == pytest.approx(3.6)
    assert cold["slowest_ratio"] == pytest.approx(1.02)
    assert (cold["first_ruled_call"], cold["waited_ms"]) == (9, 4.5)


def test_what_is_shown(start_with):
    lines, _ = shown(start.document(start_with(MadeUpPrograms())), "3.6 s", "The whole job",
                     "until all broadcasts are good: at a pace",
                     "at a pace: rank 0 waited 4.5 ms for others' decisions")
    [cold] = [line for line in lines if line.startswith("at a pace ")]
    assert cold.split()[3:5] == ["3.60", "9"] and cold.split()[-1] == "10"
    _, whole = [line.split() for line in lines if line.startswith("3 broadcasts ")]
    assert whole[5:7] == ["1.02", "1.50"] and whole[-1] == "3.400"


@pytest.mark.parametrize("completions, calls", [
    ([9, 9] + [1] * 10, 2), ([1] * 10, 0), ([9] + [1] * 9, None), ([1] * 12 + [9] + [1] * 5, None),
    ([1, 9, 1] + [1] * 10, 2), ([9] * 12, None)])
def test_settled_is_from_the_last_late_call_on(completions, calls):
    """Catches the first good call, and the first ten good ones in a row."""
    found = settled({"completion_ms": completions, "begin_ms": [100 + 50 * i for i in range(99)]}, 1.06)
    assert (found["calls"], found["s"]) == (calls, None if calls is None else 0.05 * calls)


def test_what_never_came_is_later_than_all_else():
    assert median([None, 2, 1]) == 2 and median([None, None, 1]) is None and median([]) is None


def test_a_job_that_fell_back_is_refused(start_with):
    """Catches native times taken for those of a start that costs nothing."""
    with pytest.raises(Failure, match="left every call to the MPI library"):
        start_with(MadeUpPrograms("native"), quick=True)


two_sites = lab_of(HostNetwork.from_sites(["A", "B"], [[0, 20], [20, 0]], 2))


@pytest.mark.parametrize("every_ms", [0, 60])
def test_the_program_in_the_lab(two_sites, mpi, every_ms):
    """All calls, also the first, meet the delays; the root keeps its pace."""
    job = start.run_job(Contender("native", mpi), start.Situation("x", 5, every_ms), two_sites)
    assert len(job["completion_ms"]) == 5 and min(job["completion_ms"]) >= 10 * 0.995
    begins = job["begin_ms"]
    assert begins[0] >= 0 and all(late > early for early, late in zip(begins, begins[1:]))
    if every_ms:
        assert all(begin >= every_ms * call for call, begin in enumerate(begins))
    last_ms = begins[-1] + job["completion_ms"][-1]
    assert job["whole_ms"] == pytest.approx(job["init_ms"] + last_ms, abs=0.1)
    assert job["mutirao"] is None and job["whole_ms"] < job["seconds"] * 1000
