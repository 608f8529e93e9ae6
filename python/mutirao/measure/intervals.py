"""How sure a median is, from a few samples of which nothing else is known, and a ratio of whole runs in pairs.

The median by order statistics, since times of collectives are far from normal (Hunold and Carpen-Amarie 2016,
doi:10.1109/TPDS.2016.2539167): of n samples so many lie below the median as heads fall in n tosses. A run of
seconds is a sum of many calls: there the logarithms of the ratios are taken as normal (Student's t), which says
something from two pairs on.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

WANTED_CONFIDENCE = 0.95
# The extremes of fewer samples hold the median less surely than that.
LEAST_SAMPLES = 6


@dataclass(frozen=True)
class Interval:
    low: float
    median: float
    high: float
    confidence: float  # that the median of all there could be lies inside

    def to_dict(self) -> dict:
        return asdict(self)


def median_interval(samples: Sequence[float]) -> Interval:
    """The narrowest between two order statistics that holds the median with at least 95%; all of the
    samples where they are too few for that."""
    ordered = sorted(samples)
    left_out = 0
    while 2 * (left_out + 1) < len(ordered) and _confidence(
            len(ordered), left_out + 1) >= WANTED_CONFIDENCE:
        left_out += 1
    return Interval(ordered[left_out], statistics.median(ordered), ordered[-1 - left_out],
                    _confidence(len(ordered), left_out))


def _confidence(samples: int, left_out: int) -> float:
    """Of the interval without so many samples on either side."""
    outside = sum(math.comb(samples, heads) for heads in range(left_out + 1)) / 2 ** samples
    return max(0.0, 1 - 2 * outside)


# Student's t for 95%, both sides, with 1, 2, ... degrees of freedom; more than that many count as the last.
_STUDENT_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
              2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
              2.045, 2.042)


@dataclass(frozen=True)
class Ratio:
    """A geometric mean of ratios and its 95% interval; that of a single one is unknown."""

    low: float | None
    value: float
    high: float | None

    def to_dict(self) -> dict:
        return asdict(self)


def ratio_of_pairs(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """Of the first over the second of each pair."""
    logs = [math.log(first / second) for first, second in pairs]
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return Ratio(None, math.exp(mean), None)
    freedom = min(len(logs) - 1, len(_STUDENT_T))
    half = _STUDENT_T[freedom - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return Ratio(math.exp(mean - half), math.exp(mean), math.exp(mean + half))
