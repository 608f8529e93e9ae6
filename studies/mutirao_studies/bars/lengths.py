"""Jobs of lengths that users have, from a second to minutes: what a first run wins, and a second one.

Nothing is set up before it pays, so a first run wins nothing until then, and then pays for it. With that made after T
of L seconds at a cost of c, where g of each second can be won, it is to win 1 - T/L - c/(gL) of what could be won; a
second run, whose profile knows how long the first one was, nearly all of it. Each length is drawn from an eighth of
the range of its own, on the logarithm's scale, so that all orders of magnitude are there.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from mutirao.base.output import note
from mutirao.base.progress import Steps, steps
from mutirao.lab.lab import bring_up
from mutirao.lab.named_networks import load_preset
from mutirao.run.mpis import find_mpi
from mutirao_studies.bars.bar import MPIS, Bar, Finding, at_least, at_most
from mutirao_studies.loops import loops
from mutirao_studies.loops.loops import DEFAULT, KNOWN, NATIVE, WARM, Plan
from mutirao_studies.loops.loops_drawn import FFT, K_MEANS, SGD, Loop

FIRST_BAR, SECOND_BAR = 1.10, 1.03
SHORT_OF_FORMULA, SECOND_SHARE, LONG_COSTS = 0.05, 0.85, 20
_LENGTH_S = (1.0, 300.0)
_JOBS, _BARS = 8, 2
_PROGRAMS = {"k-means": K_MEANS, "sgd": SGD, "fft": FFT, "broadcasts": ("broadcast:24",),
             "allgathers": ("compute:20", "allgather:4096")}
_NETWORKS = ("six-sites", "four-sites", "two-sites")
_TOO_LONG = {("sgd", "six-sites"), ("fft", "six-sites")}  # a step takes half a minute
_DRAWN_FROM = [(program, network) for program in _PROGRAMS for network in _NETWORKS if (program, network) not in _TOO_LONG]
_PAIRS_LAST_S, _MOST_PAIRS = 30, 4


@dataclass(frozen=True)
class Job:
    loop: Loop
    mpi: str
    length_s: float  # natively, about


def bars(commit_hash: str) -> list[Bar]:
    jobs = drawn_jobs(commit_hash)
    return [Bar(f"lengths-{number + 1}", f"first and second runs of {_JOBS // _BARS} programs of 1 to 300 s", 30,
                lambda part=jobs[number::_BARS]: findings(_rows(part))) for number in range(_BARS)]


def drawn_jobs(commit_hash: str) -> list[Job]:
    """The shortest first."""
    draw = random.Random(f"{commit_hash}/lengths")
    least_s, most_s = _LENGTH_S
    jobs = []
    for number in range(_JOBS):
        length_s = least_s * (most_s / least_s) ** ((number + draw.random()) / _JOBS)
        program, network = draw.choice(_DRAWN_FROM)
        loop = Loop(f"{program}/{network}", load_preset(network), _PROGRAMS[program])
        jobs.append(Job(loop, MPIS[draw.randrange(len(MPIS))], length_s))
    return jobs


def _rows(jobs: Sequence[Job]) -> list[dict]:
    with steps(len(jobs)) as progress:
        return [_measured(job, progress) for job in jobs]


def _measured(job: Job, progress: Steps) -> dict:
    mpi = find_mpi(job.mpi)
    with bring_up(job.loop.network) as lab:
        count = loops.steps_for(job.loop, mpi, lab, job.length_s)
        pairs: list[dict] = []
        while len(pairs) < _wanted_pairs(pairs):
            progress.begin(f"{job.loop.name} on {mpi.title}, {count} steps, pair {len(pairs) + 1}")
            pairs.append(loops.run_pair(job.loop, mpi, lab, count, Plan(warm=True), backwards=len(pairs) % 2 == 1))
    progress.advance()
    row = {"name": f"{job.loop.name} {job.mpi}, {count} steps", "pairs": pairs, **_whole(pairs)}
    note(_line(row))
    return row


def _wanted_pairs(pairs: Sequence[dict]) -> int:
    """The shorter jobs are, the more a moment's noise is of them."""
    return 1 if not pairs else min(_MOST_PAIRS, round(_PAIRS_LAST_S / pairs[0][NATIVE]["whole_seconds"]))


def _whole(pairs: Sequence[dict]) -> dict:
    """Whole jobs against native ones, and shares of what could be won in the loops, by the means of all pairs."""
    def mean(arm: str, value: str = "seconds") -> float:
        return sum(pair[arm][value] for pair in pairs) / len(pairs)

    whole = {arm: mean(arm, "whole_seconds") / mean(NATIVE, "whole_seconds") for arm in (DEFAULT, WARM)}
    length_s, to_win_s = mean(NATIVE), mean(NATIVE) - mean(KNOWN)
    row = {"length_s": length_s, "to_win_s": to_win_s, "first": whole[DEFAULT], "second": whole[WARM],
           "first_share": None, "second_share": None, "formula": None, "cost_s": None}
    if to_win_s < loops.LEAST_TO_WIN * length_s:
        return row
    for name, arm in (("first_share", DEFAULT), ("second_share", WARM)):
        row[name] = (length_s - mean(arm)) / to_win_s
    made = [pair[DEFAULT]["investment"] for pair in pairs]
    if all(made):
        row["cost_s"] = sum(each["cost_s"] for each in made) / len(made)
        made_s = sum(each["made_s"] for each in made) / len(made)
        row["formula"] = 1 - made_s / length_s - row["cost_s"] / to_win_s
    return row


def _line(row: dict) -> str:
    shares = [f"{what} {row[key]:.2f}" for what, key in (
        ("share of the first", "first_share"), ("by the formula", "formula"), ("of the second", "second_share"))
        if row[key] is not None]
    return (f"{row['name']}: {row['length_s']:.1f} s natively, {row['to_win_s']:.1f} s to win; first"
            f" {row['first']:.2f} x, second {row['second']:.2f} x{''.join(f', {share}' for share in shares)}")


def findings(rows: Sequence[dict]) -> list[Finding]:
    found = []
    for what, key, limit in (("first", "first", FIRST_BAR), ("second", "second", SECOND_BAR)):
        worst = max(rows, key=lambda row: row[key])
        found.append(at_most(limit, f"{what} runs, whole jobs x native,", worst[key], where=worst["name"]))
    if made := [row for row in rows if row["formula"] is not None]:
        shortest = max(made, key=_short_of_formula)
        found.append(at_most(SHORT_OF_FORMULA, "share of a first run less than by its formula,",
                             _short_of_formula(shortest), where=shortest["name"]))
    long = [row for row in made if row["length_s"] > LONG_COSTS * row["cost_s"]]
    if long:
        least = min(long, key=lambda row: row["second_share"])
        found.append(at_least(SECOND_SHARE, "share of a second run,", least["second_share"], where=least["name"]))
    return found


def _short_of_formula(row: dict) -> float:
    return row["formula"] - row["first_share"]
