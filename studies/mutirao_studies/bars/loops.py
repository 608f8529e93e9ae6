"""Whole loops that compute and communicate in turn, those of real programs and those drawn by the commit's hash: no
harm, and what is said is true. What could be won is in lengths.py."""

import statistics
from collections.abc import Sequence

from mutirao.base.progress import steps
from mutirao.lab.lab import bring_up
from mutirao.run.mpis import find_mpi
from mutirao_studies.bars.bar import MPIS, Bar, Finding, at_least, at_most, on_each_mpi
from mutirao_studies.loops import loops
from mutirao_studies.loops.loops import BAR, DEFAULT, Plan
from mutirao_studies.loops.loops_drawn import Loop, drawn_loops, known_loops, python_loops, seeds_of

SAID_RIGHT, SAID_WIDTH = 0.9, 0.05
PYTHON_BARS = {"sgd-python/A": 0.75, "sgd-python/B": 1.0}
_PYTHON_MPI = "openmpi-4"
_AT_A_TIME = 4  # drawn loops of one bar
_TEN_SECONDS = Plan(pairs=4, most_pairs=6, known=False)
_MINUTE = Plan(pairs=2, most_pairs=2, scale=6, known=False)


def bars(commit_hash: str) -> list[Bar]:
    known = [loop for loop in known_loops() if not loop.in_python]
    in_a_minute = [loop for loop in known if loop.name.endswith("/A")]
    return [*on_each_mpi("loops-known", "loops of real programs, of ten seconds", 6,
                         lambda mpi: findings(_rows(known, [mpi.name], _TEN_SECONDS))),
            *on_each_mpi("loops-minute", "the same loops on four sites, of a minute, and what is said of them", 15,
                         lambda mpi: _of_a_minute(in_a_minute, mpi.name)),
            Bar("loops-python", "the training loop as a program of numpy and mpi4py", 6, _python),
            *_drawn(commit_hash)]


def _drawn(commit_hash: str) -> list[Bar]:
    """Those of a seed in parts, and the MPI libraries in turn."""
    drawn = [loop for seed in seeds_of(commit_hash) for loop in drawn_loops(seed)]
    parts = [drawn[first:first + _AT_A_TIME] for first in range(0, len(drawn), _AT_A_TIME)]
    return [Bar(f"loops-drawn-{number}", f"{len(part)} loops that the commit's hash drew", 6,
                lambda part=part: findings(_rows(part, MPIS, _TEN_SECONDS)))
            for number, part in enumerate(parts, start=1)]


def _of_a_minute(chosen: Sequence[Loop], mpi: str) -> list[Finding]:
    """What is said is of jobs that are long enough for it."""
    rows = _rows(chosen, [mpi], _MINUTE)
    return [*findings(rows), *said_findings(loops.summary(rows)["said"])]


def said_findings(said: dict) -> list[Finding]:
    if not said["known"]:
        return []
    return [at_least(SAID_RIGHT, "jobs whose summary says what the clock says,", said["right"] / said["known"],
                     where=f"{said['right']} of {said['known']}, and {said['jobs'] - said['known']} not known"),
            at_most(SAID_WIDTH, "interval of what is said, over the run,", said["widest"])]


def _rows(chosen: Sequence[Loop], mpis: Sequence[str], plan: Plan) -> list[dict]:
    rows = []
    with steps(len(chosen) * plan.pairs) as progress:
        for number, loop in enumerate(chosen):
            mpi = find_mpi(mpis[number % len(mpis)])
            with bring_up(loop.network) as lab:
                rows.append(loops.measure_loop(loop, mpi, lab, plan, progress))
    return rows


def findings(rows: Sequence[dict]) -> list[Finding]:
    harmed = [row for row in rows if row["harm"]]
    worst = max(rows, key=lambda row: row["ratio"]["value"])
    those = f" ({', '.join(map(_title, harmed))})" if harmed else ""
    return [Finding(f"loops clearly above {BAR:g} x native: none", f"{len(harmed)} of {len(rows)}{those}; largest"
                    f" {_title(worst)}", not harmed, worst["ratio"]["value"])]


def _title(row: dict) -> str:
    ratio = row["ratio"]
    interval = "" if ratio["low"] is None else f", {ratio['low']:.2f} to {ratio['high']:.2f}"
    return f"{row['loop']} {row['mpi']}: {ratio['value']:.2f} x{interval}"


def _python() -> list[Finding]:
    rows = _rows(python_loops(), [_PYTHON_MPI], _TEN_SECONDS)
    return [at_most(PYTHON_BARS[row["loop"]], f"{row['loop']}, x native,", statistics.geometric_mean(
        pair[DEFAULT]["seconds"] / pair[loops.NATIVE]["seconds"] for pair in row["pairs"]), where=row["mpi"])
        for row in rows]
