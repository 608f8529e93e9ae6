"""What the programs of bench/ping_pong print, and what is made of it: half a round trip each way, the
median with its interval, ratios of two of them."""

from collections.abc import Iterable, Sequence
from statistics import median

from mutirao.base.errors import Failure
from mutirao.measure.intervals import Ratio, median_interval

_MARK = "ping-pong"


def times_of(length_bytes: int, round_trips_ns: Sequence[int]) -> dict:
    """One way, in us; the first round trip stands apart. Between low_us and high_us the median lies with 95%."""
    first, *others = (nanoseconds / 2000 for nanoseconds in round_trips_ns)
    found = median_interval(others)
    times_us = {"first_us": first, "median_us": found.median, "low_us": found.low, "high_us": found.high}
    return {"length_bytes": length_bytes, "count": len(others),
            **{name: round(value, 4) for name, value in times_us.items()}}


def read_times(lines: Iterable[str], sizes: Sequence[int], trips: int) -> list[dict]:
    """Failure where a size is missing, or a round trip."""
    told = {}
    for line in lines:
        mark, _, values = line.partition(" ")
        if mark == _MARK:
            try:
                length_bytes, *nanoseconds = map(int, values.split())
            except ValueError:
                raise Failure(f"cannot read '{line[:60]}'") from None
            told[length_bytes] = nanoseconds
    for length_bytes in sizes:
        if len(told.get(length_bytes, ())) != trips:
            raise Failure(f"{len(told.get(length_bytes, ()))} of {trips} round trips of"
                          f" {length_bytes} bytes were told")
    return [times_of(length_bytes, told[length_bytes]) for length_bytes in sizes]


def ratio(of: dict, to: dict) -> Ratio:
    """Of two medians; as far apart as their intervals allow."""
    return Ratio(of["low_us"] / to["high_us"], of["median_us"] / to["median_us"], of["high_us"] / to["low_us"])


Rounds = Sequence[Sequence[dict]]  # of each round the times by size


def ratios(of: Rounds, to: Rounds) -> dict[int, Ratio]:
    """By size. What disturbs a machine for minutes meets both jobs of a round, so each round has a ratio
    of its own: told are the median of them, the least and the greatest."""
    by_size = {}
    for pairs in zip(*(zip(mine, theirs, strict=True)
                       for mine, theirs in zip(of, to, strict=True)), strict=True):
        each = [ratio(*pair) for pair in pairs]
        values = [one.value for one in each]
        by_size[pairs[0][0]["length_bytes"]] = each[0] if len(each) == 1 else Ratio(
            min(values), median(values), max(values))
    return by_size


def combined(rounds: Rounds) -> list[dict]:
    """By size the medians over the rounds, and between which values those of the rounds lie."""
    if len(rounds) == 1:
        return list(rounds[0])
    rows = []
    for times in zip(*rounds, strict=True):
        row = {name: median(one[name] for one in times) for name in times[0]}
        medians = [one["median_us"] for one in times]
        rows.append({**row, "length_bytes": times[0]["length_bytes"],
                     "count": sum(one["count"] for one in times),
                     "low_us": min(medians), "high_us": max(medians)})
    return rows
