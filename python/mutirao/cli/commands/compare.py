"""`mutirao compare`: is a program faster with mutirao than natively, and how sure is that?

Runs take turns, each side first in every other pair (A B, B A, ...), so that a machine that gets slower or
faster meanwhile favours neither. The first pair begins with mutirao: what is slow at first flatters it not.
What disturbs both runs of a pair alike cancels in their ratio, so that is what is judged: the logarithms of
the ratios, as a sample of one mean, by Student's t.
"""

import argparse
import itertools
import math
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from mutirao.base.errors import Failure, UsageError, check_range
from mutirao.base.output import note, print_json, print_lines, show_for_now
from mutirao.base.paths import job_folder
from mutirao.base.progress import Steps, steps
from mutirao.base.tables import text_table
from mutirao.base.units import counted
from mutirao.explain.report_file import keep_for_explain, with_file
from mutirao.measure.circumstances import Circumstances, busy_remarks
from mutirao.measure.intervals import Ratio, ratio_of_pairs
from mutirao.run.job import Placed, add_arguments, job_of
from mutirao.run.launch import CompletedRun

_MOST_PAIRS = 1000
_INTERRUPTED = 130
_UNSEEN = "Mutirao saw no collective call: is it an MPI program, and of this MPI library?"

# Of 20 comparisons of a program with itself one at most is to find a difference, and of 20 programs that are 5% faster,
# in 8 pairs of runs that differ by 2% (standard deviation), 18 at least are to be found. An interval of 95% errs in one
# of 20 by its definition, so 20 comparisons would often hold two; one of 99% finds too few (86%). At 97% it is 3% and
# 96%, and other noise than the normal one makes fewer false finds; tests/cli/test_compare.py proves it.
CONFIDENCE = 0.97
USUAL_PAIRS = 8
# A smaller difference is none to speak of, however sure it is.
LEAST_DIFFERENCE = 0.005
# What a user would want to know of, and how surely the pairs that are advised find it.
WORTH_FINDING, FOUND_OF_100 = 0.03, 90
NATIVELY, WITH_MUTIRAO = "natively", "with mutirao"


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "compare", parents=[common], help="run a program natively and with mutirao, in turns, and say which is faster",
        usage="mutirao compare [-n N] [--runs K] [--warmup N] [--warm] [--mpi NAME] [--lab NETWORK]\n"
        "                       [--set NAME=VALUE ...] [--] PROGRAM [ARGUMENT ...]",
        description="Runs the program natively and with mutirao in turns, and says which is faster, by the"
        " time from launch to end. Each run with mutirao begins as if it were the first of its kind ever:"
        " with an empty profile. With --warm it begins with what runs before it learned.")
    parser.add_argument("--runs", type=int, default=USUAL_PAIRS, metavar="K",
                        help=f"of each, in turns; default: {USUAL_PAIRS}")
    parser.add_argument("--warmup", type=int, default=0, metavar="N",
                        help="runs of each that are not counted, first; default: 0")
    parser.add_argument("--warm", action="store_true",
                        help="keep one profile for all runs with mutirao; one run to fill it is not counted")
    parser.add_argument("--show-output", action="store_true",
                        help="show what the program prints; default: only the errors of a run that fails")
    add_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments) -> int:
    _check(arguments)
    job = job_of(arguments, summary=False)
    if arguments.warm and "profile" in job.settings:
        raise UsageError(f"--warm: the setting profile is {job.settings['profile']}, which all runs share; leave"
                         " one of them out")
    if not job.mpi.built:
        raise Failure(job.mpi.missing)
    circumstances = Circumstances("compare", False, [job.mpi.name])
    with job.placed() as placed, job_folder() as folder:
        measured = Measured(placed, arguments, Path(folder))
        interrupted = not measured.run_all()
    comparison = measured.comparison
    if interrupted:
        note(f"interrupted after {comparison.pairs} of {counted(arguments.runs, 'pair')}")
    if comparison.pairs:
        warned = [*warnings(comparison), *([] if measured.seen else [_UNSEEN]),
                  *busy_remarks(circumstances.to_dict())]
        if arguments.json:
            print_json({**_as_dict(comparison), "warnings": warned, "interrupted": interrupted,
                        "profile": job.settings.get("profile", "warm" if arguments.warm else "fresh"),
                        "mpi": job.mpi.name, "ranks": placed.ranks,
                        "program": job.argv, **circumstances.to_dict()})
        else:
            _print(comparison, warned, measured.next_line())
    return _INTERRUPTED if interrupted else 0


