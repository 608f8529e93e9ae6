"""What programs that compute and communicate in turn take natively and with mutirao as it comes.

A loop is what a user sees: everything that mutirao tries on the way, and all that it does to the calls around it,
is in its seconds. Native runs, runs in the default configuration with a fresh profile, and runs in which the network
is known from the start and nothing is tried (the network's possibilities, or nearly) take turns, in pairs whose order
changes; only runs that follow one another are compared. With `warm` a second job of the default configuration
starts from the profile that the first one left.
"""

import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mutirao.base.errors import Failure, UsageError
from mutirao.base.progress import Steps, steps
from mutirao.base.tables import Table
from mutirao.base.units import counted, ratio
from mutirao.explain.saved import account_of, total_of
from mutirao.lab.lab import Lab, bring_up, verify_run
from mutirao.measure.circumstances import Circumstances
from mutirao.measure.intervals import Ratio, ratio_of_pairs
from mutirao.measure.measure import tried_twice
from mutirao.pages.html import judged
from mutirao.run.launch import launch
from mutirao.run.mpis import Mpi, find_mpi
from mutirao_studies.account import told
from mutirao_studies.document import Document, Drawn, Lines, Section
from mutirao_studies.loops.loops_drawn import PYTHON_PROGRAM, Loop, commit_hash, drawn_loops, known_loops, seeds_of

STUDY = "loops"
PROGRAM = "loop"
NATIVE, DEFAULT, KNOWN, WARM = "native", "default", "known", "warm"
KNOWN_SETTINGS = {"start": "wait", "trials": "off", "profile": "off"}
PAIRS, QUICK_PAIRS = 4, 1
BAR = 1.03  # an interval that lies above is a loss
LEAST_TO_WIN = 0.25  # of native; of less there is no share to speak of
DRAWN_S = 12.0
_PROBED_STEPS, _MOST_TIMES_PROBED = 8, 100
_MOST_STEPS, _LEAST_STEPS = 100_000, 8
_MOST_SECONDS_OF_A_JOB = 600.0


@dataclass(frozen=True)
class Plan:
    """What is to be measured, and how often."""

    pairs: int = PAIRS
    most_pairs: int = PAIRS  # so many where it is not clear before on which side of the limit a loop is
    scale: float = 1.0  # times the steps
    known: bool = True
    warm: bool = False

    @property
    def arms(self) -> tuple[str, ...]:
        return (NATIVE, DEFAULT, *([KNOWN] if self.known else []), *([WARM] if self.warm else []))


def chosen_loops(only: Sequence[str], seeds: Sequence[str] | None) -> list[Loop]:
    """All, or those that a name or the part before the slash of it stands for. `seeds` of the drawn ones; None:
    by the commit's hash, if any of those may be meant."""
    loops = known_loops()
    if seeds or not only or not set(only) <= {name for loop in loops for name in loop.names}:
        found_seeds = seeds_of(commit_hash()) if seeds is None else seeds
        loops += [loop for seed in found_seeds for loop in drawn_loops(seed)]
    for word in only:
        if not any(word in loop.names for loop in loops):
            kinds = dict.fromkeys(loop.names[0] for loop in loops)
            raise UsageError(f"there is no loop '{word}' (loops: {', '.join(kinds)}, and for example"
                             f" {loops[0].name})")
    return [loop for loop in loops if not only or set(loop.names) & set(only)]


def run_study(mpi_names: Sequence[str], loops: Sequence[Loop], plan: Plan) -> dict:
    mpis = [find_mpi(name) for name in mpi_names]
    circumstances = Circumstances(STUDY, plan.pairs == QUICK_PAIRS, mpi_names)
    rows = []
    with steps(len(loops) * len(mpis) * plan.pairs) as progress:
        for loop in loops:
            with bring_up(loop.network) as lab:
                rows += [measure_loop(loop, mpi, lab, plan, progress) for mpi in mpis]
    return {**circumstances.to_dict(), "pairs": plan.pairs, "most_pairs": plan.most_pairs, "scale": plan.scale,
            "bar": BAR, "loops": rows, "summary": summary(rows)}


def measure_loop(loop: Loop, mpi: Mpi, lab: Lab, plan: Plan, progress: Steps) -> dict:
    what = f"{loop.name} on {mpi.title}"
    count = round((loop.steps or steps_for(loop, mpi, lab, DRAWN_S)) * plan.scale)
    pairs: list[dict] = []
    while len(pairs) < plan.pairs or (len(pairs) < plan.most_pairs and not decided(pairs)):
        progress.begin(f"{what}, {count} steps, pair {len(pairs) + 1}")
        pairs.append(run_pair(loop, mpi, lab, count, plan, backwards=len(pairs) % 2 == 1))
        if len(pairs) <= plan.pairs:
            progress.advance()
    return judge(pairs) | {"loop": loop.name, "title": loop.title, "mpi": mpi.name, "steps": count, "pairs": pairs}


