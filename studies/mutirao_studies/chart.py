"""Bars as SVG that takes its colours from the page's style sheet.

Bars lie, each beside its name and its value, and every group is a picture of its own: so colours need
no legend, labels never touch, and a narrow page has the groups one below the other.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from mutirao.pages.svg import shape, text

_WIDTH, _ROW, _GAP = 340, 19, 8
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


_Scale = Callable[[float], float]


def bar_chart(groups: Sequence[Group]) -> str:
    """From 0 on, all pictures on one scale, so that they can be compared."""
    bars = [bar for group in groups for bar in group.bars]
    left = min(max((len(bar.title) for bar in bars), default=0) * _LETTER, _MOST_TITLE) + _GAP
    right = _WIDTH - max((len(bar.label) for bar in bars), default=0) * _DIGIT - _GAP
    most = max([*(bar.end for bar in bars), *(group.bound or 0 for group in groups)], default=0) or 1.0
    figures = []
    for group in groups:
        caption = f"<b>{escape(group.label)}</b> {escape(group.below)}".rstrip()
        picture = "\n".join(_group(group, lambda value: left + (right - left) * value / most))
        figures.append(f"<figure><figcaption>{caption}</figcaption>{picture}</figure>")
    several = any(len(bar.runs) > 1 for bar in bars)
    return f'<div class="groups">{"".join(figures)}</div>' + (_RUNS_TOLD if several else "")


def _group(group: Group, x: _Scale) -> Iterator[str]:
    bottom = _ROW * len(group.bars)
    yield f'<svg class="chart" viewBox="0 0 {_WIDTH} {bottom}" role="img">'
    for number, bar in enumerate(group.bars):
        yield text("", 0, _ROW * number + 14, _cut(bar.title))
        yield from _bar(bar, _ROW * number, x)
    if group.bound is not None:
        yield shape("line", "bound", x1=x(group.bound), x2=x(group.bound), y1=0, y2=bottom)
    for number, bar in enumerate(group.bars):
        yield text("value", _label_at(bar, group.bound, x), _ROW * number + 14, bar.label)
    yield "</svg>"


def _label_at(bar: Bar, bound: float | None, x: _Scale) -> float:
    """Behind the bar, and behind the dashed line where that would cross it."""
    end = x(bar.end)
    crossed = bound is not None and 0 <= x(bound) - end <= len(bar.label) * _DIGIT + _GAP
    return (x(bound) if crossed else end) + _GAP


def _cut(title: str) -> str:
    most = int(_MOST_TITLE / _LETTER)
    return title if len(title) <= most else title[:most - 1] + "…"


def _bar(bar: Bar, top: float, x: _Scale) -> Iterator[str]:
    base = 0.0
    for style, value, what in bar.segments:
        yield shape("rect", style, what, x=x(base), y=top + 3, width=x(base + value) - x(base), height=_ROW - 5, rx=1.5)
        base += value
    if len(bar.runs) > 1:
        low, high, middle = x(min(bar.runs)), x(max(bar.runs)), top + _ROW / 2 + 0.5
        line = f"M{low:.1f} {middle - 3}v6m0 -3H{high:.1f}m0 -3v6"
        yield shape("path", "runs under", d=line) + shape("path", "runs", d=line)