def _check(arguments) -> None:
    check_range("--runs", arguments.runs, 1, _MOST_PAIRS)
    check_range("--warmup", arguments.warmup, 0, _MOST_PAIRS)
    if arguments.show_output and arguments.json:
        raise UsageError("--show-output: with --json nothing else is printed; leave one of them out")
    if "libmutirao" in os.environ.get("LD_PRELOAD", ""):
        raise UsageError("LD_PRELOAD brings mutirao into native runs, too (by mutirao env or a module?):"
                         " unset LD_PRELOAD")


@dataclass(frozen=True)
class Comparison:
    """Seconds of the runs, pair by pair."""

    native_s: Sequence[float]
    mutirao_s: Sequence[float]

    @property
    def pairs(self) -> int:
        return len(self.native_s)

    @property
    def ratio(self) -> Ratio:
        """How many times as fast; one pair has no interval."""
        return ratio_of_pairs(list(zip(self.native_s, self.mutirao_s, strict=True)), CONFIDENCE)

    @property
    def spread(self) -> float:
        """Of the log ratios: their standard deviation."""
        return statistics.stdev(math.log(native / ours) for native, ours in
                                zip(self.native_s, self.mutirao_s, strict=True))

    @property
    def verdict(self) -> str:
        """One word of it."""
        ratio = self.ratio
        if ratio.low is None:
            return "unknown"
        clear = not ratio.low <= 1 <= ratio.high and abs(ratio.value - 1) >= LEAST_DIFFERENCE
        return ("faster" if ratio.value > 1 else "slower") if clear else "as fast as"


def verdict_line(comparison: Comparison) -> str:
    ratio = comparison.ratio
    if ratio.low is None:
        return (f"{WITH_MUTIRAO} {ratio.value:.2f} times as fast as {NATIVELY} in a single pair of"
                " runs: how sure that is, is not known")
    if comparison.verdict == "as fast as":
        return f"{WITH_MUTIRAO} as fast as {NATIVELY} ({ratio} times)"
    shown, what = (ratio, "fast") if comparison.verdict == "faster" else (ratio.inverse, "slow")
    return f"{WITH_MUTIRAO} {shown} times as {what} as {NATIVELY}"


def warnings(comparison: Comparison) -> Iterator[str]:
    """What hides the answer, and what to do."""
    if comparison.pairs == 1:
        yield f"One pair of runs gives no interval: --runs {USUAL_PAIRS} does"
    elif comparison.verdict == "as fast as" and comparison.pairs < (needed := pairs_needed(comparison.spread)):
        # A few pairs do not tell how far runs differ.
        advice = f"--runs {max(needed, USUAL_PAIRS)}" if needed <= _MOST_PAIRS else f"not even --runs {_MOST_PAIRS}"
        yield (f"A difference can hide in the noise of so few runs: {advice} would show one of {WORTH_FINDING:.0%}, and"
               " fewer on a quieter machine")


def pairs_needed(spread: float) -> int:
    """To find what is worth finding in FOUND_OF_100 of 100 comparisons, where log ratios have this standard deviation:
    by the normal distribution, with Guenther's correction (1981) for Student's t."""
    sure, found = map(statistics.NormalDist().inv_cdf, ((1 + CONFIDENCE) / 2, FOUND_OF_100 / 100))
    return math.ceil(((sure + found) * spread / math.log1p(WORTH_FINDING)) ** 2 + sure ** 2 / 2)


