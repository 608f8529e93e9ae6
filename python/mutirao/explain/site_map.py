"""The hosts of a communicator in their sites, and a tree of their links."""

import math
from collections.abc import Iterator, Sequence
from html import escape

from mutirao.base.units import counted, duration
from mutirao.explain.trees import host_and_site, host_name
from mutirao.pages.svg import shape, text

_LABELLED = 70  # so long is a link that has room for its latency
_RADIUS = 10
_APART = 30  # hosts, along the circle
_LEAST_RADIUS = 90
_MARGIN = 60  # for the names of sites
_SITE_COLOURS = ("a3", "a4", "a5", "a6", "a7", "a8")  # of the style sheet

Place = tuple[float, float]


def _groups(communicator: dict) -> list[list[int]]:
    """The hosts of each site, or each by itself where there is but one site."""
    sites = communicator["sites"]
    if len(set(sites)) == 1:
        return [[host] for host in range(len(sites))]
    return [[host for host, its in enumerate(sites) if its == site] for site in sorted(set(sites))]


def site_map(communicator: dict, edges: Sequence[tuple[int, int]]) -> str:
    """All hosts on a circle, those of a site side by side; `edges`: the links between them that are drawn."""
    groups = _groups(communicator)
    slots = [slot for group in groups for slot in (None, *group)]  # None: a gap before each group
    radius = max(len(slots) * _APART / (2 * math.pi), _LEAST_RADIUS)
    middle = radius + _MARGIN

    def at(slot: float, distance: float) -> Place:
        angle = 2 * math.pi * slot / len(slots)
        return middle + distance * math.sin(angle), middle - distance * math.cos(angle)

    place = {host: at(slots.index(host), radius) for group in groups for host in group}
    words = f"Map of {counted(len(place), 'host')} in {counted(len(set(communicator['sites'])), 'site')}"
    parts = [f'<svg class="map" viewBox="0 0 {2 * middle:.0f} {2 * middle:.0f}" role="img"'
             f' style="max-width:{2 * middle:.0f}px" aria-label="{escape(words)}; the text below says the same">']
    for a, b in edges:
        what = f"{host_name(communicator, a)} to {host_name(communicator, b)}: "
        (x1, y1), (x2, y2) = place[a], place[b]
        parts.append(shape("line", "link", what + duration(communicator["latency_us"][a][b]), x1=x1, y1=y1, x2=x2, y2=y2))
    for host, (x, y) in sorted(place.items()):
        style = f"site {_SITE_COLOURS[communicator['sites'][host] % len(_SITE_COLOURS)]}"
        parts.append(shape("circle", style, host_and_site(communicator, host), cx=x, cy=y, r=_RADIUS))
        parts.append(text("in-site", x, y + 4, host))
    for group in groups if len(groups) < len(place) else ():
        half_way = slots.index(group[0]) + (len(group) - 1) / 2
        parts.append(text("country", *at(half_way, radius + _MARGIN / 2), f"site {communicator['sites'][group[0]]}"))
    return "\n".join([*parts, *_labels(communicator, edges, place), "</svg>"])


def _labels(communicator: dict, edges: Sequence[tuple[int, int]], place: dict[int, Place]) -> Iterator[str]:
    """Of the links between sites, or between hosts of the only one, that are long enough for one, and not over another."""
    sites = communicator["sites"]
    taken: list[Place] = []
    for a, b in edges:
        between = sites[a] != sites[b] or len(set(sites)) == 1
        x, y = (place[a][0] + place[b][0]) / 2, (place[a][1] + place[b][1]) / 2 + 4
        is_free = all(abs(x - other_x) >= _LABELLED or abs(y - other_y) >= 2 * _RADIUS for other_x, other_y in taken)
        if between and is_free and math.dist(place[a], place[b]) >= _LABELLED:
            taken.append((x, y))
            yield text("on-map", x, y, duration(communicator["latency_us"][a][b]))
