"""How long until broadcasts are good again after a link changed under a program that goes on.

The program broadcasts twice a second and is never stopped. A link of its tree gets ten times worse at
some moment between two calls, and recovers later. A broadcast is good if the last host has it within
1.1 times the physical bound of the network as it is then. The reaction is the time from the change
until the begin of the first of ten good calls in a row; late ones after these are told as strays.

On the six sites as they are, other ways are nearly as short as the link: there a recovery cannot be
seen. So a second network has a private line, without which the farthest hosts are far worse off. In a
third one the program synchronises: each broadcast begins when the one before is complete everywhere,
and every rank has said so to the root, host 16 over the trunk itself.

The library is as it comes, which settles first, unless settings say otherwise: `start=wait` and `trials=off` show
how soon changes are known and a choice is made by prediction, apart from all else.
"""

import functools
import math
import random
import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from mutirao.base.errors import Failure
from mutirao.base.progress import steps
from mutirao.base.tables import Table
from mutirao.base.units import counted
from mutirao.lab.lab import Lab, bring_up
from mutirao.lab.network import HostNetwork
from mutirao.measure.circumstances import Circumstances
from mutirao.measure.measure import Contender
from mutirao.pages.html import judged, soft
from mutirao.run.mpis import Mpi
from mutirao_studies.account import with_settings
from mutirao_studies.document import Document, Lines, Section
from mutirao_studies.line_chart import SECONDS, Line, Point, line_chart, side_by_side
from mutirao_studies.paper_000.changing_network import after, before, make, six_gateways
from mutirao_studies.paper_000.paper_000 import Change
from mutirao_studies.paper_000.six_sites import ROOT
from mutirao_studies.paper_000.steady import Pace, SteadyRun, run_steady

STUDY = "reaction"
LINK = (12, 16)
EVERY_MS = 500
TRIALS, QUICK_TRIALS = 5, 1  # of a synchronous program twice as many
GOOD = 1.1  # times the bound
WORSE = 10.0
IN_A_ROW = 10
SETTLE_S = 75.0  # what begins natively has by then tried what there is to be tried
AS_IT_COMES = {"start": "soon"}  # as in long programs
WINDOW_S = 20.0  # from one change to the next: ten calls of a second, and what may pass before them
WORSENS, RECOVERS = "gets worse", "recovers"
BARS_S = {WORSENS: 6.0, RECOVERS: 8.0}
SYNCHRONOUS_BARS_S = {WORSENS: 4.0, RECOVERS: 8.0}
LATE_BAR, MOST_LATE_BAR = 2, 3  # calls of a synchronous program: the median and the worst trial
_MARGIN_MS = 5000  # what is drawn before the first change
_CHANGES_DRAWN = 2


@dataclass(frozen=True)
class Scenario:
    title: str
    round_trip_ms: float
    synchronous: bool = False

    @property
    def worsens(self) -> Change:
        return Change(*LINK, self.round_trip_ms, self.round_trip_ms * WORSE)


SCENARIOS = (Scenario("six sites", 331.0), Scenario("private line", 60.0),
             Scenario("synchronous", 166.0, synchronous=True))


@dataclass(frozen=True)
class Event:
    """A change, due so long after the program's first call."""

    at_s: float
    kind: str
    make: Callable[[Lab], None]


def run_while(events: Sequence[Event], contender: Contender, pace: Pace, lab: Lab, bound_ms: float,
              seconds: float) -> tuple[SteadyRun, list[float]]:
    """A steady program of about so many seconds under which links change, and when they did, in ms of this machine's
    monotonic clock. Failure unless all have changed."""
    changing = Lab.attach(lab.name)  # a connection is not for two threads
    ended, changed_ms, works = threading.Event(), [], []

    def change_all(began_ms: float) -> None:
        for event in events:
            if ended.wait(max(0.0, began_ms / 1000 + event.at_s - time.monotonic())):
                return
            at_ms = time.monotonic() * 1000
            event.make(changing)
            changed_ms.append(at_ms)

    with ThreadPoolExecutor(1) as pool:
        try:
            run = run_steady(contender, pace, lab, [bound_ms] * pace.count,
                             lambda began_ms: works.append(pool.submit(change_all, began_ms)),
                             timeout_s=120 + 3 * seconds)
        finally:
            ended.set()
    for work in works:
        work.result()
    if len(changed_ms) < len(events):
        raise Failure("the program ended before the last link had changed")
    return run, changed_ms


def events_of(scenario: Scenario, trials: int) -> list[Event]:
    """Each at a phase of its own between two calls."""
    phases = random.Random(scenario.title)
    events = []
    for number in range(2 * trials):
        kind, change = ((WORSENS, scenario.worsens) if number % 2 == 0 else
                        (RECOVERS, scenario.worsens.reversed()))
        at_s = SETTLE_S + number * WINDOW_S + phases.uniform(0, EVERY_MS / 1000)
        events.append(Event(at_s, kind, functools.partial(make, change=change)))
    return events


