"""`mutirao bench --choice`: how good mutirao's free choice is, judged against every arm that was run by force, and
against the MPI library's own, cell by cell (one collective at one length, from one root).

All runs of a round follow one another, each right before or after a native one, and only ratios to
that one are compared, so that drift of the machine or the network cancels out. On real hosts, where calls
take microseconds, two jobs of the same differ by more than what is to be seen: there each job calls the MPI
library's own functions, too, in turn with its measurements, and ratios are to these. The best arm that a
round's choice is held against is the best of all other rounds: the least of many noisy times is too
low, and nobody could have chosen it.

By force runs whatever may be chosen on these hosts, whose network is measured first where it is no lab's.
"""

import statistics
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import note
from mutirao.base.tables import text_table
from mutirao.base.units import counted, duration, ratio
from mutirao.catalogue.collectives import COLLECTIVES, Collective
from mutirao.catalogue.predicted import NATIVE, OWN_CHOICE
from mutirao.lab.network import HostNetwork
from mutirao.measure.arms import ONE_HOST, arms_for
from mutirao.measure.intervals import WANTED_CONFIDENCE, Interval, median_interval
from mutirao.measure.measure import Campaign, Contender, Measurement, Point, Workload, campaign_in, measure
from mutirao.measure.words import REPEAT, Place, check_counts, lengths_of, parse_only, place_of, roots_of, settling_of
from mutirao.run.mpis import Mpi
from mutirao.run.user_settings import gather_settings

NEAR_BEST = 1.05
# Not worse than native: by that ratio or that time, whichever is more.
NEAR_NATIVE, NEAR_NATIVE_MS = 1.03, 60e-6


@dataclass(frozen=True)
class Sample:
    """One job's time of one call, that of the native job beside it, and in that same job the MPI library's
    own, where that was measured."""

    ms: float
    native_job_ms: float
    native_beside_ms: float | None = None

    @property
    def native_ms(self) -> float:
        return self.native_beside_ms or self.native_job_ms

    @property
    def to_native(self) -> float:
        return self.ms / self.native_ms

    @property
    def to_native_job(self) -> float:
        return self.ms / self.native_job_ms


def free_run(measurement: Measurement, length_bytes: int, root: int) -> tuple[str, bool]:
    """What ran in the end in a job that was free to choose, and whether nothing was still to be tried."""
    rulings = measurement.rulings(length_bytes, root)
    return measurement.chosen(length_bytes, root) or NATIVE, not rulings or rulings[-1].get("settled", True)


def in_turns(names: Sequence[str], round_number: int) -> list[str]:
    """A round's jobs, in every other round backwards: each has a native one right beside it."""
    order = list(names)[::-1] if round_number % 2 else list(names)
    jobs = []
    for number, name in enumerate(order):
        jobs += [NATIVE, name] if number % 2 == 0 else [name]
    return jobs if len(order) % 2 else [*jobs, NATIVE]


def native_beside(jobs: Sequence[str], number: int) -> int:
    """The number of the native job next to this one."""
    return number - 1 if number and jobs[number - 1] == NATIVE else number + 1


