"""A schedule as a picture: time runs to the right, a row per rank, an arrow per message, timed by the predictor and
coloured by how many hops the message is from the rank where it began. The SVG is whole: it can be opened, mailed or
pasted into a page, and goes with light and with dark ones."""

import math
import zlib
from collections.abc import Iterator, Sequence

from mutirao.base.units import counted, size
from mutirao.pages.svg import shape, text

_WIDTH, _TOP, _LEGEND, _BOTTOM, _RIGHT = 1120, 108, 70, 48, 96  # px, as all that follows
_LEAST_ROW, _MOST_ROW, _ROWS = 14, 44, 700  # all rows together, within these heights of each

# Colours that stay apart for most colour-blind people (after Okabe and Ito); the last is for all further hops.
_HOPS = ["#2b8fd6", "#e0702a", "#12a876", "#d082b0", "#d99a1a", "#56b4e9", "#8f67d8", "#808a93"]
_STYLES = {"": "color-scheme:light dark;background:Canvas;fill:CanvasText", "quiet": "opacity:.65",
           "wrong": "fill:#e0402f", "root": "fill:#e69f00;opacity:.25",
           "line": "stroke:CanvasText;opacity:.15",
           **{f"hop{number}": f"stroke:{colour}" for number, colour in enumerate(_HOPS)},
           **{f"head{number}": f"fill:{colour}" for number, colour in enumerate(_HOPS)}}


def picture(shown: dict) -> str:
    """`shown`: what `mutirao-core show --format json` says."""
    return "\n".join(_Picture(shown).lines()) + "\n"


def hops_of(messages: Sequence[dict], ranks: int) -> list[int]:
    """Of each message: 1 if its sender had received nothing when it sent, else one more than the most hops of what it
    had received. The messages are in order of arrival."""
    hops, of_rank, arrived = [1] * len(messages), [0] * ranks, 0
    for i in sorted(range(len(messages)), key=lambda i: messages[i]["start_us"]):
        while arrived < len(messages) and messages[arrived]["arrive_us"] <= messages[i]["start_us"]:
            to = messages[arrived]["to"]
            of_rank[to] = max(of_rank[to], hops[arrived])
            arrived += 1
        hops[i] = 1 + of_rank[messages[i]["from"]]
    return hops


def _tick_step(span: float) -> float:
    """1, 2 or 5 times a power of ten, so that about eight of them make `span`."""
    power = 10 ** math.floor(math.log10(span / 8))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= span / 8)