Calls = Sequence[tuple[float, bool]]  # begin, and whether it was good


def judged_calls(run: SteadyRun, changed_ms: float, until_ms: float, limit_ms: float) -> Calls:
    """A call that began before the change, or whose last message the next change can have met, says
    nothing; nor does one that went natively for comparison, long after the change."""
    return [(begin, completion <= limit_ms)
            for number, (begin, completion) in enumerate(zip(run.begin_ms, run.completion_ms, strict=True))
            if changed_ms <= begin <= until_ms - limit_ms and number not in run.native_probes]


def reaction_s(calls: Calls, changed_ms: float) -> float | None:
    """None: not before the next change. 0: no call was late at first."""
    for number, (begin, _) in enumerate(calls[:max(0, len(calls) - IN_A_ROW + 1)]):
        if all(good for _, good in calls[number:number + IN_A_ROW]):
            return (begin - changed_ms) / 1000 if number else 0.0
    return None


def run_study(mpi: Mpi, quick: bool = False, settings: Mapping[str, str] | None = None) -> dict:
    trials = QUICK_TRIALS if quick else TRIALS
    settings = dict(settings or {})
    circumstances = Circumstances(STUDY, quick, [mpi.name])
    network = six_gateways()
    contender = Contender("mutirao", mpi, {**AS_IT_COMES, **settings})
    described = []
    with bring_up(network) as lab, steps(len(SCENARIOS)) as progress:
        for scenario in SCENARIOS:
            times = 2 * trials if scenario.synchronous else trials
            progress.begin(f"{scenario.title}: link {scenario.worsens.name} gets {WORSE:g} times"
                           f" worse and recovers, {times} times")
            described.append(_measure(lab, network, contender, scenario, times))
            progress.advance()
    return {**circumstances.to_dict(), "mpi_title": mpi.title, "settings": settings,
            "root": ROOT, "every_ms": EVERY_MS, "good": GOOD, "trials": trials,
            "scenarios": described}


def _measure(lab: Lab, network: HostNetwork, contender: Contender, scenario: Scenario,
             trials: int) -> dict:
    good = before(network, [scenario.worsens])
    bounds_ms = {WORSENS: after(network, [scenario.worsens]).bound_from(ROOT) / 1000,
                 RECOVERS: good.bound_from(ROOT) / 1000}
    lab.set_latencies(good.latency_us)
    events = events_of(scenario, trials)
    least_ms = min(bounds_ms.values())
    seconds = SETTLE_S + (2 * trials + 0.5) * WINDOW_S
    every_ms = 0 if scenario.synchronous else EVERY_MS
    # So many calls that the last change is met: no synchronous one takes less than the bound and the ranks' answers.
    pace = Pace(ROOT, math.ceil(seconds * 1000 / (every_ms or 2 * least_ms)), every_ms=every_ms)
    run, changed_ms = run_while(events, contender, pace, lab, least_ms, seconds)
    return {"title": scenario.title, "link": scenario.worsens.name,
            "round_trip_ms": scenario.round_trip_ms, "synchronous": scenario.synchronous,
            "bounds_ms": bounds_ms, "bars_s": SYNCHRONOUS_BARS_S if scenario.synchronous else BARS_S,
            "trials": judge(run, events, changed_ms, bounds_ms),
            "overruns": run.measurement.overruns,
            "begin_ms": list(run.begin_ms), "completion_ms": list(run.completion_ms)}


def judge(run: SteadyRun, events: Sequence[Event], changed_ms: Sequence[float],
          bounds_ms: dict[str, float]) -> list[dict]:
    ends = [*changed_ms[1:], run.begin_ms[-1] + bounds_ms[RECOVERS] * GOOD]
    trials = []
    for event, changed, until in zip(events, changed_ms, ends, strict=True):
        calls = judged_calls(run, changed, until, GOOD * bounds_ms[event.kind])
        seconds = reaction_s(calls, changed)
        late = [begin for begin, good in calls if not good]
        strays = [begin for begin in late
                  if seconds is not None and begin > changed + seconds * 1000]
        trials.append({"kind": event.kind, "changed_ms": changed, "reaction_s": seconds,
                       "late_calls": len(late) - len(strays), "strays": len(strays),
                       "worst_ms": max(completion for begin, completion in zip(
                           run.begin_ms, run.completion_ms, strict=True)
                           if changed <= begin < until)})
    return trials


