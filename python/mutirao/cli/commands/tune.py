"""`mutirao tune`: measures candidates by force beside the MPI library's own, and puts what they take into a profile.

After Hunold and Carpen-Amarie (2016, doi:10.1109/TPDS.2016.2539167): each candidate runs in several jobs,
since one job's placement and pages are one sample only; jobs take turns in a random order; calls start at
one time on all ranks; medians with intervals by order statistics, and no mean.
"""

import random
import statistics
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mutirao.base.errors import Failure, UsageError, check_range, unknown
from mutirao.base.output import note, print_json
from mutirao.base.progress import steps
from mutirao.base.units import counted, ratio
from mutirao.base.user_files import check_writable
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.catalogue.predicted import NATIVE, OWN_CHOICE, predict_all
from mutirao.cli.commands.profile import table
from mutirao.lab.network import HostNetwork, spread
from mutirao.measure import profile
from mutirao.measure.arms import ONE_HOST, arms_for
from mutirao.measure.circumstances import busy_remarks
from mutirao.measure.intervals import median_interval
from mutirao.measure.measure import Campaign, Contender, Point, Workload, campaign_in
from mutirao.measure.profile import Call, Row
from mutirao.measure.words import Place, add_place, lengths_of, place_of, roots_of
from mutirao.run.mpis import Mpi
from mutirao.run.user_settings import add_settings, gather_settings

_COLLECTIVES = "barrier,broadcast,reduce,allreduce,allgather,alltoall,reduce_scatter_block"
_BYTES = "8,256,4KiB,64KiB,1MiB"
_JOBS = 5
_DAY_S = 24 * 3600
# Candidates that are predicted to take more than so many times the best are left out.
_FACTOR = 2.0

# Of one length and root in one job; of those that take long fewer tell as much.
_CALLS, _CALLS_IF_LONG, _LONG_MS = 10, 3, 100.0
# Around each call ranks say that they are ready and agree on a start.
_TRIPS_AROUND = 3
_CONFIDENCE = 0.98


@dataclass(frozen=True)
class Cell:
    """One kind of call."""

    collective: str
    length_bytes: int
    root: int


@dataclass(frozen=True)
class Job:
    """One start of one candidate, for all lengths and roots at which it is worth a try."""

    collective: str
    candidate: str
    cells: tuple[Cell, ...]
    buffers: str