@dataclass
class Cell:
    """All that was measured of one collective, length and root, round by round."""

    collective: str
    length_bytes: int
    root: int
    samples: dict[str, list[Sample]] = field(default_factory=dict)  # by name; one of each round
    free_runs: list[tuple[str, bool]] = field(default_factory=list)

    def add(self, measurement: Measurement, point: Point, native: Point) -> None:
        name = measurement.contender.name
        self.samples.setdefault(name, []).append(Sample(point.call_ms, native.call_ms, point.native_call_ms))
        if name == OWN_CHOICE:
            self.free_runs.append(free_run(measurement, self.length_bytes, self.root))

    @property
    def choice(self) -> list[Sample]:
        return self.samples[OWN_CHOICE]

    @property
    def arms(self) -> dict[str, list[Sample]]:
        """Those that ran in every round; native is one of them."""
        ran = {name: samples for name, samples in self.samples.items()
               if name != OWN_CHOICE and len(samples) == len(self.choice)}
        return {NATIVE: [Sample(each.native_ms, each.native_ms) for each in self.choice], **ran}

    def best_arm(self, but_round: int | None = None) -> str:
        """Native wins ties."""
        numbers = [number for number in range(len(self.choice)) if number != but_round] or [0]
        arms = self.arms
        return min(arms, key=lambda name: statistics.median(arms[name][number].to_native for number in numbers))

    @property
    def best_to_native(self) -> float:
        return statistics.median(each.to_native for each in self.arms[self.best_arm()])

    def median_ms(self, name: str) -> float:
        return statistics.median(each.ms for each in (self.choice if name == OWN_CHOICE else self.arms[name]))

    @property
    def to_native(self) -> Interval:
        return median_interval([each.to_native for each in self.choice])

    @property
    def to_native_job(self) -> Interval:
        """Against jobs that mutirao has no part in, whatever the MPI library's own calls take beside it."""
        return median_interval([each.to_native_job for each in self.choice])

    @property
    def to_best(self) -> Interval:
        """In each round against the best arm of all others."""
        return median_interval([each.to_native / self.arms[self.best_arm(number)][number].to_native
                                for number, each in enumerate(self.choice)])

    @property
    def near_best(self) -> bool:
        return self.to_best.median <= NEAR_BEST

    @property
    def near_native(self) -> bool:
        """Not worse than native beyond what is promised."""
        native_ms = self.median_ms(NATIVE)
        return native_ms * self.to_native.median <= max(native_ms * NEAR_NATIVE,
                                                        native_ms + NEAR_NATIVE_MS)

    @property
    def unsettled(self) -> int:
        """The free runs that ended while something might still be tried."""
        return sum(not settled for _, settled in self.free_runs)

    @property
    def ran(self) -> list[str]:
        """What the free choice used in the end, the most frequent first."""
        names = [ran for ran, _ in self.free_runs]
        return sorted(dict.fromkeys(names), key=names.count, reverse=True)

    def to_dict(self) -> dict:
        """All samples, and what is made of them."""
        made = {name: getattr(self, name) for name in ("ran", "unsettled", "near_best", "near_native")}
        return {**asdict(self), **made, "best": self.best_arm(), "choice_ms": self.median_ms(OWN_CHOICE),
                "arms_ms": {name: self.median_ms(name) for name in self.arms},
                **{name: vars(getattr(self, name)) for name in ("to_best", "to_native", "to_native_job")}}


def summary(cells: Sequence[Cell]) -> dict:
    """Over all cells; geometric means, since these are ratios."""
    worst = max(cells, key=lambda cell: cell.to_best.median)
    means = {name: statistics.geometric_mean(getattr(cell, name).median for cell in cells)
             for name in ("to_best", "to_native", "to_native_job")}
    return {"cells": len(cells), **means,
            "best_to_native": statistics.geometric_mean(cell.best_to_native for cell in cells),
            "near_best": sum(cell.near_best for cell in cells),
            "near_native": sum(cell.near_native for cell in cells),
            "confidence": min(cell.to_best.confidence for cell in cells),
            "worst": {"collective": worst.collective, "length_bytes": worst.length_bytes,
                      "root": worst.root, "to_best": vars(worst.to_best)}}


# --- the command --------------------------------------------------------------------------------------


# On real hosts, where others may take a turn in any of them.
CHOICE_REPEAT = 50
# For a forced arm on real hosts, where the first calls are not like the others.
_WARM_UP_MS = 50
_MOST_SECONDS_OF_A_JOB = 1200.0
_ALWAYS = (NATIVE, OWN_CHOICE)  # what all arms are held against, and what is judged
_COLUMNS = ("", "native", "best", "choice", "x best", "95%", "x native", "95%",
            "best arm", "choice ran")


def add_choice(way, parser) -> None:
    way.add_argument("--choice", action="store_const", dest="way", const="--choice",
                     help="judge mutirao's choice, cell by cell: every algorithm by force (or those"
                     " of --only), the native one, and the free choice once it has settled, in turns")
    parser.add_argument("--late-us", type=int, metavar="T",
                        help="with --choice: the last rank comes so many microseconds late to each call")


