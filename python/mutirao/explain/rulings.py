"""Which algorithm held when: a line for each kind of call, and the moments at which that changed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from mutirao.base.units import counted
from mutirao.catalogue.predicted import NATIVE
from mutirao.explain.choices import class_title
from mutirao.explain.full import change_line
from mutirao.pages.svg import shape, text

_FORGOTTEN = "no longer remembered"
# Colours of the style sheet; algorithms beyond the last one's share that.
_FIXED_COLOURS = {NATIVE: "a0", _FORGOTTEN: "a1"}
_ALGORITHM_COLOURS = ("a5", "a3", "a4", "a7", "a6", "a8")
_WIDTH, _LANE, _TOP, _CHARACTER = 400, 48, 6, 6.6
_MOST_COLUMNS = 44  # side by side, so that a narrow page need not be scrolled sideways


@dataclass(frozen=True)
class Period:
    """Calls of a communicator, counted from 0, in which one ruling held, or none."""

    first_call: int
    end_call: int
    chosen: str
    settled: bool = True
    probe_calls: int = 0  # by others meanwhile

    @property
    def kind(self) -> str:
        """The algorithm without its parameters."""
        return self.chosen.split(":")[0]

    def __str__(self) -> str:
        probes = f", {counted(self.probe_calls, 'call')} on probe" if self.probe_calls else ""
        return f"from call {self.first_call + 1} on: {self.chosen}{probes}{'' if self.settled else ', not settled'}"


def periods(of_class: dict, calls: int) -> list[Period]:
    begins = [(of_class["first_call"], NATIVE)]
    for number, ruling in enumerate(of_class["rulings"]):
        begin = max(ruling["first_call"], of_class["first_call"])
        begins.append((begin, ruling["chosen"], ruling.get("settled", True), ruling.get("probe_calls", 0)))
        if number == 0 and of_class.get("forgotten_rulings"):
            begins.append((begin + 1, _FORGOTTEN))
    ends = [begin for begin, *_ in begins[1:]] + [max(calls, begins[-1][0] + 1)]
    return [Period(begin, end, *held) for (begin, *held), end in zip(begins, ends, strict=True) if begin < end]


def colours_of(classes: Iterable[dict]) -> dict[str, str]:
    """By kind, in the order of their appearance."""
    kinds = dict.fromkeys(period.kind for of_class in classes for period in periods(of_class, 0))
    algorithms = [kind for kind in kinds if kind not in _FIXED_COLOURS]
    own = {kind: _ALGORITHM_COLOURS[min(number, len(_ALGORITHM_COLOURS) - 1)]
           for number, kind in enumerate(algorithms)}
    return {kind: style for kind, style in {**_FIXED_COLOURS, **own}.items() if kind in kinds}


def _bar(period: Period, colours: dict[str, str], x: Callable[[int], float], y: float,
         height: float) -> str:
    begin, end = x(period.first_call), x(period.end_call)
    return shape("rect", colours[period.kind] + ("" if period.settled else " dim"), str(period), x=begin, y=y,
                 width=max(end - begin - 1, 0.8), height=height)


def _changes(communicator: dict) -> Sequence[dict]:
    return (communicator.get("adaptation") or {}).get("taken_up") or ()


def timeline(communicator: dict, colours: dict[str, str]) -> str:
    """A lane for each kind of call. A column is the time between two changes, however long, so that
    none is too narrow to be seen; where they are many, the lanes go on in another strip."""
    calls = communicator["calls"]
    lanes = [(class_title(of_class), periods(of_class, calls))
             for of_class in communicator["classes"]]
    moments = sorted({moment for _, held in lanes for period in held
                      for moment in (period.first_call, period.end_call)}
                     | {change["call"] for change in _changes(communicator)})
    strips = [_strip(communicator, lanes, moments[begin:begin + _MOST_COLUMNS + 1], colours)
              for begin in range(0, max(len(moments) - 1, 1), _MOST_COLUMNS)]
    return f'<div class="pair">{"".join(strips)}</div>'


def _strip(communicator: dict, lanes: Sequence[tuple[str, Sequence[Period]]], moments: Sequence[int],
           colours: dict[str, str]) -> str:
    first, last = moments[0], moments[-1]
    column = {moment: number for number, moment in enumerate(moments)}

    def x(call: int) -> float:
        return _WIDTH * column[min(max(call, first), last)] / max(len(moments) - 1, 1)

    inside = [(title, [period for period in held if period.end_call > first and period.first_call < last])
              for title, held in lanes]
    shown = [(title, held) for title, held in inside if held]
    bottom = _TOP + _LANE * len(shown)
    parts = [f'<svg class="chart time-line" viewBox="0 0 {_WIDTH} {bottom + 24}"'
             ' role="img" aria-label="Rulings over calls: the text below says the same">']
    for number, (title, held) in enumerate(shown):
        parts += _lane(title, held, _TOP + _LANE * number, x, colours)
    for change in _changes(communicator):
        if first <= change["call"] < last:
            at, what = x(change["call"]), change_line(change, communicator)
            parts.append(shape("line", "bound", what, x1=at, x2=at, y1=_TOP - 4, y2=bottom))
    return "\n".join([*parts, *_axis(moments, x, bottom), "</svg>"])


def _lane(title: str, held: Sequence[Period], top: float, x: Callable[[int], float],
          colours: dict[str, str]) -> Iterator[str]:
    yield text("", 0, top + 12, title)
    for period in held:
        yield _bar(period, colours, x, top + 30, 11)
    for kind, alike in groupby(held, key=lambda period: period.kind):
        together = list(alike)
        begin, end = x(together[0].first_call), x(together[-1].end_call)
        if _CHARACTER * len(kind) < end - begin:
            yield text("value axis", begin, top + 26, kind)


def _axis(moments: Sequence[int], x: Callable[[int], float], bottom: float) -> Iterator[str]:
    """The number of the call that begins a column, where there is room for it."""
    free = 0.0
    for moment in moments[:-1]:
        label = f"call {moment + 1}" if moment == moments[0] else str(moment + 1)
        if free <= x(moment) <= _WIDTH - _CHARACTER * len(label):
            yield text("axis", x(moment), bottom + 18, label)
            free = x(moment) + _CHARACTER * (len(label) + 2)
