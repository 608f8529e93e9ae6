"""How sure a median is, from a few samples of which nothing else is known.

By order statistics, since times of collectives are far from normal (Hunold and Carpen-Amarie 2016,
doi:10.1109/TPDS.2016.2539167): of n samples so many lie below the median as heads fall in n tosses.
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


