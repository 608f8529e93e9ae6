"""A synchronous program on six sites while links of its tree get ten times worse and recover: how many of its
broadcasts are slow, and for how long."""

import statistics
from collections.abc import Sequence
from functools import partial

from mutirao.base.units import counted
from mutirao.lab.lab import Lab, bring_up
from mutirao.lab.named_networks import load_preset
from mutirao.run.mpis import Mpi
from mutirao_studies.bars.bar import Bar, Finding, at_most, on_each_mpi, set_up
from mutirao_studies.paper_000 import overhead, reaction
from mutirao_studies.paper_000.reaction import RECOVERS, WORSE, WORSENS, Event
from mutirao_studies.paper_000.six_sites import NETWORK, ROOT
from mutirao_studies.paper_000.steady import Pace, SteadyRun

SETTLE_S = 75.0  # it is set up after ten, and has tried what there is to be tried after fifty
WINDOW_S = {WORSENS: 30.0, RECOVERS: 15.0}  # until the next change
# Sites and the round trip between them; each gets worse and recovers. Without the first the shortest way to S4 leads
# over the second, and a tree that has avoided one is struck by the other.
TRUNKS = (("S3", "S4", 331.0), ("S0", "S4", 332.8)) * 2 + (("S3", "S4", 331.0),)
SLOW = 1.25  # times the bound before
SLOW_CALLS, MOST_SLOW_CALLS, SLOW_S, RECOVERY_S = 2, 3, 4.0, 4.0


def bars(_commit_hash: str) -> list[Bar]:
    return [*on_each_mpi("change", "ten changes of trunks under a synchronous program on six-sites", 7, _change),
            *on_each_mpi("reaction", "a link gets worse and recovers under programs of three kinds", 9, _reaction),
            *on_each_mpi("overhead", "following a network that does not change", 3, _overhead)]


def _change(mpi: Mpi) -> list[Finding]:
    network = load_preset(NETWORK)
    bound_ms = network.bound_from(ROOT) / 1000
    events = list(_events())
    whole_s = events[-1].at_s + WINDOW_S[RECOVERS]
    count = round(whole_s * 1000 / (2 * bound_ms)) + 1  # a call, and the ranks' answers
    with bring_up(network) as lab:
        run, changed_ms = reaction.run_while(events, set_up(mpi), Pace(ROOT, count), lab, bound_ms, whole_s)
    return findings(run, events, changed_ms, bound_ms)


def _events() -> list[Event]:
    events, at_s = [], SETTLE_S
    for low, high, round_trip_ms in TRUNKS:
        for kind, value in ((WORSENS, round_trip_ms * WORSE), (RECOVERS, round_trip_ms)):
            events.append(Event(at_s, kind, partial(Lab.set_pair, a=low, b=high, latency_ms=value / 2)))
            at_s += WINDOW_S[kind]
    return events


def findings(run: SteadyRun, events: Sequence[Event], changed_ms: Sequence[float],
             bound_ms: float) -> list[Finding]:
    """The bound is the same while one of these trunks is worse: the farthest hosts are those of S2. A later call by
    the MPI library now and then, for comparison, is paid for by the ledger, and no matter of the change."""
    slow: dict[str, list[int]] = {WORSENS: [], RECOVERS: []}
    seconds: dict[str, list[float]] = {WORSENS: [], RECOVERS: []}
    ends = [*changed_ms[1:], changed_ms[-1] + 1000 * WINDOW_S[RECOVERS]]
    for event, changed, until in zip(events, changed_ms, ends, strict=True):
        limit_ms = (SLOW if event.kind == WORSENS else reaction.GOOD) * bound_ms
        calls = reaction.judged_calls(run, changed, until, limit_ms)
        found_s = reaction.reaction_s(calls, changed)
        good_s = (until - changed) / 1000 if found_s is None else found_s
        slow[event.kind].append(sum(not good and begin < changed + 1000 * good_s for begin, good in calls))
        seconds[event.kind].append(good_s)
    return [at_most(SLOW_CALLS, f"slow calls (above {SLOW:g} x the bound) after a change for the worse, median",
                    statistics.median(slow[WORSENS]), where=_each(slow[WORSENS])),
            at_most(MOST_SLOW_CALLS, "slow calls after a change for the worse, worst", max(slow[WORSENS])),
            at_most(SLOW_S, f"until {reaction.IN_A_ROW} in a row are not slow, median",
                    statistics.median(seconds[WORSENS]), " s", where=_each(seconds[WORSENS])),
            at_most(RECOVERY_S, f"after a recovery until {reaction.IN_A_ROW} in a row are within {reaction.GOOD:g} x"
                    " the bound, worst", max(seconds[RECOVERS]), " s",
                    where=f"{_each(seconds[RECOVERS])}; without {counted(len(run.native_probes), 'native call')}")]


def _each(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _reaction(mpi: Mpi) -> list[Finding]:
    rows = reaction.summary(reaction.run_study(mpi, quick=True))
    found = [at_most(row["bar_s"], f"{row['scenario']}, {row['kind']}, until good, worst", row["worst_s"], " s")
             for row in rows]
    return found + [at_most(reaction.LATE_BAR, f"{row['scenario']}, {row['kind']}, late calls, median",
                            row["late_calls"])
                    for row in rows if row["scenario"] == "synchronous" and row["kind"] == WORSENS]


def _overhead(mpi: Mpi) -> list[Finding]:
    return [at_most(overhead.BAR, "adaptation on, x off,", overhead.run_study(mpi, quick=True)["ratio"])]
