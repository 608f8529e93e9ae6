"""The hosts of a communicator in their sites, and a tree of their links."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from mutirao.base.units import counted, duration
from mutirao.explain.trees import host_and_site, host_name
from mutirao.pages.svg import shape, text

_MOST_LINKED = 24
_LABELLED = 70  # so long is a link that has room for its latency
_RADIUS = 10
_SITE_COLOURS = 6  # of the style sheet

Place = tuple[float, float]


@dataclass(frozen=True)
class Group:
    """Hosts that are drawn together: those of a site, or each alone where there is but one site."""

    title: str
    site: int
    hosts: Sequence[int]

    @property
    def radius(self) -> float:
        count = len(self.hosts)
        return 0 if count == 1 else 1.25 * _RADIUS / math.sin(math.pi / count)

    def place(self, number: int, centre: Place) -> Place:
        """In a ring."""
        angle = 2 * math.pi * number / len(self.hosts)
        return centre[0] + self.radius * math.sin(angle), centre[1] - self.radius * math.cos(angle)


def groups_of(communicator: dict) -> list[Group]:
    sites = communicator["sites"]
    if len(set(sites)) == 1:
        return [Group(host_name(communicator, host), site, [host]) for host, site in enumerate(sites)]
    return [Group(f"site {site}", site, [host for host, its in enumerate(sites) if its == site])
            for site in sorted(set(sites))]


def least_us(latency_us: Sequence[Sequence], a: Group, b: Group) -> float | None:
    """Of the links between their hosts; None: all are unusable."""
    known = [latency_us[low][high] for low in a.hosts for high in b.hosts
             if latency_us[low][high] is not None]
    return min(known, default=None)


def site_map(communicator: dict, edges: Sequence[tuple[int, int]]) -> str:
    """`edges`: the links that are drawn thick."""
    groups = _beside_neighbours(groups_of(communicator), edges)
    latency_us = communicator["latency_us"]
    centres, width, height = _centres(groups)
    place = {host: group.place(number, centre)
             for group, centre in zip(groups, centres, strict=True)
             for number, host in enumerate(group.hosts)}
    parts = [f'<svg class="map" viewBox="0 0 {width:.0f} {height:.0f}" role="img"'
             f' style="max-width:{width:.0f}px"'
             f' aria-label="{escape(_in_words(communicator))}">']
    if len(groups) <= _MOST_LINKED:
        parts += [_line("link", centres[a], centres[b],
                        f"{groups[a].title} to {groups[b].title}: "
                        + duration(least_us(latency_us, groups[a], groups[b])))
                  for a in range(len(groups)) for b in range(a)]
    parts += [_line("link tree", place[a], place[b],
                    f"{host_name(communicator, a)} to {host_name(communicator, b)}: {duration(latency_us[a][b])}")
              for a, b in edges]
    for group, centre in zip(groups, centres, strict=True):
        parts += _group(communicator, group, centre, place, (width / 2, height / 2))
    return "\n".join([*parts, *_labels(communicator, edges, groups, place), "</svg>"])


def _beside_neighbours(groups: Sequence[Group], tree: Sequence) -> list[Group]:
    """In the order of a walk along the tree, so that its links cross little."""
    group_of = {host: number for number, group in enumerate(groups) for host in group.hosts}
    neighbours: dict[int, list[int]] = {}
    for a, b in tree:
        neighbours.setdefault(group_of[a], []).append(group_of[b])
        neighbours.setdefault(group_of[b], []).append(group_of[a])
    order: dict[int, None] = {}
    stack = list(reversed(range(len(groups))))
    while stack:
        number = stack.pop()
        if number not in order:
            order[number] = None
            stack += neighbours.get(number, ())
    return [groups[number] for number in order]


def _centres(groups: Sequence[Group]) -> tuple[list[Place], float, float]:
    """On an ellipse, with room for titles around it; and the size of all."""
    radius = max(group.radius for group in groups)
    beside = 26 if len(groups) > _MOST_LINKED else 45 if radius == 0 else 90
    high = max(len(groups) * (2 * radius + beside) / (2 * math.pi), 150)
    angles = [2 * math.pi * (number + 0.5) / len(groups) for number in range(len(groups))]
    centres = [(1.5 * high * math.sin(angle), -high * math.cos(angle)) for angle in angles]
    # Two sites are side by side and need no more height than one.
    left, top = min(x for x, _ in centres), min(y for _, y in centres)
    margin = radius + 40
    placed = [(x - left + margin, y - top + margin) for x, y in centres]
    return placed, max(x for x, _ in placed) + margin, max(y for _, y in placed) + margin


def _line(style: str, a: Place, b: Place, what: str) -> str:
    return shape("path", style, what, d=f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}")


def _group(communicator: dict, group: Group, centre: Place, place: dict[int, Place], middle: Place) -> list[str]:
    parts = [circle(group.site % _SITE_COLOURS, *place[host], _RADIUS, host,
                    host_and_site(communicator, host)) for host in group.hosts]
    if len(group.hosts) > 1:
        above = centre[1] <= middle[1]
        beside = group.radius + _RADIUS
        y = centre[1] - beside - 6 if above else centre[1] + beside + 16
        parts.append(text("country", centre[0], y, group.title))
    return parts


def circle(site: int, x: float, y: float, radius: int, inside: object, what: str) -> str:
    return shape("circle", f"site s{site}", what, cx=x, cy=y, r=radius) + text("in-site", x, y + 4, inside)


def _labels(communicator: dict, edges: Sequence[tuple[int, int]], groups: Sequence[Group],
            place: dict[int, Place]) -> Iterator[str]:
    """Of the links between groups that are long enough for one, unless they crowd."""
    group_of = {host: group.title for group in groups for host in group.hosts}
    for a, b in edges if len(groups) <= _MOST_LINKED else ():
        if group_of[a] != group_of[b] and math.dist(place[a], place[b]) >= _LABELLED:
            yield text("on-map", (place[a][0] + place[b][0]) / 2, (place[a][1] + place[b][1]) / 2 + 4,
                       duration(communicator["latency_us"][a][b]))


def _in_words(communicator: dict) -> str:
    """For who cannot see it."""
    sites = len(set(communicator["sites"]))
    hosts = counted(len(communicator["sites"]), "host")
    return f"Map of {hosts} in {counted(sites, 'site')}; the text below says the same"
