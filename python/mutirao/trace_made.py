"""Makes a small trace: hosts in three sites whose links do what links do, from a seed.

All links scatter; some get several times worse for a while and recover; some show a single wild
measurement; a site's links to another get worse together; one link carries nothing for a while.
"""

import math
import random
from collections.abc import Iterator
from itertools import combinations

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
    """The lines of a CSV file that trace.py reads."""
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
