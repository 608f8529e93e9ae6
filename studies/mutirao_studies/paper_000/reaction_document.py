"""What `study reaction` shows: until broadcasts are good again after a change, and until the ranks know."""

from collections.abc import Sequence

from mutirao.base.tables import Table
from mutirao.pages.html import judged, legend, soft
from mutirao_studies.account import with_settings
from mutirao_studies.chart import Bar, Group, bar_chart
from mutirao_studies.document import Document, Lines, Section
from mutirao_studies.line_chart import SECONDS, Line, Point, line_chart
from mutirao_studies.paper_000.reaction import (
    RECOVERS,
    WORSE,
    WORSENS,
    about_synchronous,
    in_seconds,
    summary,
    summary_table,
    trials_of,
)

_KNOWN, _GOOD = "a1", "a0"
_MARGIN_MS = 5000  # what is drawn before the first change
_CHANGES_DRAWN = 2


def document(result: dict) -> Document:
    lead = (f"A program broadcasts on and on. A link of its tree gets {WORSE:g} times worse under it, and"
            f" recovers later. How long until broadcasts are within {result['good']:g} times the physical bound"
            " again, and until the ranks know?")
    raw = Table("", ("", "link", "change", "good after, s", "known after, s", "late", "stray", "worst, ms"), [
        (scenario["title"], scenario["link"], trial["kind"], in_seconds(trial["reaction_s"]),
         in_seconds(trial["known_s"]), trial["late_calls"], trial["strays"], f"{trial['worst_ms']:.1f}")
        for scenario in result["scenarios"] for trial in scenario["trials"]])
    return Document("How long until broadcasts are good again", lead, result, [
        Section("From a change until broadcasts are good",
                [legend({"until the ranks knew": _KNOWN, "until broadcasts were good": _GOOD},
                        "what is wanted of the median"), _reactions(result), summary_table(result),
                 Lines([about_synchronous(result), *_trial_lines(result)])]),
        Section("Broadcast by broadcast",
                [soft("Around the first two changes, which are the upright lines; logarithmic. The dashed line is the"
                      " physical bound."), _calls(result)])],
        [raw], list(map(_tile, summary(result))), [with_settings(result)])


def _tile(row: dict) -> tuple[str, str, str]:
    never = row["median_s"] is None
    return (judged(not never and row["median_s"] <= row["bar_s"]), "never" if never else f"{row['median_s']:.1f} s",
            f"{row['scenario']}, the link {row['kind']}; at most {row['bar_s']:g} s wanted")


def _trial_lines(result: dict) -> list[str]:
    lines = []
    for scenario in result["scenarios"]:
        for kind in scenario["bars_s"]:
            good, known = (", ".join(in_seconds(each[key]) for each in trials_of(scenario, kind))
                           for key in ("reaction_s", "known_s"))
            lines.append(f"{scenario['title']}, link {scenario['link']} of {scenario['round_trip_ms']:g} ms {kind}:"
                         f" good after {good} s; known to the ranks after {known} s")
    return lines


def _reactions(result: dict) -> str:
    return bar_chart([
        Group(f"{scenario['title']}, {kind}",
              [_bar(number, trial) for number, trial in enumerate(trials_of(scenario, kind), start=1)],
              limit_s, f"link {scenario['link']}, {scenario['round_trip_ms']:g} ms")
        for scenario in result["scenarios"] for kind, limit_s in scenario["bars_s"].items()])


def _bar(number: int, trial: dict) -> Bar:
    """Until the ranks knew, where that was before broadcasts were good."""
    good_s, known_s = trial["reaction_s"], trial["known_s"]
    whole_s = good_s or 0.0
    first_s = min(known_s, whole_s) if known_s is not None else 0.0
    what = f"known after {in_seconds(known_s)} s, good after {in_seconds(good_s)} s"
    return Bar(f"trial {number}", [(_KNOWN, first_s, what), (_GOOD, whole_s - first_s, what)],
               "never" if good_s is None else f"{good_s:.2f} s")


def _calls(result: dict) -> str:
    pictures = [f"<figure><figcaption><b>{scenario['title']}</b></figcaption>{_chart(scenario)}</figure>"
                for scenario in result["scenarios"] if scenario["begin_ms"]]
    return f'<div class="groups">{"".join(pictures)}</div>'


def _chart(scenario: dict) -> str:
    changed_ms = [trial["changed_ms"] for trial in scenario["trials"]]
    began_ms = changed_ms[0] - _MARGIN_MS
    ended_ms = changed_ms[_CHANGES_DRAWN] if len(changed_ms) > _CHANGES_DRAWN else scenario["begin_ms"][-1]
    calls = [(begin, took) for begin, took in zip(scenario["begin_ms"], scenario["completion_ms"], strict=True)
             if began_ms <= begin <= ended_ms]
    points = [Point(round(begin - began_ms), 1000 * took, 1000 * took, 1000 * took) for begin, took in calls]
    if not points:
        return "no calls"
    changes = [(round(at - began_ms), kind) for at, kind
               in zip(changed_ms[:_CHANGES_DRAWN], (WORSENS, RECOVERS), strict=False)]
    bound = _bound(scenario["bounds_ms"], changes, points)
    every_us = [point.us for point in points] + [us for _, us in bound]
    return line_chart([Line("broadcast", "l3", points)], max(every_us), min(every_us), SECONDS, 190,
                      bound, changes)


def _bound(bounds_ms: dict[str, float], changes: Sequence[tuple[int, str]],
           points: Sequence[Point]) -> list[tuple[int, float]]:
    """It is as after a recovery until something changes."""
    steps, now_us = [(points[0].x, 1000 * bounds_ms[RECOVERS])], 1000 * bounds_ms[RECOVERS]
    for at, kind in changes:
        steps += [(at, now_us), (at, 1000 * bounds_ms[kind])]
        now_us = 1000 * bounds_ms[kind]
    return [*steps, (points[-1].x, now_us)]
