"""Lines over sizes, both axes logarithmic, as SVG that takes its colours from the page's style sheet."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from mutirao.units import duration, size

_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 12, 26, 34


@dataclass(frozen=True)
class Point:
    length_bytes: int
    us: float
    low_us: float
    high_us: float


@dataclass(frozen=True)
class Line:
    title: str
    style: str  # class of the style sheet
    points: Sequence[Point]


def line_chart(lines: Sequence[Line], most_us: float, least_us: float, width: int = 520,
               height: int = 330) -> str:
    """The interval of each point is a band around its line."""
    sizes = [point.length_bytes for line in lines for point in line.points]
    low, high = math.floor(math.log10(least_us)), math.ceil(math.log10(most_us))
    x = scale(math.log2(min(sizes)), math.log2(max(sizes)), _LEFT, width - _RIGHT, math.log2)
    y = scale(low, high, height - _BOTTOM, _TOP, math.log10)
    parts = [f'<svg class="chart" viewBox="0 0 {width} {height}" role="img">']
    for power in range(low, high + 1):
        at, label = y(10.0**power), power_label(power)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{width - _RIGHT}" y1="{at:.1f}"'
                     f' y2="{at:.1f}"/>' + axis_text(_LEFT - 6, at + 4, "end", label))
    for power in range(0, math.floor(math.log2(max(sizes))) + 1, 4):
        if (1 << power) >= min(sizes):
            anchor = "end" if 1 << power == max(sizes) else "middle"
            parts.append(axis_text(x(1 << power), height - _BOTTOM + 18, anchor, size(1 << power)))
    for line in lines:
        parts += _line(line, x, y)
    return "\n".join([*parts, "</svg>"])


def power_label(power: int) -> str:
    """Of ten microseconds to it."""
    return duration(10.0**power).replace(".00", "").replace(".0", "")


def scale(low: float, high: float, begin: float, end: float,
           transform: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: begin + (end - begin) * (transform(value) - low) / ((high - low) or 1)


def axis_text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text class="axis" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(line: Line, x: Callable[[float], float], y: Callable[[float], float]) -> list[str]:
    def path(points: Sequence[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{a:.1f},{b:.1f}" for a, b in points)

    upper = [(x(point.length_bytes), y(point.high_us)) for point in line.points]
    lower = [(x(point.length_bytes), y(point.low_us)) for point in line.points]
    middle = [(x(point.length_bytes), y(point.us)) for point in line.points]
    parts = [f'<path class="band {line.style}" d="{path([*upper, *reversed(lower)])}Z"/>',
             f'<path class="curve {line.style}" d="{path(middle)}"/>']
    for point, (a, b) in zip(line.points, middle, strict=True):
        what = (f"{line.title}, {size(point.length_bytes)}: {duration(point.us)}"
                f" ({duration(point.low_us)} to {duration(point.high_us)})")
        parts.append(f'<circle class="dot {line.style}" cx="{a:.1f}" cy="{b:.1f}" r="2.6">'
                     f'<title>{escape(what)}</title></circle>')
    return parts