def summary(result: dict) -> list[dict]:
    rows = []
    for scenario in result["scenarios"]:
        for kind, bar_s in scenario["bars_s"].items():
            trials = [each for each in scenario["trials"] if each["kind"] == kind]
            reactions_s = [each["reaction_s"] for each in trials]
            known = None not in reactions_s
            rows.append({"scenario": scenario["title"], "kind": kind, "reactions_s": reactions_s,
                         "link": f"{scenario['link']} of {scenario['round_trip_ms']:g} ms",
                         "bound_ms": scenario["bounds_ms"][kind],
                         "median_s": statistics.median(reactions_s) if known else None,
                         "worst_s": max(reactions_s) if known else None, "bar_s": bar_s,
                         "late_calls": statistics.median(each["late_calls"] for each in trials),
                         "most_late_calls": max(each["late_calls"] for each in trials),
                         "strays": sum(each["strays"] for each in trials),
                         "worst_ms": max(each["worst_ms"] for each in trials)})
    return rows


# --- what is shown ------------------------------------------------------------------------------------


def document(result: dict) -> Document:
    lead = (f"A program broadcasts on and on. A link of its tree gets {WORSE:g} times worse under it, and"
            f" recovers later. How long until broadcasts are within {result['good']:g} times the physical bound"
            " again?")
    rows = summary(result)
    lines = [f"synchronous: {2 * result['trials']} trials, each broadcast when the one before has"
             f" ended;\nlate calls at most {LATE_BAR}, in the worst trial {MOST_LATE_BAR}",
             *(f"{row['scenario']}, link {row['link']} {row['kind']}: good after"
               f" {', '.join(map(_in_seconds, row['reactions_s']))} s" for row in rows)]
    return Document("How long until broadcasts are good again", lead, result, [
        Section("From a change until broadcasts are good", [_summary_table(result, rows), Lines(lines)]),
        Section("Broadcast by broadcast",
                [soft("Around the first two changes, which are the upright lines; logarithmic. The dashed line is the"
                      " physical bound."),
                 side_by_side("groups", {each["title"]: _chart(each) for each in result["scenarios"]})])],
        list(map(_tile, rows)), [with_settings(result)])


def _tile(row: dict) -> tuple[str, str, str]:
    never = row["median_s"] is None
    return (judged(not never and row["median_s"] <= row["bar_s"]), "never" if never else f"{row['median_s']:.1f} s",
            f"{row['scenario']}, the link {row['kind']}; at most {row['bar_s']:g} s wanted")


def _summary_table(result: dict, rows: Sequence[dict]) -> Table:
    cells = [(f"{row['scenario']}, {row['kind'].removeprefix('gets ')}", f"{row['bound_ms']:.1f}",
              _in_seconds(row["median_s"]), _in_seconds(row["worst_s"]), f"{row['bar_s']:g}",
              f"{row['late_calls']:g}/{row['most_late_calls']}", row["strays"], f"{row['worst_ms']:.0f}")
             for row in rows]
    return Table(f"Until broadcasts from host {result['root']} are within {result['good']:g} x the bound,"
                 f" {IN_A_ROW} in a row;\n{counted(result['trials'], 'trial')}, a broadcast every"
                 f" {result['every_ms']} ms, {with_settings(result)}.\nLate until then, median and most of"
                 " the trials;\nstray: late after that, of all trials",
                 ("", "bound ms", "s", "worst", "limit", "late", "stray", "worst ms"), cells)


def _in_seconds(value: float | None) -> str:
    return "never" if value is None else f"{value:.2f}"


def _chart(scenario: dict) -> str:
    changed_ms = [trial["changed_ms"] for trial in scenario["trials"]]
    began_ms = changed_ms[0] - _MARGIN_MS
    ended_ms = changed_ms[_CHANGES_DRAWN] if len(changed_ms) > _CHANGES_DRAWN else scenario["begin_ms"][-1]
    points = [Point(round(begin - began_ms), 1000 * took)
              for begin, took in zip(scenario["begin_ms"], scenario["completion_ms"], strict=True)
              if began_ms <= begin <= ended_ms]
    if not points:
        return "no calls"
    changes = [(round(at - began_ms), kind) for at, kind
               in zip(changed_ms[:_CHANGES_DRAWN], (WORSENS, RECOVERS), strict=False)]
    return line_chart([Line("broadcast", "l3", points)], SECONDS, 190, _bound(scenario["bounds_ms"], changes, points),
                      changes)


def _bound(bounds_ms: dict[str, float], changes: Sequence[tuple[int, str]],
           points: Sequence[Point]) -> list[tuple[int, float]]:
    """It is as after a recovery until something changes."""
    corners = [(points[0].x, 1000 * bounds_ms[RECOVERS])]
    for at, kind in changes:
        corners += [(at, corners[-1][1]), (at, 1000 * bounds_ms[kind])]
    return [*corners, (points[-1].x, corners[-1][1])]