def run_choice(arguments, collectives: Sequence[Collective]) -> int:
    place = place_of(arguments)
    check_counts(arguments, repeat=REPEAT if place.network else CHOICE_REPEAT, late_us=None)
    settings = gather_settings(arguments.assignments)
    for name in filter(settings.get, ("start", *COLLECTIVES)):
        raise UsageError(f"--choice forces every arm and lets mutirao choose: the setting {name} has"
                         " no say in it")
    plans = [_plan(arguments, place, settings, collective, mpi, len(collectives) > 1) for mpi in place.mpis
             for collective in collectives]
    if not arguments.only:
        network = network_of(place, settings)
        plans = [replace(plan, arms=_arms(plan, network, place.ranks)) for plan in plans]
    with campaign_in(place, "choice", sum(plan.points for plan in plans), _MOST_SECONDS_OF_A_JOB) as campaign:
        judged = [(plan, _cells_if_any(plan, campaign)) for plan in plans]
    of_mpi = {mpi: [cell for plan, cells in judged if plan.mpi == mpi for cell in cells] for mpi in place.mpis}
    if not any(of_mpi.values()):
        raise Failure("nothing could be measured")
    return campaign.tell(arguments.json, _to_dict(place, judged, of_mpi, campaign.failures),
                         _text(plans, of_mpi))


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
        settings = {**self.settings, "start": "soon"} if name == OWN_CHOICE else self.settings
        return Contender.named(name, self.mpi, settings, self.collective)

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


def _plan(arguments, place: Place, settings: Mapping[str, str], collective: Collective,
          mpi: Mpi, one_of_several: bool) -> Plan:
    # In a lab calls last so long that they can be measured one by one.
    real = place.network is None
    lengths = lengths_of(arguments, collective, one_of_several)
    roots = roots_of(arguments, collective, place.ranks, place.network, one_of_several)
    settling, rounds = settling_of(arguments)
    forced = Workload(lengths, roots, (0 if real else 1,), arguments.repeat,
                      settle_ms=_WARM_UP_MS if real else 0, beside_native=real,
                      late_us=arguments.late_us or 0)
    free = replace(forced, **settling)
    only = parse_only(arguments.only or [], collective.name)
    return Plan(mpi, collective.name, free, forced, rounds, settings,
                {name: lengths for name in only if name not in _ALWAYS})


def network_of(place: Place, settings: Mapping[str, str]) -> HostNetwork:
    """As the library sees it."""
    if place.network is not None and "ranks_per_host" not in settings:
        return place.network
    contender = Contender.named(OWN_CHOICE, place.mpis[0], settings, "barrier")
    with place.up() as lab:
        return measure(contender, [Workload([0], [0])], place.ranks, lab).network or ONE_HOST


def _arms(plan: Plan, network: HostNetwork, ranks: int) -> dict[str, list[int]]:
    arms: dict[str, list[int]] = {}
    for length in plan.free.lengths_bytes:
        for name in arms_for(plan.collective, network, ranks, length, plan.free.roots[0]):
            arms.setdefault(name, []).append(length)
    return arms


def _cells_if_any(plan: Plan, campaign: Campaign) -> list[Cell]:
    """None where native jobs or the free choice cannot run."""
    try:
        return measured_cells(plan, campaign)
    except Failure as failure:
        note(f"{plan.collective} on {plan.mpi.title} is left out: {failure}")
        campaign.failures.append({"collective": plan.collective, "mpi": plan.mpi.name, "name": None,
                                  "reason": str(failure)})
        return []


