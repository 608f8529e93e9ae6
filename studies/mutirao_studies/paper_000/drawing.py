"""The map of the six sites: SVG coloured by the page's style sheet."""

import math

from mutirao.explain.site_map import circle
from mutirao.pages.svg import shape, text

# Outlines drawn by hand, as (longitude, latitude): to recognise, not to navigate.
_LAND = (
    # North and Central America
    "-130,62 -130,55 -124,48 -124,40 -117,32 -110,23 -105,20 -97,16 -92,14 -87,13 -83,8 -79,9"
    " -83,11 -83,15 -88,16 -87,21 -90,21 -91,18 -95,18 -97,22 -97,27 -94,29 -89,29 -84,30 -82,27"
    " -80,25 -80,27 -81,31 -76,35 -74,40 -70,42 -66,44 -60,46 -65,49 -57,51 -56,53 -62,58 -65,60"
    " -70,62 -78,62 -77,57 -79,51 -82,55 -92,57 -94,62",
    # South America
    "-77,8 -72,12 -62,11 -57,6 -51,4 -50,0 -44,-2 -37,-5 -35,-8 -39,-13 -39,-18 -41,-22 -45,-23"
    " -48,-26 -49,-29 -53,-34 -57,-36 -58,-38 -62,-39 -65,-42 -73,-42 -73,-37 -71,-30 -70,-18"
    " -76,-14 -81,-6 -80,-2 -80,1 -77,4",
    # Africa
    "-17,15 -16,21 -13,28 -10,31 -6,36 0,36 10,37 11,34 19,30 22,33 29,31 34,31 33,28 37,21 39,15"
    " 43,11 51,12 48,5 42,-1 39,-7 40,-15 35,-20 35,-24 32,-27 28,-33 20,-35 18,-32 15,-27 12,-17"
    " 13,-11 9,-1 9,4 4,6 -4,5 -8,4 -13,8",
    # Europe and Asia
    "-9,37 -9,43 -2,43 -1,47 -5,48 2,51 8,54 8,57 11,54 20,54 22,58 29,60 23,60 22,62 150,62"
    " 150,59"
    " 143,59 135,55 140,52 138,46 132,43 129,41 127,39 129,36 126,34 126,37 121,39 118,39 122,37"
    " 119,35 122,31 120,26 115,23 108,21 106,19 109,12 105,9 102,12 100,13 99,9 103,2 101,3 98,9"
    " 97,16 94,16 91,22 87,21 80,15 80,11 77,8 74,15 72,21 67,25 57,26 51,29 48,30 51,25 56,25"
    " 59,22"
    " 55,17 45,13 43,13 39,21 35,28 34,31 36,36 30,36 27,37 26,40 24,40 23,38 21,37 19,41 13,45"
    " 12,44"
    " 18,40 16,38 15,40 12,42 9,44 3,43 0,40 -2,37 -5,36",
    "5,62 5,59 8,58 11,59 12,56 16,57 18,60 17,62",  # Scandinavia
    "-5,50 1,51 0,53 -2,56 -3,58 -5,57 -3,54 -5,52",  # Great Britain
    "131,33 135,34 140,35 141,39 141,41 139,39 136,37 132,35",  # Japan
    "114,-22 122,-18 130,-12 137,-12 136,-15 140,-17 142,-11 146,-19 150,-23 150,-37 144,-38"
    " 138,-35 131,-31 124,-33 115,-34",  # Australia
    "95,5 106,-6 102,-4", "109,1 117,7 118,1 115,-4 110,-3", "105,-7 114,-8 114,-7",  # Indonesia
    "131,-1 141,-2 147,-6 150,-10 143,-9 138,-8 133,-4", "44,-17 50,-14 47,-25 44,-24",
)
# Where a site may be: the paper names countries only.
_PLACES = {"S0": (-45, -25), "S3": (-55, -14), "S5": (-37, -5), "S1": (-75, 42), "S4": (-100, 33),
           "S2": (113, 32)}
_COUNTRIES = {"Brazil": ("S0", "S3", "S5"), "USA": ("S1", "S4"), "China": ("S2",)}
_COUNTRY_LABELS = {"Brazil": (-64, -21), "USA": (-108, 44), "China": (104, 26)}
_WEST, _NORTH, _SCALE = -132.0, 64.0, 3.5


def world_map(network: dict) -> str:
    """All links thin, those of the spanning tree thick and with their round trip."""
    sites, trips = network["sites"], network["round_trip_ms"]
    chosen = {frozenset(link) for link in network["spanning_tree"]}
    parts = ['<svg class="map world" viewBox="0 0 990 376" role="img">']
    parts += [shape("polygon", "land", points=_polygon(outline)) for outline in _LAND]
    parts += [text("country", *_project(*place), country) for country, place in _COUNTRY_LABELS.items()]
    links = [(a, b) for a in range(len(sites)) for b in range(a)]
    labels = []
    for a, b in sorted(links, key=lambda link: frozenset(link) in chosen):
        in_tree = frozenset((a, b)) in chosen
        path, (x, y) = _arc(_place(sites[a]), _place(sites[b]))
        parts.append(shape("path", "link tree" if in_tree else "link",
                           f"{sites[a]} to {sites[b]}: {trips[a][b]:g} ms", d=path))
        if in_tree:
            labels.append(text("on-map", x, y, f"{trips[a][b]:g} ms"))
    for number, site in enumerate(sites):
        x, y = _place(site)
        hosts = [host for host, its in enumerate(network["site_of"]) if its == number]
        country = next(name for name, its in _COUNTRIES.items() if site in its)
        parts.append(circle(number, x, y, 13, site,
                             f"{site}, {country}: hosts {hosts[0]} to {hosts[-1]}"))
    return "\n".join([*parts, *labels, "</svg>"])


def _project(longitude: float, latitude: float) -> tuple[float, float]:
    return (longitude - _WEST) * _SCALE, (_NORTH - latitude) * _SCALE


def _place(site: str) -> tuple[float, float]:
    return _project(*_PLACES[site])


def _polygon(outline: str) -> str:
    points = (tuple(map(float, point.split(","))) for point in outline.split())
    return " ".join("{:.0f},{:.0f}".format(*_project(*point)) for point in points)


def _arc(a: tuple[float, float], b: tuple[float, float]) -> tuple[str, tuple[float, float]]:
    """A curve that bows upwards, and where its label goes: beside it, to the left or above."""
    (ax, ay), (bx, by) = sorted((a, b))
    x, y = (ax + bx) / 2, (ay + by) / 2 - 0.16 * (bx - ax)
    length = math.hypot(bx - ax, by - ay)
    to_left, down = -abs(by - ay) / length, (bx - ax) / length * (1 if by > ay else -1)
    beside = 12 - 28 * to_left
    return (f"M{ax:.0f} {ay:.0f}Q{x:.0f} {y:.0f} {bx:.0f} {by:.0f}",
            ((ax + 2 * x + bx) / 4 + beside * to_left, (ay + 2 * y + by) / 4 + beside * down + 4))
