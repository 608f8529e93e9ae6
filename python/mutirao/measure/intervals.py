"""How sure a median is, from a few samples of which nothing else is known, and a ratio of whole runs in pairs.

The median by order statistics, since times of collectives are far from normal (Hunold and Carpen-Amarie 2016,
doi:10.1109/TPDS.2016.2539167): of n samples so many lie below the median as heads fall in n tosses. A run of
seconds is a sum of many calls: there the logarithms of the ratios are taken as normal (Student's t), which says
something from two pairs on.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

WANTED_CONFIDENCE = 0.95
# The extremes of fewer samples hold the median less surely than that.
LEAST_SAMPLES = 6


@dataclass(frozen=True)
class Interval:
    low: float
    median: float
    high: float
    confidence: float  # that the median of all there could be lies inside

    def __str__(self) -> str:
        return f"{self.low:.2f}-{self.high:.2f}"


def median_interval(samples: Sequence[float], wanted: float = WANTED_CONFIDENCE) -> Interval:
    """The narrowest between two order statistics that holds the median with at least that confidence; all of the
    samples where they are too few for that."""
    ordered = sorted(samples)
    confidences = _confidences(len(ordered))
    left_out = max(sum(confidence >= wanted for confidence in confidences) - 1, 0)
    return Interval(ordered[left_out], statistics.median(ordered), ordered[-1 - left_out], confidences[left_out])


@cache
def _confidences(samples: int) -> list[float]:
    """Of the intervals without 0, 1, 2 and more samples on either side."""
    tails = accumulate(math.comb(samples, heads) for heads in range((samples + 1) // 2))
    return [max(0.0, 1 - 2 * tail / 2 ** samples) for tail in tails]


# --- ratios of runs in pairs --------------------------------------------------------------------------


@dataclass(frozen=True)
class Ratio:
    """A geometric mean of ratios and its interval; that of a single one is unknown."""

    low: float | None
    value: float
    high: float | None

    @property
    def inverse(self) -> "Ratio":
        return Ratio(1 / self.high, 1 / self.value, 1 / self.low)

    def __str__(self) -> str:
        """1.19 ± 0.03: no digit that the interval does not carry."""
        half = (self.high - self.low) / 2
        digits = min(max(math.ceil(-math.log10(half)), 1), 4) if half else 2
        return f"{self.value:.{digits}f} ± {half:.{digits}f}"


def ratio_of_pairs(pairs: Sequence[tuple[float, float]], confidence: float = WANTED_CONFIDENCE) -> Ratio:
    """Of the first over the second of each pair."""
    logs = [math.log(first / second) for first, second in pairs]
    middle = statistics.fmean(logs)
    if len(logs) < 2:
        return Ratio(None, math.exp(middle), None)
    half = student_t((1 + confidence) / 2, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    # Beyond this nobody can tell one number from another.
    return Ratio(*(math.exp(min(max(end, -99), 99)) for end in (middle - half, middle, middle + half)))


@cache
def student_t(probability: float, freedom: int) -> float:
    """The quantile, for probabilities above one half."""
    low, high = 0.0, 1.0
    while _within(high, freedom) < 2 * probability - 1:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 2 * probability - 1 else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """The probability of lying between -t and t: Abramowitz and Stegun 1964, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for power in range(2 + odd, freedom - 1, 2):
        term *= (power - 1) / power * cosine * cosine
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
