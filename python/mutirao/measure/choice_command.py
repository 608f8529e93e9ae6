"""`mutirao bench --choice`: every arm by force, and the choice that mutirao makes by itself."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import print_json
from mutirao.base.tables import text_table
from mutirao.base.units import counted, duration, ratio
from mutirao.catalogue.collectives import COLLECTIVES, Collective
from mutirao.catalogue.predicted import NATIVE, OWN_CHOICE
from mutirao.measure.campaign import Campaign, campaign_in
from mutirao.measure.choice import Cell, Hosts, arms_for, free_run, hosts_of, in_turns, native_beside, summary
from mutirao.measure.circumstances import Circumstances, busy_remarks
from mutirao.measure.intervals import WANTED_CONFIDENCE, Interval
from mutirao.measure.measure import Contender, Measurement, Workload
from mutirao.measure.words import (
    REPEAT,
    Place,
    check_counts,
    lengths_of,
    parse_only,
    place_of,
    roots_of,
    settling_of,
)
from mutirao.run.mpis import Mpi
from mutirao.run.user_settings import gather_settings

# On real hosts, where others may take a turn in any of them.
CHOICE_REPEAT = 50
# For a forced arm on real hosts, where the first calls are not like the others.
_WARM_UP_MS = 50
_MOST_SECONDS_OF_A_JOB = 1200.0
_ALWAYS = (NATIVE, OWN_CHOICE)  # what all arms are held against, and what is judged
_COLUMNS = ("", "native", "best", "choice", "first ruled", "x best", "95%", "x native", "95%",
            "best arm", "choice ran")


def add_choice(way, parser) -> None:
    way.add_argument("--choice", action="store_const", dest="way", const="--choice",
                     help="judge mutirao's choice, cell by cell: every algorithm by force (or those"
                     " of --only), the native one, and the free choice once it has settled, in turns")
    parser.add_argument("--late-us", type=int, metavar="T",
                        help="with --choice: the last rank comes so many microseconds late to each call")
    parser.add_argument("--late-changes", action="store_true", default=None,
                        help="with --late-us: each rank in turn instead of the last one")


def run_choice(arguments, collectives: Sequence[Collective]) -> int:
    place = place_of(arguments)
    if arguments.repeat is None:
        arguments.repeat = REPEAT if place.network else CHOICE_REPEAT
    check_counts(arguments, "repeat", *([] if arguments.late_us is None else ["late_us"]))
    if arguments.only and len(collectives) > 1:
        raise UsageError("--only names algorithms of one collective, not of several")
    if arguments.late_changes and not arguments.late_us:
        raise UsageError("--late-changes needs --late-us: by how much ranks are late")
    settings = gather_settings(arguments.assignments)
    for name in filter(settings.get, ("start", *COLLECTIVES)):
        raise UsageError(f"--choice forces every arm and lets mutirao choose: the setting {name} has"
                         " no say in it")
    plans = [_plan(arguments, place, settings, collective, mpi, len(collectives) > 1) for mpi in place.mpis
             for collective in collectives]
    if not arguments.only:
        hosts = hosts_of(place, settings)
        plans = [replace(plan, arms=_arms(plan, hosts)) for plan in plans]
    circumstances = Circumstances("choice", False, [mpi.name for mpi in place.mpis])
    cells, failures = _measure_all(place, plans)
    if not any(cells.values()):
        raise Failure("nothing could be measured")
    if arguments.json:
        print_json(circumstances.to_dict() | _to_dict(place, plans, cells, failures))
    else:
        _print(plans, cells, failures)
        for line in busy_remarks(circumstances.to_dict()):
            print(line)
    return 1 if failures else 0


@dataclass(frozen=True)
class Plan:
    """What is run of one collective on one MPI library."""

    mpi: Mpi
    collective: str
    free: Workload
    forced: Workload
    rounds: int
    settings: Mapping[str, str]
    arms: Mapping[str, Sequence[int]]  # the lengths for which each is tried

    def contender(self, name: str) -> Contender:
        settings = {**self.settings, self.collective: name}
        if name == OWN_CHOICE:
            settings["start"] = "soon"
        return Contender(name, self.mpi, None if name == NATIVE else settings, self.collective)

    def workload(self, name: str) -> Workload:
        if name == OWN_CHOICE:
            return self.free
        if name == NATIVE:
            return replace(self.forced, beside_native=False)
        return replace(self.forced, lengths_bytes=self.arms.get(name, self.free.lengths_bytes))

    @property
    def points(self) -> int:
        names = [*self.arms, OWN_CHOICE]
        return sum(self.workload(name).points for number in range(self.rounds) for name in in_turns(names, number))

    @property
    def title(self) -> str:
        return f"{self.collective} on {self.mpi.title}"


def _plan(arguments, place: Place, settings: Mapping[str, str], collective: Collective,
          mpi: Mpi, one_of_several: bool) -> Plan:
    """Of several, lengths and roots are for those that have any."""
    # In a lab calls last so long that they can be measured one by one.
    real = place.network is None
    lengths = [0] if one_of_several and not collective.has_length else lengths_of(arguments, collective)
    roots = ([0] if one_of_several and not collective.rooted
             else roots_of(arguments, collective, place.ranks, place.network))
    settling = settling_of(arguments)
    forced = Workload(lengths, roots, (0 if real else 1,), arguments.repeat,
                      settle_ms=_WARM_UP_MS if real else 0, beside_native=real,
                      late_us=arguments.late_us or 0, late_changes=bool(arguments.late_changes))
    free = replace(forced, settle_calls=settling.calls, settle_ms=settling.ms)
    only = parse_only(arguments.only or [], collective.name)
    return Plan(mpi, collective.name, free, forced, settling.rounds, settings,
                {name: lengths for name in only if name not in _ALWAYS})


def _arms(plan: Plan, hosts: Hosts) -> dict[str, list[int]]:
    arms: dict[str, list[int]] = {}
    for length in plan.free.lengths_bytes:
        for name in arms_for(plan.collective, hosts, length, plan.free.roots[0]):
            arms.setdefault(name, []).append(length)
    return arms


def _measure_all(place: Place, plans: Sequence[Plan]) -> tuple[dict[str, list[Cell]], list[dict]]:
    """The cells of each plan, by its title, of which a plan whose free choice fails has none; and what was left out."""
    cells = {}
    with campaign_in(place, sum(plan.points for plan in plans), _MOST_SECONDS_OF_A_JOB) as campaign:
        for plan in plans:
            try:
                cells[plan.title] = measured_cells(plan, campaign)
            except Failure as failure:
                campaign.progress.say(f"{plan.title} is left out: {failure}")
                campaign.failures.append({"collective": plan.collective, "mpi": plan.mpi.name, "name": None,
                                          "reason": str(failure)})
                cells[plan.title] = []
    return cells, campaign.failures


def measured_cells(plan: Plan, campaign: Campaign) -> list[Cell]:
    """Round by round; an arm that cannot run has no place in the rounds to come."""
    cells = {(length, root): Cell(plan.collective, length, root)
             for root in plan.free.roots for length in plan.free.lengths_bytes}
    names = [*plan.arms, OWN_CHOICE]
    for number in range(plan.rounds):
        jobs = in_turns(names, number)
        done = [campaign.measure(plan.contender(name), plan.workload(name), f"{plan.collective}, round {number + 1}",
                                 forced=name not in _ALWAYS, needed=name in _ALWAYS) for name in jobs]
        for position, measurement in enumerate(done):
            if measurement is None:
                names.remove(jobs[position])
            elif jobs[position] != NATIVE:
                _add(cells, number, measurement, done[native_beside(jobs, position)])
    return list(cells.values())


def _add(cells: Mapping[tuple[int, int], Cell], number: int, measurement: Measurement,
         native: Measurement) -> None:
    name = measurement.contender.name
    natives = {(each.length_bytes, each.root): each for each in native.points}
    for point in measurement.points:
        key = (point.length_bytes, point.root)
        cells[key].add(name, number, point, natives[key])
        if name == OWN_CHOICE:
            cells[key].free_runs[number] = free_run(measurement, point, natives[key])


def _to_dict(place: Place, plans: Sequence[Plan], cells: Mapping[str, Sequence[Cell]],
             failures: Sequence[dict]) -> dict:
    return {**place.to_dict(), "rounds": plans[0].rounds,
            "repeat": plans[0].free.repeat, "settle_calls": plans[0].free.settle_calls,
            "settle_ms": plans[0].free.settle_ms,
            "late_us": plans[0].free.late_us, "late_changes": plans[0].free.late_changes,
            "plans": [{"mpi": plan.mpi.name, "mpi_title": plan.mpi.title,
                       "collective": plan.collective,
                       "arms": {name: list(lengths) for name, lengths in plan.arms.items()},
                       "cells": [cell.to_dict() for cell in cells[plan.title]]} for plan in plans],
            "summary": {mpi.name: summary(mine) for mpi in place.mpis
                        if (mine := _cells_on(mpi, plans, cells))},
            "failed": list(failures)}


def _cells_on(mpi: Mpi, plans: Sequence[Plan], cells: Mapping[str, Sequence[Cell]]) -> list[Cell]:
    return [cell for plan in plans if plan.mpi == mpi for cell in cells[plan.title]]


def _print(plans: Sequence[Plan], cells: Mapping[str, Sequence[Cell]],
           failures: Sequence[dict]) -> None:
    for mpi in dict.fromkeys(plan.mpi for plan in plans):
        mine = _cells_on(mpi, plans, cells)
        if mine:
            print(text_table(_COLUMNS, [row_of(cell) for cell in mine], mpi.title))
            print("\n".join(summary_lines(mine)) + "\n")
    for collective, arms in {plan.collective: plan.arms for plan in plans}.items():
        print(textwrap.fill(f"{collective}, {counted(len(arms), 'arm')} by force: {', '.join(arms)}",
                            100, subsequent_indent="  ", break_on_hyphens=False))
    for (collective, mpi, reason), names in _by_reason(failures).items():
        print(f"left out: {collective}{', '.join(['', *filter(None, names)])} on {mpi}: {reason}")


def _by_reason(failures: Sequence[dict]) -> dict[tuple[str, str, str], list[str | None]]:
    """The names of arms; None: all of the collective."""
    names: dict[tuple[str, str, str], list[str | None]] = {}
    for each in failures:
        names.setdefault((each["collective"], each["mpi"], each["reason"]), []).append(each["name"])
    return names


def row_of(cell: Cell) -> tuple:
    best = cell.best_arm()
    return (COLLECTIVES[cell.collective].calls(cell.length_bytes, cell.root),
            *(duration(cell.median_ms(name) * 1000) for name in (NATIVE, best, OWN_CHOICE)),
            "" if cell.first_ruled_ms is None else duration(cell.first_ruled_ms * 1000),
            ratio(cell.to_best.median), _range(cell.to_best), ratio(cell.to_native.median),
            _range(cell.to_native), best, _said_of(cell, best))


def _said_of(cell: Cell, best: str) -> str:
    said = ", ".join("the same" if name == best else name for name in cell.ran)
    return said + (f"; {cell.unsettled} of {len(cell.free_runs)} not settled" if cell.unsettled else "")


def _range(interval: Interval) -> str:
    return f"{interval.low:.2f}-{interval.high:.2f}"


def _against_native_jobs(cells: Sequence[Cell], of_all: Mapping) -> list[str]:
    """A line where native is what the job beside it measured itself."""
    beside = any(sample.native_beside_ms for cell in cells for sample in cell.samples[OWN_CHOICE].values())
    return [f"against jobs without mutirao {of_all['to_native_job']:.3f} x; the other ratios to native are to the"
            " MPI library's own calls in the same job"] if beside else []


def summary_lines(cells: Sequence[Cell]) -> list[str]:
    of_all = summary(cells)
    worst = of_all["worst"]
    title = COLLECTIVES[worst["collective"]].calls(worst["length_bytes"], worst["root"])
    lines = [f"{counted(of_all['cells'], 'cell')}, geometric means: the choice takes"
             f" {of_all['to_best']:.3f} x the best arm and {of_all['to_native']:.3f} x native; the best"
             f" arm {of_all['best_to_native']:.3f} x native",
             *_against_native_jobs(cells, of_all),
             f"within 5% of the best: {of_all['near_best']} of {of_all['cells']}; not worse than native"
             f" (3% or 60 ns): {of_all['near_native']} of {of_all['cells']}",
             f"worst cell: {title}, {worst['to_best']['median']:.2f} x the best"
             f" ({worst['to_best']['low']:.2f}-{worst['to_best']['high']:.2f})"]
    if of_all["ruled"]:
        lines.append(f"first ruled calls within 15% of the best: {of_all['near_best_at_first']} of"
                     f" {of_all['ruled']}; the slowest until all was settled:"
                     f" {of_all['slowest_ruled_to_native']:.2f} x native")
    if of_all["confidence"] < WANTED_CONFIDENCE:
        lines.append(f"with so few rounds intervals hold the median with {of_all['confidence']:.0%}"
                     " only, not with 95%")
    return lines