@dataclass
class Tuning:
    """What is asked for, what one job told of the place, and all other jobs, turn by turn, as long as the budget lasts.
    What a job measured is kept at once, so that whoever is stopped goes on from there."""

    mpi: Mpi
    settings: Mapping[str, str]
    cells: Sequence[Cell]
    buffers: Sequence[str]  # warm, cold
    starts: int  # of each candidate
    path: Path  # of the profile
    since_s: float  # what was measured earlier counts nothing

    # By the survey.
    library: str = ""  # as it calls itself
    ranks: int = 0
    hosts: int = 1
    network: HostNetwork | None = None  # as it was measured; None: one host
    predicted_ms: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    job_s: float = 0.0  # that a job takes, whatever it measures

    jobs: list[Job] = field(default_factory=list)
    done: Counter = field(default_factory=Counter)  # starts, by cell, candidate and buffers
    refused: set[Job] = field(default_factory=set)

    def survey(self, campaign: Campaign) -> None:
        """One job in which mutirao chooses: that measures the network, on which the rest is predicted."""
        first = min(self.cells, key=lambda cell: cell.length_bytes)
        found = campaign.measure(self._contender(first.collective, OWN_CHOICE),
                                 Workload([first.length_bytes], [first.root], repeat=1),
                                 when="measuring the network", needed=True)
        if found.report is None:
            raise Failure("mutirao left no report: nothing can be tuned")
        self.library, self.ranks, self.network, self.job_s = (
            found.report["mpi"], campaign.ranks, found.network, found.seconds)
        self.hosts = (found.communicator or {}).get("hosts", 1)
        # Of a lab it is known how much its links carry.
        network = campaign.lab.network if campaign.lab else found.network
        for cell in self.cells:
            campaign.progress.begin(f"predicting {cell.collective}")
            self.predicted_ms = {**self.predicted_ms, cell: _predicted_ms(cell, self.ranks, network)}
            campaign.progress.advance()

    def plan(self) -> None:
        """One job of each candidate, native wherever anything is measured; and what an earlier start has done of
        that."""
        cells_of: dict[tuple[str, str], list[Cell]] = {}
        for cell in self.cells:
            for name in (NATIVE, *self._worth_trying(cell)):
                cells_of.setdefault((cell.collective, name), []).append(cell)
        self.jobs = [Job(collective, name, tuple(cells), buffers) for buffers in self.buffers
                     for (collective, name), cells in cells_of.items()]
        number = profile.find_fabric(self.path, self.network)
        for fabric, mpi, row in profile.read(self.path).rows if number else ():
            cell = Cell(row.collective, row.length_bytes, max(row.root, 0))
            same = (fabric.id, mpi, row.ranks, row.hosts, row.origin) == (
                number, self.library, self.ranks, self.hosts, "tuned")
            if same and row.measured_s >= self.since_s and cell in self.cells:
                self.done[cell, row.candidate, row.buffers] = round(row.windows / self._calls(cell))

    def _worth_trying(self, cell: Cell) -> list[str]:
        """Where nothing is predicted, as on one host, everything."""
        predicted_ms = self.predicted_ms[cell]
        if not predicted_ms:
            return arms_for(cell.collective, ONE_HOST, self.ranks, cell.length_bytes, cell.root)
        least_ms = min(predicted_ms.values())
        return [name for name, time_ms in predicted_ms.items()
                if name != NATIVE and time_ms <= _FACTOR * least_ms]

    def left(self, job: Job) -> int:
        if job in self.refused:
            return 0
        return max(self.starts - self.done[cell, job.candidate, job.buffers] for cell in job.cells)

    @property
    def jobs_left(self) -> int:
        return sum(map(self.left, self.jobs))

    @property
    def points_left(self) -> int:
        return sum(self.left(job) * len(job.cells) for job in self.jobs)

    def run(self, deadline_s: float, campaign: Campaign, random_: random.Random) -> None:
        while turn := self._turn(random_):
            began = [self._run(job, campaign) for job in turn
                     if time.monotonic() + self._estimate_s(job) <= deadline_s]
            if not began:
                return

    def _turn(self, random_: random.Random) -> list[Job]:
        """Those that have run the fewest times; of the first turn, which the budget may cut short, the most
        promising ones first. Native begins: without it nothing compares."""
        most = max(map(self.left, self.jobs), default=0)
        turn = [job for job in self.jobs if self.left(job) == most > 0]
        random_.shuffle(turn)
        if most == self.starts:
            turn.sort(key=self._rank)
        return sorted(turn, key=lambda job: job.candidate != NATIVE)

    def _rank(self, job: Job) -> int:
        """Its best place by prediction."""
        orders = [sorted(times, key=times.__getitem__) for cell in job.cells
                  if job.candidate in (times := self.predicted_ms[cell])]
        return min((order.index(job.candidate) for order in orders), default=0)

    def _estimate_s(self, job: Job) -> float:
        """What is not predicted takes no time worth mentioning."""
        return self.job_s + sum(self.predicted_ms[cell].get(job.candidate, 0.0) / 1000
                                * (self._calls(cell) + 1) * _TRIPS_AROUND for cell in job.cells)

    def _calls(self, cell: Cell) -> int:
        least_ms = min(self.predicted_ms[cell].values(), default=0.0)
        return _CALLS if least_ms < _LONG_MS else _CALLS_IF_LONG

    def _contender(self, collective: str, candidate: str) -> Contender:
        # The profile that is tuned must not grow by the same calls a second time.
        return Contender.named(candidate, self.mpi, {**self.settings, "profile": "off"}, collective)

    def _run(self, job: Job, campaign: Campaign) -> None:
        workloads = [Workload([cell.length_bytes], [cell.root], repeat=self._calls(cell), cold=job.buffers == "cold")
                     for cell in job.cells]
        found = campaign.measure(self._contender(job.collective, job.candidate), *workloads,
                                 when=f"{job.collective}, {job.buffers} buffers", forced=True)
        if found is None:
            self.refused.add(job)
            return
        rows = [self._row(cell, job, point) for cell, point in zip(job.cells, found.points, strict=True)]
        profile.remember(self.path, self.library, rows, self.network)
        self.done.update((cell, job.candidate, job.buffers) for cell in job.cells)

    def _row(self, cell: Cell, job: Job, point: Point) -> Row:
        interval = median_interval(point.completion_ms, _CONFIDENCE)
        root = cell.root if COLLECTIVES[cell.collective].rooted else -1
        return Row(self.ranks, self.hosts, max(spread(self.ranks, self.hosts)), cell.collective, root, 1,
                   cell.length_bytes, job.buffers, "tuned", job.candidate, interval.low * 1000,
                   interval.median * 1000, interval.high * 1000, len(point.completion_ms), time.time())

    def asked_for(self, found: profile.Profile, number: int) -> list[Call]:
        """What of the profile was measured of these kinds of calls on this fabric."""
        return [call for call in found.calls
                if (call.fabric.id, call.mpi, call.ranks) == (number, self.library, self.ranks)
                and Cell(call.collective, call.length_bytes, max(call.root, 0)) in self.cells
                and call.buffers in self.buffers]


def _predicted_ms(cell: Cell, ranks: int, network: HostNetwork | None) -> dict[str, float]:
    if network is None:
        return {}
    [prediction] = predict_all(COLLECTIVES[cell.collective], network, ranks, [cell.length_bytes], [cell.root], [])
    return {row["name"]: row["predicted_ms"] for row in prediction["candidates"] if row["predicted_ms"] is not None}


