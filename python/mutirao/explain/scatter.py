"""What calls were predicted to take against what they took, as SVG."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from mutirao.base.units import duration
from mutirao.catalogue.predicted import NATIVE
from mutirao.explain.choices import choices_of, class_title, measured, predicted_us
from mutirao.pages.svg import axis_text, scale, shape, time_label

_SIZE, _LEFT, _RIGHT, _TOP, _BOTTOM = 460, 66, 14, 14, 52


@dataclass(frozen=True)
class Point:
    what: str
    native: bool
    predicted_us: float
    median_us: float
    low_us: float
    high_us: float

    def __str__(self) -> str:
        return (f"{self.what}: predicted {duration(self.predicted_us)}, measured"
                f" {duration(self.median_us)} ({duration(self.low_us)} to {duration(self.high_us)})")


def points_of(report: dict) -> list[Point]:
    """The latest measurement of each candidate for each kind of call."""
    return [point for communicator in report["communicators"]
            for of_class in communicator["classes"]
            for point in _of_class(of_class, communicator.get("name") or "communicator")]


def _of_class(of_class: dict, name: str) -> Iterator[Point]:
    latest = {candidate: (predicted_us(ruling).get(candidate), row)
              for ruling in choices_of(of_class) for candidate, row in measured(ruling).items()}
    for candidate, (predicted, row) in latest.items():
        if predicted and min(row["low_us"], row["median_us"]) > 0:
            yield Point(f"{name}, {class_title(of_class)}, {candidate}", candidate == NATIVE,
                        predicted, row["median_us"], row["low_us"], row["high_us"])


def within_twice(points: Sequence[Point]) -> int:
    """How many took between half and twice the time predicted."""
    return sum(0.5 <= point.median_us / point.predicted_us <= 2 for point in points)


def scatter(points: Sequence[Point], native_style: str, own_style: str) -> str:
    times = [time_us for point in points
             for time_us in (point.predicted_us, point.low_us, point.high_us)]
    low, high = (round_to(math.log10(end)) for round_to, end in
                 ((math.floor, min(times)), (math.ceil, max(times))))
    high = max(high, low + 1)
    x = scale(low, high, _LEFT, _SIZE - _RIGHT, math.log10)
    y = scale(low, high, _SIZE - _BOTTOM, _TOP, math.log10)
    begin, end = 10.0**low, 10.0**high
    parts = [f'<svg class="chart" viewBox="0 0 {_SIZE} {_SIZE}" role="img"'
             f' style="max-width:{_SIZE}px" aria-label="Predicted against measured times of'
             f' {len(points)} algorithms; all are in the values at the end">']
    for power in range(low, high + 1):
        at, label = 10.0**power, time_label(10.0**power)
        parts += [shape("line", "grid", x1=x(at), x2=x(at), y1=y(begin), y2=y(end)),
                  shape("line", "grid", x1=x(begin), x2=x(end), y1=y(at), y2=y(at)),
                  axis_text(_LEFT - 6, y(at) + 4, "end", label),
                  axis_text(x(at), _SIZE - _BOTTOM + 17, "middle", label)]
    parts.append(shape("line", "bound", "as predicted", x1=x(begin), y1=y(begin), x2=x(end), y2=y(end)))
    for point in points:
        style = native_style if point.native else own_style
        at, high = x(point.predicted_us), y(point.high_us)
        parts += [f'<g class="{style}"><title>{escape(str(point))}</title>',
                  shape("rect", "", x=at - 0.8, y=high, width=1.6, height=y(point.low_us) - high),
                  shape("circle", "", cx=at, cy=y(point.median_us), r=4.5), "</g>"]
    parts += [axis_text((x(begin) + x(end)) / 2, _SIZE - 10, "middle", "predicted"),
              f'<text class="axis" transform="translate(12 {_SIZE / 2:.0f}) rotate(-90)"'
              ' text-anchor="middle">measured</text>']
    return "\n".join([*parts, "</svg>"])