def measured_cells(plan: Plan, campaign: Campaign) -> list[Cell]:
    """Round by round; an arm that cannot run has no place in the rounds to come."""
    cells = {(length, root): Cell(plan.collective, length, root)
             for root in plan.free.roots for length in plan.free.lengths_bytes}
    names = [*plan.arms, OWN_CHOICE]
    for number in range(plan.rounds):
        jobs = in_turns(names, number)
        done = [campaign.measure(plan.contender(name), plan.workload(name),
                                 when=f"{plan.collective}, round {number + 1}",
                                 forced=name not in _ALWAYS, needed=name in _ALWAYS) for name in jobs]
        for position, (name, measurement) in enumerate(zip(jobs, done, strict=True)):
            if measurement is None:
                names.remove(name)
            elif name != NATIVE:
                native = done[native_beside(jobs, position)]
                for point in measurement.points:
                    cell = cells[point.length_bytes, point.root]
                    cell.add(measurement, point, native.point(point.length_bytes, point.root))
    return list(cells.values())


def _to_dict(place: Place, judged: Sequence[tuple[Plan, Sequence[Cell]]], of_mpi: Mapping[Mpi, Sequence[Cell]],
             failures: Sequence[dict]) -> dict:
    plan = judged[0][0]
    return {**place.to_dict(), "rounds": plan.rounds,
            **{name: getattr(plan.free, name) for name in ("repeat", "settle_calls", "settle_ms", "late_us")},
            "plans": [{"mpi": plan.mpi.name, "mpi_title": plan.mpi.title, "collective": plan.collective,
                       "arms": plan.arms, "cells": [cell.to_dict() for cell in cells]} for plan, cells in judged],
            "summary": {mpi.name: summary(cells) for mpi, cells in of_mpi.items() if cells}, "failed": failures}


def _text(plans: Sequence[Plan], of_mpi: Mapping[Mpi, Sequence[Cell]]) -> str:
    parts = ["\n".join([text_table(_COLUMNS, [row_of(cell) for cell in cells], mpi.title), *summary_lines(cells)])
             for mpi, cells in of_mpi.items() if cells]
    tried = {plan.collective: plan.arms for plan in plans}
    last = [textwrap.fill(f"{collective}, {counted(len(arms), 'arm')} by force: {', '.join(arms)}",
                          100, subsequent_indent="  ", break_on_hyphens=False) for collective, arms in tried.items()]
    return "\n\n".join([*parts, "\n".join(last)])


def row_of(cell: Cell) -> tuple:
    best = cell.best_arm()
    ran = ", ".join("the same" if name == best else name for name in cell.ran)
    unsettled = f"; {cell.unsettled} of {len(cell.free_runs)} not settled" if cell.unsettled else ""
    return (COLLECTIVES[cell.collective].calls(cell.length_bytes, cell.root),
            *(duration(cell.median_ms(name) * 1000) for name in (NATIVE, best, OWN_CHOICE)),
            ratio(cell.to_best.median), str(cell.to_best), ratio(cell.to_native.median),
            str(cell.to_native), best, ran + unsettled)


def summary_lines(cells: Sequence[Cell]) -> list[str]:
    of_all = summary(cells)
    worst = of_all["worst"]
    title = COLLECTIVES[worst["collective"]].calls(worst["length_bytes"], worst["root"])
    lines = [f"{counted(of_all['cells'], 'cell')}, geometric means: the choice takes"
             f" {of_all['to_best']:.3f} x the best arm and {of_all['to_native']:.3f} x native; the best"
             f" arm {of_all['best_to_native']:.3f} x native",
             f"within 5% of the best: {of_all['near_best']} of {of_all['cells']}; not worse than native"
             f" (3% or 60 ns): {of_all['near_native']} of {of_all['cells']}",
             f"worst cell: {title}, {worst['to_best']['median']:.2f} x the best"
             f" ({worst['to_best']['low']:.2f}-{worst['to_best']['high']:.2f})"]
    if any(sample.native_beside_ms for cell in cells for sample in cell.choice):
        lines.insert(1, f"against jobs without mutirao {of_all['to_native_job']:.3f} x; the other ratios to native are"
                     " to the MPI library's own calls in the same job")
    if of_all["confidence"] < WANTED_CONFIDENCE:
        lines.append(f"with so few rounds intervals hold the median with {of_all['confidence']:.0%}"
                     " only, not with 95%")
    return lines
