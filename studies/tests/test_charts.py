"""Bars behind numbers, and lines as SVG: as long and as far apart as what they stand for."""

import re

import pytest

from made_up import circumstances
from mutirao.base.tables import Table
from mutirao_studies.document import Document, Drawn, Section
from mutirao_studies.line_chart import Line, Point, line_chart
from shown import shown


def test_bars_are_as_long_as_their_numbers():
    """All of a table on one scale; what is no number, or of another kind, has none."""
    table = Table("times", ("", "one", "two", "x"), [("a", "40.0", "10.0", "99"), ("b", "-", "20.0", "")])
    _, page = shown(Document("a", "b", circumstances("c"), [Section("d", [Drawn(table, range(1, 3))])]), "40.0", "99")
    assert "td.bar {" in page
    assert re.findall(r"--share: ([\d.]+)%\">([\d.]+)<", page) == [("100.0", "40.0"), ("25.0", "10.0"), ("50.0", "20.0")]


def test_lines_on_logarithmic_axes():
    """Ten times longer is one step up, twice as many bytes one step to the right."""
    svg = line_chart([Line("x", "l0", [Point(1, 1), Point(2, 10, (9, 11)), Point(4, 100, (9, 200))])])
    curve = svg.partition('class="curve l0" d="M')[2].partition('"')[0]
    (ax, ay), (bx, by), (cx, cy) = (map(float, pair.split(",")) for pair in curve.split("L"))
    assert bx - ax == pytest.approx(cx - bx, abs=0.2) and ay - by == pytest.approx(by - cy, abs=0.2)
    assert ax < bx and ay > by