def fastest(found: profile.Profile, calls: Sequence[Call]) -> list[dict]:
    """Of each: the candidate, its time, and native's."""
    medians_us = {call: found.medians_us(call) for call in calls}
    return [{"collective": call.collective, "length_bytes": call.length_bytes, "root": call.root,
             "buffers": call.buffers, "candidate": next(iter(medians)), "median_us": min(medians.values()),
             "native_us": medians.get(NATIVE)} for call, medians in medians_us.items()]


def gain(rows: Sequence[dict]) -> float | None:
    """The geometric mean of the best's ratio to native."""
    ratios = [row["median_us"] / row["native_us"] for row in rows if row["native_us"]]
    return statistics.geometric_mean(ratios) if ratios else None


# --- the command --------------------------------------------------------------------------------------


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("tune", parents=[common], help="measure algorithms by force, and"
                                   " keep in the profile which is the best")
    parser.add_argument("--collective", default=_COLLECTIVES, metavar="NAME,...",
                        help=f"default: {_COLLECTIVES}")
    parser.add_argument("--bytes", default=_BYTES, metavar="B,...",
                        help="of the message, or of one block where there is one for every rank;"
                        f" default: {_BYTES}")
    parser.add_argument("--roots", default="0", metavar="R,...|sites|all", help="default: 0")
    parser.add_argument("--buffers", choices=("warm", "cold", "both"), default="warm",
                        help="whether buffers are in the processor's cache; default: warm")
    add_place(parser)
    parser.add_argument("--budget", type=float, default=300, metavar="SECONDS",
                        help="begin no job that would end later; default: 300")
    parser.add_argument("--jobs", type=int, default=_JOBS, metavar="K",
                        help=f"of each candidate, so that no single one decides; default: {_JOBS}")
    parser.add_argument("--again", action="store_true",
                        help="do not go on from what was measured within the last day")
    add_settings(parser)
    parser.set_defaults(run=run)


def run(arguments) -> int:
    begin_s, began_s = time.monotonic(), time.time()
    settings = gather_settings(arguments.assignments)
    path = profile.profile_file(settings)
    if path is None:
        raise UsageError("the setting profile is off: there is nowhere to keep what is measured")
    check_writable("profile", path)
    _check(arguments, settings)
    place = place_of(arguments)
    if len(place.mpis) > 1:
        raise UsageError(f"--mpi {arguments.mpi}: tune one after the other")
    [mpi] = place.mpis
    cells = _cells(arguments, place)
    buffers = ("warm", "cold") if arguments.buffers == "both" else (arguments.buffers,)
    since_s = began_s if arguments.again else began_s - _DAY_S
    tuning = Tuning(mpi, settings, cells, buffers, arguments.jobs, path, since_s)
    with campaign_in(place, "tune", 1 + len(cells)) as campaign:
        for line in busy_remarks(campaign.circumstances.to_dict()):
            note(line)
        tuning.survey(campaign)
        tuning.plan()
        if already := arguments.jobs * len(tuning.jobs) - tuning.jobs_left:
            note(f"{counted(already, 'job')} of an earlier start need not run again")
        with steps(tuning.points_left) as campaign.progress:
            tuning.run(begin_s + arguments.budget, campaign, random.Random())
    return _tell(arguments, tuning, campaign.failures)


def _check(arguments, settings: dict[str, str]) -> None:
    for name, least in (("jobs", 1), ("budget", 0)):
        check_range(f"--{name}", getattr(arguments, name), least)
    for name in arguments.collective.split(","):
        if name not in COLLECTIVES:
            raise unknown("collective", name, COLLECTIVES)
        if settings.get(name, "auto") != "auto":
            raise UsageError(f"the setting {name} forces an algorithm: there is nothing to tune")


def _cells(arguments, place: Place) -> list[Cell]:
    rows = [COLLECTIVES[name] for name in dict.fromkeys(arguments.collective.split(","))]
    return [Cell(row.name, length, root) for row in rows
            for length in lengths_of(arguments, row, one_of_several=True)
            for root in roots_of(arguments, row, place.ranks, place.network, one_of_several=True)]


def _tell(arguments, tuning: Tuning, failures: Sequence[dict]) -> int:
    number = profile.find_fabric(tuning.path, tuning.network)
    if not number:
        raise Failure("nothing could be measured within the budget")
    found = profile.read(tuning.path)
    calls = tuning.asked_for(found, number)
    rows = fastest(found, calls)
    left = tuning.jobs_left
    if arguments.json:
        refused = [f"{each['collective']}/{each['name']}: {each['reason']}" for each in failures]
        print_json({"profile": str(tuning.path), "fabric": number, "mpi": tuning.library, "jobs_left": left,
                    "gain": gain(rows), "refused": refused, "calls": rows})
        return 0
    print(table(found, calls))
    if mean := gain(rows):
        print(f"The best takes {ratio(mean)} x native (geometric mean).")
    if left:
        note(f"the budget is used up, and {counted(left, 'job')} of {tuning.starts} each left: start"
             " it again to go on")
    print(f"In {tuning.path}, fabric {number}.")
    return 0
