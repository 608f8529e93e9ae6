"""Recorded round trips over time: slice after slice, the latency of every link.

A trace is a NumPy archive with an array of slices x hosts x hosts, or a CSV file with a line per
measurement. Both may hold two round trips of a link in one slice, one measured from each end.

A small one is made from a seed: hosts in three sites whose links do what links do. All scatter; some get several
times worse for a while and recover; some show a single wild measurement; a site's links to another get worse
together; one link carries nothing for a while.
"""

import csv
import math
import random
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from zipfile import BadZipFile

from mutirao.base.errors import Failure, UsageError, did_you_mean, unknown
from mutirao.base.user_files import read_text

MOST_HOSTS = 1000
MOST_ROUND_TRIP_MS = 3_600_000
MADE_UP = "three-sites"  # made when it is asked for

# What becomes of the two round trips of a link: measured from its lower and its higher host.
ROUND_TRIPS: dict[str, Callable[[float, float], float]] = {
    "least": min,
    "owner": lambda lower, higher: lower,
    "mean": lambda lower, higher: (lower + higher) / 2,
    "greatest": max,
}

# Array names end in their unit.
_UNITS_US = {"us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass
class Trace:
    name: str
    hosts: list[str]
    # One way in us, of the links 0-1, 0-2, .. 1-2, ..; inf: nothing gets through; nan: not measured
    slices: list[list[float]]

    def tool_lines(self) -> Iterator[str]:
        """As `mutirao-studies replay` reads it."""
        yield f"hosts {len(self.hosts)}"
        for latencies_us in self.slices:
            yield "slice " + " ".join("-" if math.isnan(us) else f"{us:.10g}"
                                      for us in latencies_us)


def load_trace(name: str, array: str | None = None, round_trip: str = "least") -> Trace:
    """A name with a slash or a suffix is a file, anything else the trace that mutirao makes up."""
    path = Path(name)
    made_up = "/" not in name and not path.suffix
    if made_up and name != MADE_UP:
        raise unknown("trace", name, [MADE_UP], "; or a .npz or .csv file")
    if not made_up and not path.is_file():
        raise UsageError(f"{name}: {'not a file' if path.exists() else 'no such file'}")
    if not made_up and path.suffix not in (".npz", ".csv"):
        raise UsageError(f"{name}: a trace is a .npz or a .csv file")
    if array is not None and path.suffix != ".npz":
        raise UsageError(f"--array {array}: {name} is not a NumPy archive")
    if path.suffix == ".npz":
        hosts, slices = _read_npz(path, array)
    else:
        hosts, slices = _read_csv(path, "".join(made_trace_csv(seed=1)) if made_up else read_text(path))
    return Trace(path.stem, hosts, [_links(matrix, ROUND_TRIPS[round_trip]) for matrix in slices])


def _links(matrix: Sequence[Sequence[float]], combine) -> list[float]:
    """One way, of each link once: half of its round trip."""
    count = len(matrix)
    return [_one_round_trip(matrix[low][high], matrix[high][low], combine) / 2
            for low in range(count) for high in range(low + 1, count)]


def _one_round_trip(lower: float, higher: float, combine) -> float:
    """Where one end did not measure, the other's counts."""
    if math.isnan(lower) or math.isnan(higher):
        return higher if math.isnan(lower) else lower
    return combine(lower, higher)


def _read_npz(path: Path, wanted: str | None) -> tuple[list[str], list[list[list[float]]]]:
    try:
        import numpy
    except ImportError:
        raise Failure(f"{path}: reading NumPy archives needs NumPy") from None
    try:
        archive = numpy.load(path, allow_pickle=False)
        names = list(archive.files)
    except (OSError, ValueError, AttributeError, EOFError, BadZipFile):
        raise UsageError(f"{path}: is not a NumPy archive (.npz)") from None
    if wanted is not None and wanted not in names:
        raise UsageError(f"{path}: no array '{wanted}'{did_you_mean(wanted, names)}"
                         f" (known: {', '.join(names)})")
    try:
        arrays = {name: archive[name] for name in ([wanted] if wanted else names)}
    except (OSError, ValueError, EOFError, BadZipFile, zlib.error) as error:
        raise UsageError(f"{path}: {error}") from None
    for name, values in arrays.items():
        if values.ndim == 3 and values.shape[1] == values.shape[2] and values.dtype.kind in "iuf":
            return _matrices(numpy, path, name, values)
    raise UsageError(f"{path}: no array of slices x hosts x hosts in it")


def _matrices(numpy, path: Path, name: str, values):
    unit = name.rpartition("_")[2]
    if unit not in _UNITS_US:
        raise UsageError(f"{path}: the array's name '{name}' must end in its unit:"
                         f" {', '.join(f'_{each}' for each in _UNITS_US)}")
    slices, count = values.shape[:2]
    _check_host_count(path, count)
    if slices == 0:
        raise UsageError(f"{path}: the array '{name}' has no slice")
    latencies = values.astype(float) * _UNITS_US[unit]
    latencies[latencies < 0] = numpy.nan
    return [str(host) for host in range(count)], latencies.tolist()


def _check_host_count(path: Path, count: int) -> None:
    if not 2 <= count <= MOST_HOSTS:
        raise UsageError(f"{path}: {count} hosts; a trace has 2..{MOST_HOSTS}")


def _read_csv(path: Path, text: str) -> tuple[list[str], list[list[list[float]]]]:
    rows = list(_csv_rows(path, text))
    if not rows:
        raise UsageError(f"{path}: no measurement in it")
    names = list(dict.fromkeys(host for _, *ends, _ in rows for host in ends))
    if all(re.fullmatch(r"\d+", name) for name in names):
        names.sort(key=int)
    _check_host_count(path, len(names))
    number = {name: host for host, name in enumerate(names)}
    slices: dict[str, list[list[float]]] = {}
    for slice_name, source, target, rtt_us in rows:
        if slice_name not in slices:
            slices[slice_name] = [[math.nan] * len(names) for _ in names]
        slices[slice_name][number[source]][number[target]] = rtt_us
    return names, list(slices.values())


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, str, str, float]]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1)
             if not line.startswith("#")]
    reader = csv.DictReader(line for _, line in lines)
    try:
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise UsageError(f"{path}: no column '{missing[0]}' (needed: {', '.join(COLUMNS)})")
        for row in reader:
            yield _csv_row(f"{path}, line {lines[reader.line_num - 1][0]}", row)
    except csv.Error as error:
        raise UsageError(f"{path}: is not a CSV file: {error}") from None


