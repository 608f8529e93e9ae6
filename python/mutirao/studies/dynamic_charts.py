"""What the page of changing links draws: a time line of the changes, times by broadcast, and trees."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from html import escape

from mutirao.pages.drawing import tree
from mutirao.pages.line_chart import NUMBERS, Line, Point, axis_text, line_chart
from mutirao.studies.dynamic_tables import taken_up

_WIDTH, _LEFT, _ROW = 400, 142, 20


def time_line(figure: dict) -> str:
    """A lane for each link, with its round trips, and one for each arm that takes changes up."""
    first, last = 1 - figure["ahead"], figure["broadcasts"]
    column = (_WIDTH - _LEFT) / (last - first + 1)

    def x(broadcast: float) -> float:
        return _LEFT + column * (broadcast - first)

    lanes = [(f"link {change['link']}, ms", list(_link(change, x, x(last + 1))))
             for change in figure["changes"]]
    lanes += [(arm["title"], list(_taken_up(found, lambda number: x(number + 0.5))))
              for arm in figure["arms"] if (found := taken_up(figure, arm))]
    bottom = _ROW * len(lanes)
    parts = [f'<svg class="chart time-line" viewBox="0 0 {_WIDTH} {bottom + 20}" role="img">']
    for number, (title, marks) in enumerate(lanes):
        parts.append(f'<g transform="translate(0 {_ROW * number})"><text x="0" y="14.5">{escape(title)}</text>'
                     + "".join(marks) + "</g>")
    ticks = [number for number in range(1, last + 1) if number == 1 or number % 4 == 0]
    parts += [axis_text(x(number + 0.5), bottom + 14, "middle", str(number)) for number in ticks]
    return "\n".join([*parts, axis_text(0, bottom + 14, "start", "before broadcast"), "</svg>"])


def _link(change: dict, x: Callable[[float], float], end: float) -> Iterator[str]:
    """As it was, and as it is from the broadcast on before which it changes."""
    for style, begin, until, value_ms in (
            ("a1 dim", _LEFT, x(change["call"]), change["before_ms"]),
            ("a1", x(change["call"]), end, change["after_ms"])):
        yield (f'<rect class="{style}" x="{begin:.1f}" y="3" width="{until - begin - 1:.1f}" height="15"/>'
               f'<text x="{begin + 4:.1f}" y="14.5">{value_ms:.4g}</text>')


def _taken_up(found: dict[int, bool], x: Callable[[int], float]) -> Iterator[str]:
    for broadcast, new_tree in found.items():
        what = f"broadcast {broadcast}: {'a new spanning tree' if new_tree else 'known to the ranks'}"
        yield (f'<circle class="{"taken new" if new_tree else "taken"}" cx="{x(broadcast):.1f}" cy="10.5"'
               f' r="3.6"><title>{what}</title></circle>')


def by_broadcast(figure: dict) -> str:
    """A picture for each arm, all with the same logarithmic axis."""
    every = [value for arm in figure["arms"] for run in arm["runs"] for value in run["completion_ms"]]
    bounds = [(call, bound * 1000) for call, bound in enumerate(figure["bound_ms"], start=1)]
    ends_us = (1000 * max([*every, *figure["bound_ms"]]), 1000 * min([*every, *figure["bound_ms"]]))
    pictures = [
        f"<figure><figcaption><b>{escape(arm['title'])}</b></figcaption>"
        + line_chart([_times(arm)], *ends_us, NUMBERS, 170, bounds, list(_marks(figure))) + "</figure>"
        for arm in figure["arms"]]
    return f'<div class="groups">{"".join(pictures)}</div>' if pictures else "not measured"


def _times(arm: dict) -> Line:
    """Medians of the runs, and the band in which all are."""
    by_call = zip(*(run["completion_ms"] for run in arm["runs"]), strict=True)
    style = "l3" if arm["key"] == "default" else "l0"
    return Line(arm["title"], style, [
        Point(call, 1000 * statistics.median(values), 1000 * min(values), 1000 * max(values))
        for call, values in enumerate(by_call, start=1)])


def _marks(figure: dict) -> Iterator[tuple[int, str]]:
    """At each broadcast before which something changes."""
    links: dict[int, list[str]] = {}
    for change in figure["changes"]:
        links.setdefault(change["call"], []).append(change["link"])
    for call, names in links.items():
        yield call, names[0] if len(names) == 1 else f"{len(names)} links"


def trees(result: dict, figure: dict) -> str:
    """The spanning tree before the changes and after each that made another one best."""
    drawn = []
    for number, moment in enumerate(figure["trees"]):
        before = figure["trees"][number - 1] if number else None
        if before and _edges(before) == _edges(moment):
            continue
        drawn.append(f"<figure><h3>{escape(_when(moment))}</h3><p class='soft'>{escape(_took(moment))}</p>"
                     + tree(result["network"], result["root"], moment["messages"]) + "</figure>")
    return "\n".join(drawn)


def last_trees(result: dict, figure: dict) -> str:
    """Over which each arm's own last broadcasts went, in its first run."""
    return "\n".join(f"<figure><h3>{escape(arm['title'])}</h3>"
                     f"{tree(result['network'], result['root'], arm['runs'][0]['last_tree'])}</figure>"
                     for arm in figure["arms"] if arm["runs"][0].get("last_tree"))


def _edges(moment: dict) -> Sequence[tuple[int, int]]:
    return sorted((sender, receiver) for sender, receiver, _ in moment["messages"])


def _when(moment: dict) -> str:
    if not moment["links"]:
        return "Before the changes"
    return f"From broadcast {moment['call']} on, link{'s' * (len(moment['links']) > 1)}" \
           f" {', '.join(moment['links'])} changed"


def _took(moment: dict) -> str:
    done_ms = max(at_ms for *_, at_ms in moment["messages"])
    kept = f"; over the tree before, after {moment['kept_ms']:.0f} ms" if moment["links"] else ""
    return f"all hosts have it after {done_ms:.0f} ms{kept}"