class _Picture:
    def __init__(self, shown: dict) -> None:
        self._shown, self._messages = shown, shown["messages"]
        self._ranks = shown["ranks"]
        self._host_of = shown["host_of"]
        self._done_us = shown["rank_complete_us"]
        self._stuck = shown["predicted_us"] is None
        self._by_host = len(set(self._host_of)) < self._ranks
        in_rows = sorted(range(self._ranks), key=lambda rank: self._host_of[rank])
        self._row_of = {rank: row for row, rank in enumerate(in_rows)}
        self._hops = hops_of(self._messages, self._ranks)
        self._row = min(max(_ROWS / self._ranks, _LEAST_ROW), _MOST_ROW)
        self._left = 28 + 7 * max(len(self._label(rank)) for rank in range(self._ranks))
        self._span_us = max((us for us in self._done_us if us is not None), default=0) or 1000
        self._decimals = min(max(3 - math.floor(math.log10(self._span_us / 1000)), 0), 6)
        self._root = shown.get("root")
        self._name = f"schedule-{zlib.crc32(shown['title'].encode()):08x}"  # several pictures may live on one page

    def lines(self) -> Iterator[str]:
        height = self._end() + _BOTTOM
        yield (f'<svg xmlns="http://www.w3.org/2000/svg" class="{self._name}" width="{_WIDTH}" height="{height:.1f}"'
               f' viewBox="0 0 {_WIDTH} {height:.1f}" font-family="system-ui, \'Segoe UI\', \'DejaVu Sans\', sans-serif"'
               ' font-size="12">')
        rules = "".join(f".{self._name} .{style}".removesuffix(" .") + f"{{{told}}}" for style, told in _STYLES.items())
        yield f"<style>{rules}</style><defs>"
        for i in range(len(_HOPS)):
            yield (f'<marker id="{self._name}-{i}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"'
                   f' markerUnits="userSpaceOnUse" orient="auto"><path class="head{i}" d="M0 1 8 4 0 7z"/></marker>')
        yield "</defs>"
        yield from self._heading()
        yield from self._legend()
        yield from self._axis()
        for rank in range(self._ranks):
            yield from self._rank(rank)
        yield from self._arrows()
        yield "</svg>"

    def _x(self, us: float) -> float:
        return self._left + us / self._span_us * (_WIDTH - self._left - _RIGHT)

    def _y(self, rank: int) -> float:
        return _TOP + (self._row_of[rank] + 0.5) * self._row

    def _end(self) -> float:
        return _TOP + self._ranks * self._row

    def _ms(self, us: float) -> str:
        return f"{us / 1000:.{self._decimals}f}"

    def _label(self, rank: int) -> str:
        first = self._by_host and self._host_of.index(self._host_of[rank]) == rank
        return f"host {self._host_of[rank]}, {rank}" if first else str(rank)

    def _heading(self) -> Iterator[str]:
        yield text("", 16, 28, self._shown["title"], font_size=17, font_weight=600)
        facts = f"{counted(self._ranks, 'rank')}, {counted(len(self._messages), 'message')}, " + (
            "stuck: some steps never run" if self._stuck
            else f"complete after {self._ms(self._shown['predicted_us'])} ms (predicted)")
        yield text("wrong" if self._stuck else "quiet", 16, 48, facts)

    def _legend(self) -> Iterator[str]:
        most = max(self._hops, default=0)
        at = 16.0
        for hops in range(1, min(most, len(_HOPS)) + 1):
            name = counted(hops, "hop") + (" or more" if hops == len(_HOPS) < most else "")
            yield self._arrow(hops, at, _LEGEND, at + 22, _LEGEND, width=2)
            yield text("", at + 28, _LEGEND + 4, name)
            at += 42 + 7 * len(name)
        if self._root is not None:
            yield shape("rect", "root", x=at, y=_LEGEND - 6, width=22, height=12)
            yield text("", at + 28, _LEGEND + 4, "root")

    def _axis(self) -> Iterator[str]:
        step = _tick_step(self._span_us / 1000)
        decimals = max(0, -math.floor(math.log10(step)))
        for i in range(math.floor(self._span_us / 1000 / step * (1 + 1e-9)) + 1):
            at = self._x(i * step * 1000)
            yield _line("line", at, _TOP - 4, at, self._end() + 4)
            for y in (_TOP - 9, self._end() + 18):
                yield text("quiet", at, y, f"{i * step:.{decimals}f}", text_anchor="middle", font_size=11)
        yield text("quiet", (self._left + _WIDTH - _RIGHT) / 2, self._end() + 36, "time since all ranks entered, ms",
                   text_anchor="middle")
        yield text("quiet", _WIDTH - 12, _LEGEND + 4, "complete at, ms", text_anchor="end")

    def _rank(self, rank: int) -> Iterator[str]:
        done_us, y = self._done_us[rank], self._y(rank)
        if rank == self._root:
            yield shape("rect", "root", x=8, y=y - self._row / 2, width=_WIDTH - 16, height=self._row, rx=4)
        yield _line("line", self._x(0), y, self._x(self._span_us), y)
        yield text("", self._left - 12, y + 4, self._label(rank), text_anchor="end",
                   font_weight=700 if rank == self._root else 400)
        yield text("wrong" if done_us is None else "quiet", _WIDTH - 12, y + 4,
                   "never" if done_us is None else self._ms(done_us), text_anchor="end")

    def _arrows(self) -> Iterator[str]:
        """Far hops first, so that the beginning of it all lies on top."""
        for each, hops in sorted(zip(self._messages, self._hops, strict=True), key=lambda drawn: -drawn[1]):
            what = (f"{each['from']} to {each['to']}: {size(each['length_bytes'])}, {self._ms(each['start_us'])} to"
                    f" {self._ms(each['arrive_us'])} ms")
            ends = self._x(each["start_us"]), self._y(each["from"]), self._x(each["arrive_us"]), self._y(each["to"])
            yield f"<g><title>{what}</title>{self._arrow(hops, *ends, width=1.6)}</g>"

    def _arrow(self, hops: int, *ends: float, width: float) -> str:
        kind = min(hops, len(_HOPS)) - 1
        return _line(f"hop{kind}", *ends, stroke_width=width, marker_end=f"url(#{self._name}-{kind})")


def _line(style: str, x1: float, y1: float, x2: float, y2: float, **more: float | str) -> str:
    return shape("line", style, x1=x1, y1=y1, x2=x2, y2=y2, **more)