def steps_for(loop: Loop, mpi: Mpi, lab: Lab, seconds: float) -> int:
    """From the second half of a few native ones, when connections are warm. Of more where that makes very many:
    messages that do not wait for each other arrive together."""
    probed = _PROBED_STEPS
    while True:
        quarter_seconds = _run(loop, mpi, lab, probed, NATIVE, {})["quarter_seconds"]
        step_s = max(1e-6, sum(quarter_seconds[2:]) / (probed / 2))
        count = max(_LEAST_STEPS, min(_MOST_STEPS, round(seconds / step_s)))
        if count <= _MOST_TIMES_PROBED * probed:
            return count
        probed = count // 16


def run_pair(loop: Loop, mpi: Mpi, lab: Lab, count: int, plan: Plan, backwards: bool) -> dict:
    """One run of each. What is warm comes right after the run whose profile it starts from."""
    runs = {}
    with tempfile.TemporaryDirectory(prefix="mutirao-") as folder:
        settings = {NATIVE: {}, DEFAULT: {"profile": f"{folder}/profile.db"}, KNOWN: KNOWN_SETTINGS}
        order = [arm for arm in plan.arms if arm != WARM]
        for arm in reversed(order) if backwards else order:
            runs[arm] = tried_twice(lambda arm=arm: _run(loop, mpi, lab, count, arm, settings[arm]))
            if arm == DEFAULT and plan.warm:
                runs[WARM] = tried_twice(lambda: _run(loop, mpi, lab, count, WARM, settings[DEFAULT]))
    return {arm: runs[arm] for arm in plan.arms}


def _run(loop: Loop, mpi: Mpi, lab: Lab, count: int, arm: str, settings: Mapping[str, str]) -> dict:
    """One job's seconds, and what ran in the end."""
    what = f"{loop.name}, {arm}, on {mpi.title}"
    program = [sys.executable, str(PYTHON_PROGRAM)] if loop.in_python else [str(mpi.program(PROGRAM))]
    argv = [*program, str(count), *loop.items]
    hosts = lab.network.host_count
    before = lab.counters().packets_among(hosts)
    finished = launch(mpi, argv, hosts, lab=lab, settings=settings, native=arm == NATIVE,
                      capture=True, timeout_s=_MOST_SECONDS_OF_A_JOB)
    measured = told(finished, what, '{"steps":')
    verify_run(0, measured["seconds"] * 1e6, before, lab.counters().packets_among(hosts))
    if arm != NATIVE and finished.report is None:
        raise Failure(f"{what}: mutirao left no report, as if it had not been preloaded")
    return {"seconds": measured["seconds"], "quarter_seconds": measured["quarter_seconds"],
            "whole_seconds": finished.seconds, "ran": what_ran(finished.report), "said": _said(finished.report),
            "investment": _investment(finished.report)}


def _said(report: dict | None) -> dict | None:
    """What mutirao says that it saved in the loop, which MPI_Finalize is not in. None: that it does not know."""
    total = total_of(report or {})
    if total["net_us"] is None:
        return None
    return {"saved_s": (account_of(total).net_us - total["waited_us"]) / 1e6 - _private_communicators_s(report),
            "error_s": total["error_us"] / 1e6}


def _private_communicators_s(report: dict) -> float:
    """What making them took of calls."""
    return (report["start"]["twin_ms"] + report["start"]["agreed_ms"]) / 1000


def _investment(report: dict | None) -> dict | None:
    """When mutirao took the loop's communicator on, and what it had waited for until then by the clock."""
    world = _largest_communicator(report)
    if not world.get("first_ruled_ms"):
        return None
    return {"made_s": world["first_ruled_ms"] / 1000, "cost_s": _private_communicators_s(report)}


def _largest_communicator(report: dict | None) -> dict:
    communicators = (report or {}).get("communicators", ())
    return max(communicators, key=lambda each: each.get("calls", 0), default={})


def what_ran(report: dict | None) -> list[str]:
    """Of each kind of call of the largest communicator, what ruled last."""
    return [f"{each['collective']} {each['length_bytes']} B: "
            + (each["rulings"][-1]["chosen"] if each.get("rulings") else NATIVE)
            for each in _largest_communicator(report).get("classes", ())]


def _ratio(pairs: Sequence[dict], arm: str) -> Ratio:
    return ratio_of_pairs([(pair[arm]["seconds"], pair[NATIVE]["seconds"]) for pair in pairs])


def decided(pairs: Sequence[dict]) -> bool:
    """Whether the interval lies on one side of the limit."""
    found = _ratio(pairs, DEFAULT)
    return found.low is not None and not found.low <= BAR < found.high


