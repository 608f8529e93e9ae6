"""Whether a program is faster with mutirao than natively, from the wall times of runs in pairs.

What disturbs both runs of a pair alike cancels in their ratio, so that is what is judged: the logarithms of
the ratios, as a sample of one mean, by Student's t. Of 20 comparisons of a program with itself one at most is
to find a difference, and of 20 programs that are 5% faster, in 8 pairs of runs that differ by 2% (standard
deviation), 18 at least are to be found. An interval of 95% errs in one of 20 by its definition, so 20
comparisons would often hold two; one of 99% finds too few (86%). At 97% it is 3% and 96%, and other noise than
the normal one makes fewer false finds; tests/cli/test_compare.py proves it.
"""

import math
import statistics
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mutirao.base.units import counted
from mutirao.measure.intervals import Ratio, half_width, ratio_of_pairs

CONFIDENCE = 0.97
USUAL_PAIRS = 8
# A smaller difference is none to speak of, however sure it is.
LEAST_DIFFERENCE = 0.005
# What a user would want to know of, and how surely the pairs that are advised find it.
WORTH_FINDING, FOUND_OF_100 = 0.03, 90
NATIVELY, WITH_MUTIRAO = "natively", "with mutirao"

_FEWEST_TO_SEE_OUTLIERS = 5
# Of a side's own spread, as the median deviation shows it, and at least so much of its median.
_OUTLIER_DEVIATIONS, _OUTLIER_LEAST = 5 * 1.4826, 0.1
_MOST_PAIRS_ADVISED = 1000


@dataclass(frozen=True)
class Comparison:
    """Seconds of the runs, pair by pair."""

    native_s: Sequence[float]
    mutirao_s: Sequence[float]

    @property
    def pairs(self) -> int:
        return len(self.native_s)

    @property
    def sides(self) -> dict[str, Sequence[float]]:
        return {NATIVELY: self.native_s, WITH_MUTIRAO: self.mutirao_s}

    @property
    def times_as_fast(self) -> float:
        return self._ratio.value

    def ratio(self) -> Ratio | None:
        """None: one pair has no interval."""
        return self._ratio if self.pairs > 1 else None

    @property
    def _ratio(self) -> Ratio:
        return ratio_of_pairs(list(zip(self.native_s, self.mutirao_s, strict=True)), CONFIDENCE)

    @property
    def spread(self) -> float:
        """Of the log ratios: their standard deviation."""
        return statistics.stdev(math.log(native / ours) for native, ours in
                                zip(self.native_s, self.mutirao_s, strict=True))

    @property
    def verdict(self) -> str:
        """One word of it."""
        ratio = self.ratio()
        if ratio is None:
            return "unknown"
        clear = not ratio.low <= 1 <= ratio.high and abs(ratio.value - 1) >= LEAST_DIFFERENCE
        return ("faster" if ratio.value > 1 else "slower") if clear else "as fast as"


def verdict_line(comparison: Comparison) -> str:
    ratio = comparison.ratio()
    if ratio is None:
        return (f"{WITH_MUTIRAO} {comparison.times_as_fast:.2f} times as fast as {NATIVELY} in a single pair of"
                " runs: how sure that is, is not known")
    if comparison.verdict == "as fast as":
        return f"{WITH_MUTIRAO} as fast as {NATIVELY} ({ratio} times)"
    shown = ratio if comparison.verdict == "faster" else ratio.inverse
    return f"{WITH_MUTIRAO} {shown} times {comparison.verdict} than {NATIVELY}"


def warnings(comparison: Comparison, warmed_up: bool) -> Iterator[str]:
    """What hides or bends the answer, and what to do."""
    if comparison.pairs == 1:
        yield f"One pair of runs gives no interval: --runs {USUAL_PAIRS} does"
    elif comparison.verdict == "as fast as":
        yield from _hidden_by_noise(comparison)
    for side, times_s in comparison.sides.items():
        yield from _outliers(side, times_s, warmed_up)


def pairs_needed(spread: float, difference: float = WORTH_FINDING) -> int | None:
    """To find so large a difference in FOUND_OF_100 of 100 comparisons, where log ratios have this standard
    deviation. None: too many for anybody."""
    counts = range(2, _MOST_PAIRS_ADVISED + 1)
    index = bisect_left(counts, -difference, key=lambda pairs: -_smallest_found(spread, pairs))
    return counts[index] if index < len(counts) else None


def _smallest_found(spread: float, pairs: int) -> float:
    """The relative difference that is found in FOUND_OF_100 of 100."""
    by_luck = statistics.NormalDist().inv_cdf(FOUND_OF_100 / 100) * spread / math.sqrt(pairs)
    return math.expm1(min(half_width(spread, pairs, CONFIDENCE) + by_luck, 99))


def _hidden_by_noise(comparison: Comparison) -> Iterator[str]:
    needed = pairs_needed(comparison.spread)
    if needed is not None and needed <= comparison.pairs:
        return
    found = _smallest_found(comparison.spread, comparison.pairs)
    hidden = f"of less than some {found:.0%}" if found < 1 else "of less than a multiple"
    # A few pairs do not tell how far runs differ.
    advice = f"--runs {max(needed, USUAL_PAIRS)} would" if needed else f"not even --runs {_MOST_PAIRS_ADVISED} would"
    yield (f"A difference {hidden} can hide in the noise of so few runs: {advice} show one of {WORTH_FINDING:.0%},"
           " and fewer on a quieter machine")


def _outliers(side: str, times_s: Sequence[float], warmed_up: bool) -> Iterator[str]:
    if len(times_s) < _FEWEST_TO_SEE_OUTLIERS:
        return
    median = statistics.median(times_s)
    deviation = statistics.median(abs(time_s - median) for time_s in times_s)
    limit = median + max(_OUTLIER_DEVIATIONS * deviation, _OUTLIER_LEAST * median)
    slow = [number for number, time_s in enumerate(times_s) if time_s > limit]
    if slow == [0] and not warmed_up:
        yield (f"The first run {side} took {times_s[0] / median:.1f} times as long as the others: --warmup 1"
               " leaves it out")
    elif slow:
        yield (f"{counted(len(slow), 'run')} of {len(times_s)} {side} took up to"
               f" {max(times_s) / median:.1f} times as long as the others: something else was at work; run"
               " it again on a quiet machine")