@dataclass
class Measured:
    """Runs, in turns, and what they took."""

    placed: Placed
    arguments: argparse.Namespace
    folder: Path  # for profiles
    times_s: dict[str, list[float]] = field(default_factory=lambda: {NATIVELY: [], WITH_MUTIRAO: []})
    last: CompletedRun | None = None  # with mutirao
    _profiles: Iterator[int] = field(default_factory=itertools.count)

    @property
    def comparison(self) -> Comparison:
        """Of the pairs that are whole."""
        pairs = min(map(len, self.times_s.values()))
        return Comparison(self.times_s[NATIVELY][:pairs], self.times_s[WITH_MUTIRAO][:pairs])

    def run_all(self) -> bool:
        """False: Ctrl-C ended that."""
        pairs = self.arguments.runs
        uncounted = [WITH_MUTIRAO, NATIVELY] * self.arguments.warmup or [WITH_MUTIRAO] * self.arguments.warm
        total = len(uncounted) + 2 * pairs
        with nullcontext(Steps(total)) if self.arguments.show_output else steps(total) as progress:
            try:
                for side in uncounted:
                    self._run(side, "not counted", progress)
                for pair in range(pairs):
                    self._run_pair(pair, progress)
            except KeyboardInterrupt:
                return False
        return True

    @property
    def seen(self) -> bool:
        """By mutirao, which leaves a report of it."""
        return self.last is not None and self.last.report is not None

    def next_line(self) -> str:
        if self.seen:
            explain = with_file("mutirao explain", self.arguments.report)
            return f"What ran in the last run with mutirao, and why: {explain}"
        return "What mutirao finds here: mutirao doctor"

    def _run_pair(self, pair: int, progress: Steps) -> None:
        order = [NATIVELY, WITH_MUTIRAO] if pair % 2 else [WITH_MUTIRAO, NATIVELY]
        for side in order:
            self.times_s[side].append(self._run(side, f"pair {pair + 1} of {self.arguments.runs}", progress))
        took = ", ".join(f"{side} {times_s[-1]:.3f} s" for side, times_s in self.times_s.items())
        note(f"pair {pair + 1} of {self.arguments.runs}: {took}")

    def _run(self, side: str, which: str, progress: Steps) -> float:
        """Seconds that it took."""
        progress.begin(f"{which}, {side}")
        native, show = side == NATIVELY, self.arguments.show_output
        finished = self.placed.run(native, self._profile(), capture=show, discard=not show,
                                   on_line=print if show else None)
        if show or finished.returncode:
            show_for_now("")
            sys.stderr.write(finished.errors)
        if not native:
            self.last = finished
            keep_for_explain(finished.report, self.placed.job.argv, finished.returncode)
        if finished.returncode:
            raise Failure(f"{which}, {side}: the program failed with exit code {finished.returncode}, so there is"
                          " nothing to compare")
        progress.advance()
        return finished.seconds

    def _profile(self) -> dict[str, str]:
        """Empty for each run, or for the first of them; one that the user named is left as it is."""
        if "profile" in self.placed.job.settings:
            return {}
        number = 0 if self.arguments.warm else next(self._profiles)
        return {"profile": str(self.folder / f"profile-{number}.db")}


def _print(comparison: Comparison, warned: Sequence[str], next_line: str) -> None:
    print_lines([verdict_line(comparison), ""])
    print(text_table(("", "runs", "mean", "sd", "min", "max"),
                     [(side, len(times_s), *map(_seconds, _figures(times_s).values()))
                      for side, times_s in ((NATIVELY, comparison.native_s), (WITH_MUTIRAO, comparison.mutirao_s))]))
    if comparison.pairs > 1:
        print_lines(["", f"±: {CONFIDENCE:.0%} interval of the ratio, from {comparison.pairs} pairs of runs"])
    print_lines(["", *(f"Warning: {line}" for line in warned)] if warned else [])
    print_lines(["", next_line])


def _seconds(value_s: float | None) -> str:
    return "" if value_s is None else f"{value_s:.3f} s"


def _figures(times_s: Sequence[float]) -> dict[str, float | None]:
    return {"mean_s": statistics.fmean(times_s), "sd_s": statistics.stdev(times_s) if len(times_s) > 1 else None,
            "min_s": min(times_s), "max_s": max(times_s)}


def _as_dict(comparison: Comparison) -> dict:
    ratio = comparison.ratio
    return {"verdict": comparison.verdict, "times_as_fast": ratio.value, "low": ratio.low, "high": ratio.high,
            "confidence": CONFIDENCE, "pairs": comparison.pairs,
            **{name: {"seconds": list(times_s), **_figures(times_s)}
               for name, times_s in (("native", comparison.native_s), ("with_mutirao", comparison.mutirao_s))}}
