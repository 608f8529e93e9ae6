"""Recorded round trips over time: slice after slice, the latency of every link.

A trace is a NumPy archive with an array of slices x hosts x hosts. Of two round trips of a link in one slice, one measured from each end, the smaller counts, which holds less waiting.

A small one is made up: hosts in three sites whose links do what links do. All scatter; some get several times worse for
a while and recover; some show a single wild measurement; a site's links to another get worse together; one link carries
nothing for a while.
"""

import math
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from zipfile import BadZipFile

from mutirao.base.errors import Failure, UsageError, unknown

MOST_HOSTS = 1000
MADE_UP = "three-sites"  # made when it is asked for
_UNITS_US = {"us": 1.0, "ms": 1e3, "s": 1e6}  # that array names end in


@dataclass
class Trace:
    name: str
    host_count: int
    # One way in us, of the links 0-1, 0-2, .. 1-2, ..; inf: nothing gets through; nan: not measured
    slices: list[list[float]]

    def tool_lines(self) -> Iterator[str]:
        """As `mutirao-studies replay` reads it."""
        for latencies_us in self.slices:
            yield " ".join(f"{us:.10g}" for us in latencies_us)


def load_trace(name: str) -> Trace:
    """A name with a slash or a suffix is a file, anything else the trace that mutirao makes up."""
    path = Path(name)
    if "/" not in name and not path.suffix:
        if name != MADE_UP:
            raise unknown("trace", name, [MADE_UP], "; or a .npz file")
        return made_up_trace()
    if not path.is_file():
        raise UsageError(f"{name}: {'not a file' if path.exists() else 'no such file'}")
    return _read(path)


def _read(path: Path) -> Trace:
    try:
        import numpy
    except ImportError:
        raise Failure(f"{path}: reading NumPy archives needs NumPy") from None
    try:
        archive = numpy.load(path, allow_pickle=False)
        arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, AttributeError, EOFError, BadZipFile, zlib.error):
        raise UsageError(f"{path}: is not a whole NumPy archive (.npz)") from None
    name, values = next(((name, values) for name, values in arrays.items() if values.ndim == 3
                         and values.shape[1] == values.shape[2] and values.dtype.kind in "iuf"), ("", None))
    if values is None or not len(values):
        raise UsageError(f"{path}: no array of slices x hosts x hosts in it")
    unit = name.rpartition("_")[2]
    if unit not in _UNITS_US:
        raise UsageError(f"{path}: the array's name '{name}' must end in its unit:"
                         f" {', '.join(f'_{each}' for each in _UNITS_US)}")
    count = values.shape[1]
    if not 2 <= count <= MOST_HOSTS:
        raise UsageError(f"{path}: {count} hosts; a trace has 2..{MOST_HOSTS}")
    round_trips_us = values.astype(float) * _UNITS_US[unit]
    round_trips_us[round_trips_us < 0] = numpy.nan
    least_us = numpy.fmin(round_trips_us, round_trips_us.transpose(0, 2, 1))
    low, high = numpy.triu_indices(count, 1)
    return Trace(path.stem, count, (least_us[:, low, high] / 2).tolist())


# --- the trace that is made up ---------------------------------------------------------------------------

_SITE_HOSTS = 4
_SITES = ("west", "east", "south")
_SLICES = 40
# Between sites, and inside one.
_ROUND_TRIP_MS = {("west", "east"): 70.0, ("west", "south"): 180.0, ("east", "south"): 130.0}
_INSIDE_MS = 0.8
_SCATTER = 0.015

Link = tuple[int, int]


def _sites_of(link: Link) -> tuple[str, ...]:
    return tuple(_SITES[host // _SITE_HOSTS] for host in link)


def made_up_trace() -> Trace:
    draw = random.Random(1)
    host_count = _SITE_HOSTS * len(_SITES)
    links = list(combinations(range(host_count), 2))
    usual_ms = {link: _ROUND_TRIP_MS.get(_sites_of(link), _INSIDE_MS) * draw.uniform(1, 1.3) for link in links}
    worse_by = _worse_by(draw, links, [link for link in links if usual_ms[link] > 10])

    def one_way_us(link: Link, number: int) -> float:
        scatter = 1 + abs(draw.gauss(0, _SCATTER))
        return round(usual_ms[link] * scatter * worse_by.get((link, number), 1), 2) * 500

    return Trace(MADE_UP, host_count, [[one_way_us(link, number) for link in links] for number in range(_SLICES)])


def _worse_by(draw: random.Random, links: list[Link], far_links: list[Link]) -> dict[tuple[Link, int], float]:
    """How many times as long a link's round trip is as usual, by slice."""
    def stretch(least: int, most: int) -> range:
        length = draw.randint(least, most)
        begin = draw.randint(2, _SLICES - length)
        return range(begin, begin + length)

    factors: dict[tuple[Link, int], float] = {}
    for link in draw.sample(links, len(links) // 4):
        factor = draw.uniform(2, 12)
        factors |= {(link, number): factor for number in stretch(4, 14)}
    for link in draw.sample(links, len(links) // 4):
        factors[link, draw.randrange(2, _SLICES)] = draw.uniform(3, 20)
    for sites in (("west", "south"), ("east", "south")):
        factor = draw.uniform(1.5, 4)
        factors |= {(link, number): factor for number in stretch(5, 12) for link in links if _sites_of(link) == sites}
    dead = draw.choice(far_links)
    return factors | {(dead, number): math.inf for number in stretch(6, 10)}