def judge(pairs: Sequence[dict]) -> dict:
    seconds = {arm: statistics.median(pair[arm]["seconds"] for pair in pairs) for arm in pairs[0]}
    to_win = seconds[NATIVE] - seconds.get(KNOWN, seconds[NATIVE])
    worth = to_win > LEAST_TO_WIN * seconds[NATIVE]
    shares = {f"{arm}_share": (seconds[NATIVE] - seconds[arm]) / to_win if worth else None
              for arm in (DEFAULT, WARM) if arm in seconds}
    natives = [pair[NATIVE]["seconds"] for pair in pairs]
    beside = [ratio_of_pairs([both]).value for both in zip(natives, natives[1:], strict=False)]
    found = _ratio(pairs, DEFAULT)
    known = {"known_ratio": vars(_ratio(pairs, KNOWN))} if KNOWN in seconds else {}
    return {"seconds": seconds, "ratio": vars(found), **known, **shares,
            "native_to_native": [min(beside), max(beside)] if beside else None,
            "harm": found.low is not None and found.low > BAR}


def summary(rows: Sequence[dict]) -> dict:
    """Geometric means, since these are ratios. A share is of those in which there is something to win."""
    shares = {f"{arm}_share": [row[f"{arm}_share"] for row in rows if row.get(f"{arm}_share") is not None]
              for arm in (DEFAULT, WARM)}
    return {"loops": len(rows), "harmed": [f"{row['loop']} {row['mpi']}" for row in rows if row["harm"]],
            "mean_ratio": statistics.geometric_mean(row["ratio"]["value"] for row in rows),
            "said": _said_against_the_clock(rows),
            **{name: {"loops": len(values), "median": statistics.median(values), "least": min(values)}
               if values else None for name, values in shares.items()}}


def _said_against_the_clock(rows: Sequence[dict]) -> dict:
    """In how many jobs the interval of what was said to be saved holds what the clock says, beside the native run
    of the same pair; and how wide that interval is, as a share of the run."""
    pairs = [pair for row in rows for pair in row["pairs"]]
    known = [(pair[DEFAULT]["said"], pair[NATIVE]["seconds"] - pair[DEFAULT]["seconds"], pair[DEFAULT]["seconds"])
             for pair in pairs if pair[DEFAULT]["said"]]
    return {"jobs": len(pairs), "known": len(known),
            "right": sum(abs(said["saved_s"] - saved_s) <= said["error_s"] for said, saved_s, _ in known),
            "widest": max((2 * said["error_s"] / seconds for said, _, seconds in known), default=None)}


def document(result: dict) -> Document:
    lead = ("Programs that compute and communicate in turn, natively, with mutirao as it comes, and with a network"
            " that is known from the start, in turns.")
    in_all = result["summary"]
    tiles = [(judged(not in_all["harmed"]), f"{in_all['mean_ratio']:.3f} ×", "the native seconds of a loop,"
              f" geometric mean of {counted(in_all['loops'], 'loop')}; none clearly above {BAR:g} wanted")]
    titles = {row["loop"]: row["title"] for row in result["loops"]}
    return Document("Loops, natively and with mutirao", lead, result, [
        Section("Seconds of a loop", [Drawn(table(result), range(2, 5)), Lines(_lines(result)),
                                      Lines([f"{name}: {title}" for name, title in titles.items()])])],
        tiles)


def table(result: dict) -> Table:
    warm = any(WARM in row["seconds"] for row in result["loops"])
    rows = []
    for row in result["loops"]:
        found = row["ratio"]
        interval = "" if found["low"] is None else f"{found['low']:.2f}-{found['high']:.2f}"
        rows.append((row["loop"], row["mpi"], *(f"{row['seconds'][arm]:.2f}" for arm in (NATIVE, DEFAULT, KNOWN)),
                     f"{found['value']:.3f}", interval, ratio(row[f"{DEFAULT}_share"]),
                     *([ratio(row.get(f"{WARM}_share"))] if warm else [])))
    least, most = result["pairs"], result["most_pairs"]
    times = counted(least, "pair") if least == most else f"{least} to {most} pairs"
    return Table(f"Seconds of the loop, medians of {times}, and default over native with its 95% interval; share"
                 " of what is known to be possible",
                 ("loop", "MPI", NATIVE, DEFAULT, KNOWN, "ratio", "95%", "share", *([WARM] if warm else [])), rows)


def _lines(result: dict) -> list[str]:
    in_all = result["summary"]
    known = statistics.geometric_mean(row["known_ratio"]["value"] for row in result["loops"])
    lines = [f"known {known:.3f} x native"]
    if in_all["harmed"]:
        lines.append(f"clearly above {BAR:g} x native: {', '.join(in_all['harmed'])}")
    for arm in (DEFAULT, WARM):
        if share := in_all[f"{arm}_share"]:
            lines.append(f"share of what could be won, {arm}: median {share['median']:.2f}, least"
                         f" {share['least']:.2f}, of {counted(share['loops'], 'loop')}")
    said = in_all["said"]
    if said["known"]:
        lines.append(f"what mutirao said that it saved is what the clock says in {said['right']} of"
                     f" {counted(said['known'], 'job')}; interval at most {said['widest']:.1%} of a run")
    spread = [bound for row in result["loops"] for bound in row["native_to_native"] or ()]
    if spread:
        lines.append(f"native over the next native run: {min(spread):.2f} to {max(spread):.2f}")
    return lines
