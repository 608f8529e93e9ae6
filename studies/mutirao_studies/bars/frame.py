"""Which bars are measured, what is said of them, and what is kept for the next time."""

import json
import random
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from mutirao.base.errors import Failure, UsageError, did_you_mean
from mutirao.base.paths import ROOT
from mutirao.base.units import counted, spoken
from mutirao_studies.bars.bar import Bar
from mutirao_studies.document import make_folder

MOST_MINUTES = 60  # of a sample
KEPT = ROOT / "results" / "bars.json"
_WIDTH = 80
_VERDICTS = {True: "met", False: "NOT MET"}


def named(bars: Sequence[Bar], names: Iterable[str]) -> list[Bar]:
    """Each name stands for one bar, or for all whose names begin with it and a hyphen."""
    chosen: list[Bar] = []
    for name in names:
        found = [bar for bar in bars if bar.name == name or bar.name.startswith(f"{name}-")]
        if not found:
            known = [bar.name for bar in bars]
            raise UsageError(f"there is no bar '{name}'{did_you_mean(name, known)} (make bars LIST=1 lists them)")
        chosen += [bar for bar in found if bar not in chosen]
    return chosen


def sample(bars: Sequence[Bar], commit_hash: str) -> list[Bar]:
    """As many as there is time for, drawn by the commit's hash: the same for the same commit."""
    drawn = list(bars)
    random.Random(commit_hash).shuffle(drawn)
    chosen, left = [], MOST_MINUTES
    for bar in drawn:
        if bar.minutes <= left:
            chosen.append(bar)
            left -= bar.minutes
    return chosen


def read_kept() -> dict[str, dict]:
    """What each bar was when it was last measured."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def keep(kept: dict[str, dict], outcome: Mapping) -> None:
    """At once: a run that is interrupted leaves what it has measured."""
    kept[outcome["bar"]] = dict(outcome)
    make_folder(KEPT.parent)
    KEPT.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def run_bar(bar: Bar, commit_hash: str) -> dict:
    """What became of it; one that fails is not met, and says why."""
    began_s = time.monotonic()
    outcome = {"bar": bar.name, "commit": commit_hash, "made": time.strftime("%Y-%m-%d %H:%M"), "failed": None}
    try:
        findings = [asdict(finding) for finding in bar.measure()]
    except (Failure, UsageError) as failure:
        findings, outcome["failed"] = [], str(failure).partition("\n")[0]
    return {**outcome, "seconds": round(time.monotonic() - began_s), "findings": findings,
            "met": bool(findings) and all(finding["met"] for finding in findings)}


def lines_of(outcome: Mapping, last: Mapping | None) -> list[str]:
    """The verdict first, then each number beside what it was."""
    head = f"{_VERDICTS[outcome['met']]}: {outcome['bar']} ({spoken(outcome['seconds'])})"
    if outcome["failed"]:
        return [*_filled(f"{head}: {outcome['failed']}", ""), *_before(last)]
    before = {finding["asked"]: finding for finding in (last or {}).get("findings", ())}
    lines = [head]
    for finding in outcome["findings"]:
        mark = "" if finding["met"] else ", NOT MET"
        earlier = before.get(finding["asked"])
        was = f"; before: {earlier['measured']}{'' if earlier['met'] else ', not met'}" if earlier else ""
        lines += _filled(f"{finding['asked']}: {finding['measured']}{mark}{was}", "  ")
    return [*lines, *_before(last)]


def _before(last: Mapping | None) -> list[str]:
    if not last:
        return []
    failed = f", failed: {last['failed']}" if last["failed"] else ""
    return _filled(f"before: {last['made']}, commit {last['commit'][:12]}{failed}", "  ")


def _filled(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ",
                         break_on_hyphens=False)


def summary_lines(outcomes: Sequence[Mapping], remarks: Sequence[str] = ()) -> list[str]:
    lost = [outcome["bar"] for outcome in outcomes if not outcome["met"]]
    lines = [f"{len(outcomes) - len(lost)} of {counted(len(outcomes), 'bar')} met",
             *([f"not met: {', '.join(lost)}"] if lost else []), *remarks]
    return [line for each in lines for line in _filled(each, "")]


def listed(bars: Sequence[Bar]) -> list[str]:
    width = max(len(bar.name) for bar in bars)
    lines = []
    for bar in bars:
        lines += textwrap.wrap(f"{bar.name:{width}}  {bar.minutes:3.0f} min  {bar.text}", _WIDTH,
                               subsequent_indent=" " * (width + 11), break_on_hyphens=False)
    return lines