def _csv_row(where: str, row: dict) -> tuple[str, str, str, float]:
    slice_name, source, target, text = (str(row[name] or "").strip() for name in COLUMNS)
    if not (slice_name and source and target):
        raise UsageError(f"{where}: value missing")
    if source == target:
        raise UsageError(f"{where}: from {source} to itself")
    try:
        rtt_ms = float(text) if text else math.nan
    except ValueError:
        raise UsageError(f"{where}: '{text}' is not a number of milliseconds") from None
    if rtt_ms < 0:
        raise UsageError(f"{where}: a round trip cannot be negative ({text})")
    if MOST_ROUND_TRIP_MS < rtt_ms < math.inf:
        raise UsageError(f"{where}: a round trip of {text} ms; a trace's are up to {MOST_ROUND_TRIP_MS} ms, or inf"
                         " where nothing gets through")
    return slice_name, source, target, rtt_ms * 1e3


COLUMNS = ("slice", "from", "to", "rtt_ms")  # of a trace as CSV
SITE_HOSTS = 4
SITES = ("west", "east", "south")
SLICES = 40
# Between sites, and inside one.
_ROUND_TRIP_MS = {("west", "east"): 70.0, ("west", "south"): 180.0, ("east", "south"): 130.0}
_INSIDE_MS = 0.8
_SCATTER = 0.015

Link = tuple[str, str]


def made_trace_csv(seed: int) -> Iterator[str]:
    """The lines of a CSV file like those that are read here."""
    yield f"# made by mutirao replay --generate --seed {seed}\n"
    yield ",".join(COLUMNS) + "\n"
    made = _Made(random.Random(seed))
    for slice_number in range(SLICES):
        for link in made.links:
            yield f"{slice_number},{link[0]},{link[1]},{made.round_trip_ms(link, slice_number)}\n"


class _Made:
    def __init__(self, source: random.Random) -> None:
        self._source = source
        hosts = [f"{site}-{number}" for site in SITES for number in range(SITE_HOSTS)]
        self.links = list(combinations(hosts, 2))
        self._usual_ms = {link: self._usual(link) for link in self.links}
        # By how much a link is worse, by slice.
        self._factors: dict[tuple[Link, int], float] = {}
        self._single_links()
        self._sites_together()
        dead = source.choice(self._far_links())
        for slice_number in self._stretch(6, 10):
            self._factors[dead, slice_number] = math.inf

    def round_trip_ms(self, link: Link, slice_number: int) -> str:
        scatter = 1 + abs(self._source.gauss(0, _SCATTER))
        ms = self._usual_ms[link] * scatter * self._factors.get((link, slice_number), 1)
        return f"{ms:.2f}"

    def _usual(self, link: Link) -> float:
        sites = tuple(host.partition("-")[0] for host in link)
        between = _INSIDE_MS if sites[0] == sites[1] else _ROUND_TRIP_MS[sites]
        return between * self._source.uniform(1, 1.3)

    def _far_links(self) -> list[Link]:
        return [link for link in self.links if self._usual_ms[link] > 10]

    def _stretch(self, least: int, most: int) -> range:
        length = self._source.randint(least, most)
        begin = self._source.randint(2, SLICES - length)
        return range(begin, begin + length)

    def _single_links(self) -> None:
        for link in self._source.sample(self.links, len(self.links) // 4):
            factor = self._source.uniform(2, 12)
            for slice_number in self._stretch(4, 14):
                self._factors[link, slice_number] = factor
        for link in self._source.sample(self.links, len(self.links) // 4):
            self._factors[link, self._source.randrange(2, SLICES)] = self._source.uniform(3, 20)

    def _sites_together(self) -> None:
        for sites in (("west", "south"), ("east", "south")):
            factor = self._source.uniform(1.5, 4)
            for slice_number in self._stretch(5, 12):
                for link in self.links:
                    if tuple(host.partition("-")[0] for host in link) == sites:
                        self._factors[link, slice_number] = factor
