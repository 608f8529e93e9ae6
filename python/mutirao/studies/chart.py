"""Bar charts as SVG that takes its colours from the page's style sheet."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_LEFT, _RIGHT, _TOP, _LINE = 46, 10, 26, 16


@dataclass(frozen=True)
class Bar:
    """Segments from below: (class of the style sheet, value, what it is)."""

    segments: Sequence[tuple[str, float, str]]
    label: str = ""  # above the bar

    @property
    def value(self) -> float:
        return sum(value for _, value, _ in self.segments)


@dataclass(frozen=True)
class Group:
    label: str
    bars: Sequence[Bar]
    bound: float | None = None
    below: str = ""  # a second line under the label


def bar_chart(groups: Sequence[Group], unit: str, width: int = 960, height: int = 300) -> str:
    """Groups of bars side by side; a dashed line across a group is its bound."""
    most = max([bar.value for group in groups for bar in group.bars]
               + [group.bound or 0 for group in groups])
    step = _step(most)
    top = math.ceil(most / step) * step
    lines = 2 if any(group.below for group in groups) else 1
    inner = height - _TOP - 10 - lines * _LINE

    def y(value: float) -> float:
        return _TOP + inner * (1 - value / top)

    parts = [f'<svg class="chart" viewBox="0 0 {width} {height}" role="img">',
             f'<text class="axis" x="{_LEFT - 6}" y="12" text-anchor="end">{escape(unit)}</text>']
    for tick in range(round(top / step) + 1):
        at = y(tick * step)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{width - _RIGHT}" y1="{at:.1f}"'
                     f' y2="{at:.1f}"/><text class="axis" x="{_LEFT - 6}" y="{at + 4:.1f}"'
                     f' text-anchor="end">{tick * step:g}</text>')
    wide = (width - _LEFT - _RIGHT) / len(groups)
    for number, group in enumerate(groups):
        parts += _group(group, _LEFT + number * wide, wide, y)
    return "\n".join([*parts, "</svg>"])


def _group(group: Group, left: float, wide: float, y) -> list[str]:
    parts = []
    gap = min(wide * 0.16, 28)
    each = min((wide - gap) / len(group.bars), 46)
    begin = left + (wide - each * len(group.bars)) / 2
    middle = left + wide / 2
    for number, bar in enumerate(group.bars):
        x, base = begin + number * each, 0.0
        for style, value, what in bar.segments:
            parts.append(f'<rect class="{style}" x="{x + 1:.1f}" y="{y(base + value):.1f}"'
                         f' width="{each - 2:.1f}" height="{y(base) - y(base + value):.1f}"'
                         f' rx="1.5"><title>{escape(what)}</title></rect>')
            base += value
        if bar.label:
            parts.append(f'<text class="value" x="{x + each / 2:.1f}" y="{y(base) - 4:.1f}"'
                         f' text-anchor="middle">{escape(bar.label)}</text>')
    if group.bound is not None:
        parts.append(f'<line class="bound" x1="{begin - 5:.1f}"'
                     f' x2="{begin + each * len(group.bars) + 5:.1f}" y1="{y(group.bound):.1f}"'
                     f' y2="{y(group.bound):.1f}"/>')
    for line, (text, style) in enumerate(((group.label, "label"), (group.below, "axis"))):
        parts.append(f'<text class="{style}" x="{middle:.1f}" y="{y(0) + 18 + _LINE * line:.1f}"'
                     f' text-anchor="middle">{escape(text)}</text>')
    return parts


def _step(most: float) -> float:
    """So that there are four to eight ticks at round numbers."""
    rough = most / 6
    power = 10 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
