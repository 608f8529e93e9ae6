"""Lines of times as SVG that takes its colours from the page's style sheet; the axis of time is
logarithmic."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from mutirao.base.units import duration, size
from mutirao.pages.svg import shape, text

_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 24, 26
_ALMOST = 1.0001  # powers of ten are not exact


@dataclass(frozen=True)
class Point:
    x: int
    us: float
    interval_us: tuple[float, float] | None = None

    @property
    def ends_us(self) -> tuple[float, float]:
        return self.interval_us or (self.us, self.us)


@dataclass(frozen=True)
class Line:
    title: str
    style: str  # class of the style sheet
    points: Sequence[Point]


@dataclass(frozen=True)
class Axis:
    """That along which the lines run."""

    transform: Callable[[float], float]
    name: Callable[[int], str]  # of a place on it
    ticks: Callable[[float, float], Sequence[int]]  # between its ends


def _sizes_between(low: float, high: float) -> Sequence[int]:
    powers = range(0, math.floor(math.log2(high)) + 1, 4)
    return [1 << power for power in powers if 1 << power >= low]


def _numbers_between(low: float, high: float) -> Sequence[int]:
    step = max(1, math.ceil((high - low) / 8))
    return range(math.ceil(low), math.floor(high) + 1, step)


def _seconds_between(low: float, high: float) -> Sequence[int]:
    """In ms."""
    return range(0, math.floor(high) + 1, 10_000 if high > 20_000 else 1000)


def scale(low: float, high: float, begin: float, end: float,
          transform: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: begin + (end - begin) * (transform(value) - low) / ((high - low) or 1)


def axis_text(x: float, y: float, anchor: str, content: str) -> str:
    return text("axis", x, y, content, text_anchor=anchor)


SIZES = Axis(math.log2, size, _sizes_between)
NUMBERS = Axis(float, str, _numbers_between)
SECONDS = Axis(float, lambda ms: f"{ms / 1000:g} s", _seconds_between)


def line_chart(lines: Sequence[Line], axis: Axis = SIZES, height: int = 270, bound: Sequence[tuple[int, float]] = (),
               marks: Sequence[tuple[int, str]] = (), beside_us: Sequence[float] = ()) -> str:
    """The interval of each point is a band around its line. `bound`: a dashed line; `marks`: upright ones with what
    happened there; `beside_us`: what charts with the same axis of time show."""
    width = 400
    places = [point.x for line in lines for point in line.points]
    every_us = [*beside_us, *(us for _, us in bound),
                *(us for line in lines for point in line.points for us in point.ends_us)]
    times_us = _times_between(min(every_us), max(every_us))
    x = scale(*map(axis.transform, (min(places), max(places))), _LEFT, width - _RIGHT, axis.transform)
    y = scale(math.log10(times_us[0]), math.log10(times_us[-1]), height - _BOTTOM, _TOP, math.log10)
    parts = [f'<svg class="chart lines" viewBox="0 0 {width} {height}" role="img">']
    for us in times_us:
        parts += [shape("line", "grid", x1=_LEFT, x2=width - _RIGHT, y1=y(us), y2=y(us)),
                  axis_text(_LEFT - 6, y(us) + 4, "end", duration(us).replace(".00", "").replace(".0", ""))]
    parts += [axis_text(x(tick), height - _BOTTOM + 17, "end" if tick == max(places) else "middle",
                        axis.name(tick)) for tick in axis.ticks(min(places), max(places))]
    parts += _marks(marks, x, height)
    for line in lines:
        parts += _line(line, axis, x, y)
    if bound:
        parts.append(shape("path", "bound", d=_path([(x(at), y(us)) for at, us in bound])))
    return "\n".join([*parts, "</svg>"])


def side_by_side(style: str, charts: Mapping[str, str]) -> str:
    """HTML of charts by their titles; `style`: of the style sheet, as many in a row as there is room for."""
    figures = "".join(f"<figure><h3>{escape(title)}</h3>{chart}</figure>" for title, chart in charts.items())
    return f'<div class="{style}">{figures}</div>'


def _marks(marks: Sequence[tuple[int, str]], x: Callable[[float], float],
           height: int) -> Iterator[str]:
    for at, what in marks:
        yield shape("line", "mark", x1=x(at), x2=x(at), y1=_TOP - 4, y2=height - _BOTTOM)
        yield axis_text(x(at), _TOP - 8, "middle", what)


def _times_between(least_us: float, most_us: float) -> Sequence[float]:
    """Round ones, from one that is not more to one that is not less; closer where they are few."""
    powers = range(math.floor(math.log10(least_us)), math.ceil(math.log10(most_us)) + 1)
    factors = (1, 2, 5) if most_us < 20 * least_us else (1,)
    every = [factor * 10.0**power for power in powers for factor in factors]
    low = max(us for us in every if us <= least_us * _ALMOST)
    high = min((us for us in every if us * _ALMOST >= most_us and us > low), default=10 * low)
    return [us for us in every if low <= us <= high] if high in every else [low, high]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{a:.1f},{b:.1f}" for a, b in points)


def _line(line: Line, axis: Axis, x: Callable[[float], float],
          y: Callable[[float], float]) -> Iterator[str]:
    lower, upper = ([(x(point.x), y(point.ends_us[end])) for point in line.points] for end in (0, 1))
    middle = [(x(point.x), y(point.us)) for point in line.points]
    yield shape("path", f"band {line.style}", d=_path([*upper, *reversed(lower)]) + "Z")
    yield shape("path", f"curve {line.style}", d=_path(middle))
    for point, (a, b) in zip(line.points, middle, strict=True):
        what = (f"{line.title}, {axis.name(point.x)}: {duration(point.us)}"
                f" ({' to '.join(map(duration, point.ends_us))})")
        yield shape("circle", f"dot {line.style}", what, cx=a, cy=b, r=2.6)
