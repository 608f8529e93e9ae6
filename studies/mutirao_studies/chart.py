"""Bars and dots as SVG that takes its colours from the page's style sheet.

Bars lie, each beside its name and its value, and every group is a picture of its own: so colours need
no legend, labels never touch, and a narrow page has the groups one below the other.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _ROW, _GAP, _AXIS = 340, 19, 8, 18
_LETTER, _DIGIT, _MOST_TITLE = 6.6, 7.7, 172
_RUNS_TOLD = '<p class="soft">Thin lines: from the least to the most that was measured; bars: the median.</p>'


@dataclass(frozen=True)
class Bar:
    """Segments from the left: (class of the style sheet, value, what it is)."""

    title: str
    segments: Sequence[tuple[str, float, str]]
    label: str = ""  # at the end of the bar
    runs: Sequence[float] = ()  # of which the whole is the median

    @property
    def value(self) -> float:
        return sum(value for _, value, _ in self.segments)

    @property
    def end(self) -> float:
        """Of all that is drawn."""
        return max(self.value, *self.runs, 0.0)


def bar_of(title: str, segments: Sequence[tuple[str, float, str]], unit: str, digits: int = 2,
           runs: Sequence[float] = ()) -> Bar:
    """That says its values itself; what is a segment's name is the bar's where it has none."""
    def said(value: float) -> str:
        return f"{value:.{digits}f} {unit}"

    return Bar(title, [(style, value, f"{name or title}: {said(value)}") for style, value, name in segments],
               said(sum(value for _, value, _ in segments)), runs)


@dataclass(frozen=True)
class Group:
    label: str
    bars: Sequence[Bar]
    bound: float | None = None  # a dashed line across the bars
    below: str = ""  # behind the label


@dataclass(frozen=True)
class _Frame:
    """What the pictures of one chart share, so that they can be compared."""

    left: float
    right: float
    x: Callable[[float], float]
    ticks: Sequence[tuple[float, str]] = ()


def bar_chart(groups: Sequence[Group]) -> str:
    """From 0 on."""
    left, right = _margins(groups)
    most = _most(groups) or 1.0
    frame = _Frame(left, right, lambda value: left + (right - left) * value / most)
    several = any(len(bar.runs) > 1 for group in groups for bar in group.bars)
    return _pictures(groups, frame, _bar) + (_RUNS_TOLD if several else "")


def dot_chart(groups: Sequence[Group]) -> str:
    """On a logarithmic axis, where a length from 0 on would say nothing; what is 0 is only told."""
    left, right = _margins(groups)
    values = [bar.value for group in groups for bar in group.bars if bar.value > 0]
    low = math.floor(math.log10(min(values, default=1.0)))
    high = max(math.ceil(math.log10(max(values, default=10.0))), low + 1)
    step = (right - left) / (high - low)
    ticks = [(10.0**power, f"{10.0**power:g}") for power in range(low, high + 1)]
    frame = _Frame(left, right, lambda value: left + step * (math.log10(value) - low), ticks)
    return _pictures(groups, frame, _dot)


def _margins(groups: Sequence[Group]) -> tuple[float, float]:
    bars = [bar for group in groups for bar in group.bars]
    longest = max((len(bar.title) for bar in bars), default=0)
    value = max((len(bar.label) for bar in bars), default=0)
    return min(longest * _LETTER, _MOST_TITLE) + _GAP, _WIDTH - value * _DIGIT - _GAP


def _most(groups: Sequence[Group]) -> float:
    return max([bar.end for group in groups for bar in group.bars]
               + [group.bound or 0 for group in groups], default=0)


def _pictures(groups: Sequence[Group], frame: _Frame,
              mark: Callable[[Bar, float, _Frame], Iterator[str]]) -> str:
    figures = []
    for group in groups:
        caption = f"<b>{escape(group.label)}</b> {escape(group.below)}".rstrip()
        figures.append(f"<figure><figcaption>{caption}</figcaption>"
                       + "\n".join(_group(group, frame, mark)) + "</figure>")
    return f'<div class="groups">{"".join(figures)}</div>'


def _group(group: Group, frame: _Frame,
           mark: Callable[[Bar, float, _Frame], Iterator[str]]) -> Iterator[str]:
    bottom = _ROW * len(group.bars)
    height = bottom + (_AXIS if frame.ticks else 0)
    yield f'<svg class="chart" viewBox="0 0 {_WIDTH} {height}" role="img">'
    for value, text in frame.ticks:
        at = frame.x(value)
        yield (f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{bottom}"/>'
               f'<text class="axis" x="{at:.1f}" y="{bottom + 13}" text-anchor="middle">{text}</text>')
    for number, bar in enumerate(group.bars):
        yield (f'<text x="0" y="{_ROW * number + 14}">{escape(_cut(bar.title))}</text>')
        yield from mark(bar, _ROW * number, frame)
    if group.bound is not None:
        at = frame.x(group.bound)
        yield f'<line class="bound" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{bottom}"/>'
    for number, bar in enumerate(group.bars):
        yield (f'<text class="value" x="{_label_at(bar, group.bound, frame):.1f}"'
               f' y="{_ROW * number + 14}">{escape(bar.label)}</text>')
    yield "</svg>"


def _label_at(bar: Bar, bound: float | None, frame: _Frame) -> float:
    """Behind the bar, and behind the dashed line where that would cross it."""
    end = frame.x(bar.end) if bar.value or not frame.ticks else frame.left
    crossed = bound is not None and 0 <= frame.x(bound) - end <= len(bar.label) * _DIGIT + _GAP
    return (frame.x(bound) if crossed else end) + _GAP


def _cut(title: str) -> str:
    most = int(_MOST_TITLE / _LETTER)
    return title if len(title) <= most else title[:most - 1] + "…"


def _bar(bar: Bar, top: float, frame: _Frame) -> Iterator[str]:
    base = 0.0
    for style, value, what in bar.segments:
        begin, end = frame.x(base), frame.x(base + value)
        yield (f'<rect class="{style}" x="{begin:.1f}" y="{top + 3}" width="{end - begin:.1f}"'
               f' height="{_ROW - 5}" rx="1.5"><title>{escape(what)}</title></rect>')
        base += value
    if len(bar.runs) > 1:
        low, high, middle = frame.x(min(bar.runs)), frame.x(max(bar.runs)), top + _ROW / 2 + 0.5
        line = f"M{low:.1f} {middle - 3}v6m0 -3H{high:.1f}m0 -3v6"
        yield f'<path class="runs under" d="{line}"/><path class="runs" d="{line}"/>'


def _dot(bar: Bar, top: float, frame: _Frame) -> Iterator[str]:
    if bar.value > 0:
        style, _, what = bar.segments[0]
        yield (f'<circle class="{style}" cx="{frame.x(bar.value):.1f}" cy="{top + _ROW / 2}" r="4.5">'
               f"<title>{escape(what)}</title></circle>")
