"""Which algorithm held when: a line for each kind of call, and the moments at which that changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from mutirao.base.units import counted
from mutirao.catalogue.predicted import NATIVE
from mutirao.explain.choices import class_title
from mutirao.explain.full import change_line

_FORGOTTEN = "no longer remembered"
# Colours of the style sheet; algorithms beyond the last one's share that.
_FIXED_COLOURS = {NATIVE: "a0", _FORGOTTEN: "a1"}
_ALGORITHM_COLOURS = ("a5", "a3", "a4", "a7", "a6", "a8")


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


def timeline(communicator: dict, colours: dict[str, str]) -> str:
    """A row for each kind of call. A column is the time between two changes, however long, so that none is too narrow
    to be seen."""
    lanes = [(class_title(of_class), periods(of_class, communicator["calls"])) for of_class in communicator["classes"]]
    taken_up = (communicator.get("adaptation") or {}).get("taken_up") or ()
    changes = {change["call"]: change_line(change, communicator) for change in taken_up}
    moments = sorted({moment for _, held in lanes for period in held
                      for moment in (period.first_call, period.end_call)} | changes.keys())
    column = {moment: number for number, moment in enumerate(moments)}
    head = "".join(_head(moment, changes.get(moment)) for moment in moments[:-1])
    rows = "\n".join(_lane(title, held, column, colours) for title, held in lanes)
    return (f'<div class="scroll"><table class="timeline"><thead><tr><th>calls from</th>{head}</tr></thead>'
            f"<tbody>\n{rows}\n</tbody></table></div>")


def _head(moment: int, change: str | None) -> str:
    if change is None:
        return f"<th>{moment + 1}</th>"
    return f'<th class="changed" title="{escape(change)}">{moment + 1}</th>'


def _lane(title: str, held: Sequence[Period], column: Mapping[int, int], colours: dict[str, str]) -> str:
    before = column[held[0].first_call]
    cells = [f"<th>{escape(title)}</th>", f'<td colspan="{before}"></td>' if before else ""]
    cells += [f'<td colspan="{column[period.end_call] - column[period.first_call]}" class="{colours[period.kind]}'
              f'{"" if period.settled else " dim"}" title="{escape(str(period))}">{escape(period.kind)}</td>'
              for period in held]
    return f"<tr>{''.join(cells)}</tr>"
