"""Bars and lines as SVG: as long and as far apart as what they stand for."""

import re
from xml.etree import ElementTree

import pytest

from mutirao_studies.chart import Bar, Group, bar_chart
from mutirao_studies.line_chart import Line, Point, line_chart


def test_bars_are_as_long_as_their_values():
    chart = bar_chart([Group("g", [Bar("one", [("a", 30.0, "x"), ("b", 10.0, "y")]),
                                   Bar("two", [("a", 20.0, "z")])], 40.0)])
    svg = ElementTree.fromstring(chart)
    first, second, third = [float(rect.get("width")) for rect in svg.iter("rect")]
    assert first == pytest.approx(3 * second, abs=0.2)
    assert third == pytest.approx(2 * second, abs=0.2)
    rects = list(svg.iter("rect"))
    bound = next(line for line in svg.iter("line") if line.get("class") == "bound")
    assert float(rects[1].get("x")) + second == pytest.approx(float(bound.get("x1")), abs=0.1)
    assert float(rects[0].get("x")) + first == pytest.approx(float(rects[1].get("x")), abs=0.2)


def test_a_line_tells_how_far_runs_lie_apart():
    """Of one run there is none, and the longest line fits the picture."""
    bars = [Bar("three", [("a", 30.0, "x")], "30", [20.0, 60.0, 30.0]), Bar("one", [("a", 30.0, "y")], "30", [30.0])]
    chart = bar_chart([Group("g", bars)])
    svg = ElementTree.fromstring(f"<body>{chart}</body>")
    lines = {path.get("d") for path in svg.iter("path")}
    low, high = (float(number) for number in re.fullmatch(r"M([\d.]+) .*H([\d.]+)m.*", lines.pop()).groups())
    rect = next(svg.iter("rect"))
    left, width = float(rect.get("x")), float(rect.get("width"))
    assert not lines and "least to the most" in chart and "least to the most" not in bar_chart([Group("g", bars[1:])])
    assert low - left == pytest.approx(width * 2 / 3, abs=0.2) and high - left == pytest.approx(2 * width, abs=0.2)
    label = next(text for text in svg.iter("text") if text.get("class") == "value")
    assert float(label.get("x")) > high


def test_lines_on_logarithmic_axes():
    """Ten times longer is one step up, twice as many bytes one step to the right."""
    svg = line_chart([Line("x", "l0", [Point(1, 1), Point(2, 10, (9, 11)), Point(4, 100, (9, 200))])])
    curve = svg.partition('class="curve l0" d="M')[2].partition('"')[0]
    (ax, ay), (bx, by), (cx, cy) = (map(float, pair.split(",")) for pair in curve.split("L"))
    assert bx - ax == pytest.approx(cx - bx, abs=0.2) and ay - by == pytest.approx(by - cy, abs=0.2)
    assert ax < bx and ay > by
