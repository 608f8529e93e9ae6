"""Measures collectives: the MPI program of bench/collective.c, run natively or with mutirao, and what
physics and the predictor say about the same calls.

Times are the program's: from the root's entry, or without a root from the last rank's, until the last
rank has left, in ms. In a lab no result passes that beats the physical bound, or that sent nothing
over the lab's links.
"""

import json
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from mutirao.base.errors import Failure
from mutirao.base.output import note, tell
from mutirao.base.progress import Steps, steps
from mutirao.base.units import counted
from mutirao.catalogue.collectives import BROADCAST, COLLECTIVES, Collective
from mutirao.catalogue.predicted import NATIVE
from mutirao.lab.lab import Counters, Lab, verify_run
from mutirao.lab.network import HostNetwork, host_of_each
from mutirao.measure.circumstances import Circumstances, busy_remarks
from mutirao.measure.words import Place
from mutirao.run.launch import CompletedRun, launch
from mutirao.run.mpis import Mpi
from mutirao.run.processes import failure_of

PROGRAM = "collective"
# What is measured is what is settled, unless somebody asks for the start itself; and it depends on no
# earlier job, nor is it news for later ones.
SETTLED = {"start": "wait", "profile": "off"}
ANY_ROOT = -1  # of a ruling


@dataclass(frozen=True)
class Contender:
    """One way to run a collective; without settings it is the MPI library by itself, without mutirao."""

    name: str
    mpi: Mpi
    settings: Mapping[str, str] | None = None
    collective: str = BROADCAST

    @classmethod
    def named(cls, name: str, mpi: Mpi, settings: Mapping[str, str], collective: str) -> "Contender":
        """After what it is: an algorithm of that collective, `native`, or `auto`."""
        return cls(name, mpi, None if name == NATIVE else {**settings, collective: name}, collective)

    @property
    def native(self) -> bool:
        return self.settings is None

    @property
    def all_settings(self) -> dict[str, str] | None:
        return None if self.settings is None else {**SETTLED, **self.settings}

    @property
    def waits(self) -> bool:
        """Each of its calls has a ruling: who adapts inside the calls waits for that, too."""
        settings = self.all_settings or {}
        return (settings.get("start") == "wait"
                or settings.get("adaptation", "").startswith("every:"))

    def launch(self, argv: Sequence[str], ranks: int, **options: Any) -> CompletedRun:
        """A job of it, its output captured."""
        return launch(self.mpi, argv, ranks, settings=self.all_settings, native=self.native,
                      capture=True, **options)

    @property
    def title(self) -> str:
        return f"{self.name} on {self.mpi.title}"


@dataclass(frozen=True)
class Workload:
    """Every length from every root, in each number of consecutive calls (0: as many as last
    half a millisecond), `repeat` times, and before that so many calls and so much time for the library to settle."""

    lengths_bytes: Sequence[int]
    roots: Sequence[int]
    consecutive: Sequence[int] = (1,)
    repeat: int = 3
    settle_calls: int = 0
    settle_ms: int = 0
    pause_ms: int = 0  # before each measurement nothing is sent for so long
    cold: bool = False  # no buffer is in the processor's cache
    beside_native: bool = False  # each measurement has one of the MPI library's own beside it
    late_us: int = 0  # the last rank comes so much later to each call
    poll_us: int = 0  # who waits before it enters asks MPI so often for messages

    @property
    def points(self) -> int:
        return len(self.lengths_bytes) * len(self.roots) * len(self.consecutive)

    def arguments(self) -> list[str]:
        """The program knows the fields by their names, and is told what is not zero."""
        lists = {"--bytes": self.lengths_bytes, "--roots": self.roots, "--consecutive": self.consecutive}
        words = [word for name, values in lists.items() for word in (name, ",".join(map(str, values)))]
        words += ["--repeat", str(self.repeat)]
        for name in ("settle_calls", "settle_ms", "pause_ms", "cold", "beside_native", "late_us", "poll_us"):
            if value := getattr(self, name):
                words += [f"--{name.replace('_', '-')}", str(int(value))]
        return words


@dataclass(frozen=True)
class Point:
    """What was measured of one length, root and number of consecutive calls."""

    length_bytes: int
    root: int
    consecutive: int
    first_ms: float  # of the first call of this length from this root; the job's very first
    #                  includes what the library sets up once
    completion_ms: tuple[float, ...]
    bound_ms: float | None = None  # of one call; None: not in a lab
    entry_spread_ms: float = 0.0  # by so much a time may be too short, since not all entered at once
    settling: tuple[tuple[int, float], ...] = ()  # from the second call on: how many, and their ms
    native_ms: tuple[float, ...] = ()  # of the MPI library's own calls, in turn with those of completion_ms

    @property
    def median_ms(self) -> float:
        return statistics.median(self.completion_ms)

    @property
    def call_ms(self) -> float:
        """Of one of the consecutive calls."""
        return self.median_ms / self.consecutive

    @property
    def native_call_ms(self) -> float | None:
        """The same of the MPI library's own calls in this job."""
        return statistics.median(self.native_ms) / self.consecutive if self.native_ms else None

    @property
    def spread_ms(self) -> float:
        return max(self.completion_ms) - min(self.completion_ms)

    @property
    def to_bound(self) -> float | None:
        return self.median_ms / self.bound_ms if self.bound_ms else None

    def to_dict(self) -> dict:
        names = ("length_bytes", "root", "consecutive", "first_ms", "median_ms", "spread_ms", "entry_spread_ms", "bound_ms",
                 "to_bound")
        return {**{name: getattr(self, name) for name in names}, "completion_ms": list(self.completion_ms)}


@dataclass(frozen=True)
class Measurement:
    """A job's points, and the report of mutirao where that ran."""

    contender: Contender
    points: tuple[Point, ...]
    report: dict | None
    seconds: float
    packets: int | None = None  # that crossed the lab between its hosts
    overruns: int = 0  # packets that the lab's router was too slow to take: best measured again

    def point(self, length_bytes: int, root: int) -> Point:
        return next(point for point in self.points if (point.length_bytes, point.root) == (length_bytes, root))

    @property
    def communicator(self) -> dict | None:
        """What mutirao knows of the program's ranks: network, rulings, adaptation. A program may end
        before they know each other."""
        of_state = {each.get("state"): each
                    for each in reversed((self.report or {}).get("communicators", ()))}
        return of_state.get("mutirao") or of_state.get("not yet")

    @property
    def network(self) -> HostNetwork | None:
        """As mutirao measured it; links that could not be measured let nothing through. None: of one host."""
        matrix = (self.communicator or {}).get("latency_us") or ()
        hosts = [str(host) for host in range(len(matrix))]
        return HostNetwork(hosts, hosts, [[math.inf if us is None else us for us in row]
                                          for row in matrix]) if len(hosts) > 1 else None

    def calls_of(self, length_bytes: int, root: int) -> dict | None:
        """How all calls with this root went that are as long, to the next power of two, or of any
        length where ranks do not know of each other's."""
        for each in (self.communicator or {}).get("classes", ()):
            if (each["collective"] == self.contender.collective and each["root"] == root
                    and (each["length_bytes"] is None
                         or each["length_bytes"].bit_length() == length_bytes.bit_length())):
                return each
        return None

    def rulings(self, length_bytes: int, root: int) -> list[dict]:
        """Those for this very root, or for any."""
        for whose in (root, ANY_ROOT):
            if rulings := (self.calls_of(length_bytes, whose) or {}).get("rulings"):
                return rulings
        return []

    def chosen(self, length_bytes: int, root: int) -> str | None:
        """The algorithm that ran in the end, where that was mutirao's to say."""
        if rulings := self.rulings(length_bytes, root):
            return rulings[-1]["chosen"]
        return "native" if self.calls_of(length_bytes, root) else None

    def predicted_ms(self, length_bytes: int, root: int) -> dict[str, float]:
        """What was predicted for the last ruling, by algorithm; nothing where one was prescribed."""
        rulings = self.rulings(length_bytes, root)
        return {row["candidate"]: row["predicted_us"] / 1000
                for row in (rulings[-1].get("considered") or () if rulings else ())
                if row["predicted_us"] is not None}

    def to_dict(self) -> dict:
        return {"name": self.contender.name, "mpi": self.contender.mpi.name,
                "mpi_title": self.contender.mpi.title,
                "settings": self.contender.all_settings,
                "points": [point.to_dict() for point in self.points],
                "seconds": round(self.seconds, 3), "packets": self.packets,
                "overruns": self.overruns}


def measure(contender: Contender, workloads: Sequence[Workload], ranks: int,
            lab: Lab | None = None, on_point: Callable[[Point], None] | None = None,
            timeout_s: float | None = None) -> Measurement:
    """One job that measures all workloads; Failure if it fails or cannot be true."""
    network = lab.network if lab else None
    points: list[Point] = []

    def take(line: str) -> None:
        point = read_point(line, network, ranks)
        if point is not None:
            points.append(point)
            if on_point:
                on_point(point)

    argv = [str(contender.mpi.program(PROGRAM)), contender.collective]
    for number, workload in enumerate(workloads):
        argv += [*(["--then"] if number else []), *workload.arguments()]
    before = lab.counters() if lab else None
    finished = contender.launch(argv, ranks, lab=lab, on_line=take, timeout_s=timeout_s)
    what = contender.title
    if finished.returncode != 0:
        raise failure_of(finished, what)
    asked = sum(workload.points for workload in workloads)
    if len(points) != asked:
        raise Failure(f"{what} measured {len(points)} of {asked} points")
    measurement = Measurement(contender, tuple(points), finished.report, finished.seconds)
    if lab:
        packets, overruns = check_points(what, points, lab.network.host_count, before, lab.counters(),
                                         COLLECTIVES[contender.collective])
        measurement = replace(measurement, packets=packets, overruns=overruns)
        check_taken_part(measurement)
    return measurement


def tried_twice(job: Callable[[], Measurement]) -> Measurement:
    """For long series of jobs: launchers fail now and then."""
    try:
        return job()
    except Failure:
        return job()


def read_point(line: str, network: HostNetwork | None, ranks: int) -> Point | None:
    """A line of the program's; None for what an MPI library says in between."""
    if not line.startswith('{"bytes":'):
        return None
    try:
        values = json.loads(line)
        length, root = values["bytes"], values["root"]
        bound_ms = (None if network is None
                    else bound_us(network, ranks, root, values["collective"], length) / 1000)
        return Point(length, root, values["consecutive"], values["first_ms"],
                     tuple(values["completion_ms"]), bound_ms, values["entry_spread_ms"],
                     tuple((calls, took_ms) for calls, took_ms in values.get("settling", ())),
                     tuple(values.get("native_ms", ())))
    except (ValueError, KeyError) as error:
        raise Failure(f"unreadable measurement: {line} ({error})") from None


def bound_us(network: HostNetwork, ranks: int, root: int, collective: str = BROADCAST,
             length_bytes: int = 1) -> float:
    """Before this no call can be complete among the hosts that have ranks."""
    hosts = host_of_each(ranks, network.host_count)
    return COLLECTIVES[collective].bound_us(network, hosts, root, length_bytes)


def check_taken_part(measurement: Measurement) -> None:
    """Failure where mutirao was to run, but what was measured was left to the MPI library without a
    ruling: that would pass the library's times for ours. For a job on several hosts."""
    check_handled(measurement)
    if measurement.contender.native:
        return
    collective = COLLECTIVES[measurement.contender.collective]
    for length, root in dict.fromkeys((each.length_bytes, each.root) for each in measurement.points):
        if collective.empty(length):
            continue
        if reason := _why_not_ours(measurement, length, root):
            raise Failure(f"{measurement.contender.title}, {length} bytes{collective.whose(root)}:"
                          f" {reason}")


def check_handled(measurement: Measurement) -> None:
    """Failure where mutirao was to run, but has left everything to the MPI library for good."""
    contender, report = measurement.contender, measurement.report
    if contender.native:
        return
    if report is None:
        raise Failure(f"{contender.title}: mutirao left no report, as if it had not been preloaded")
    if not measurement.communicator:
        reasons = [(report.get("start") or {}).get("native_reason"),
                   *(each.get("reason") for each in report.get("communicators", ()))]
        raise Failure(f"{contender.title}: mutirao left every call to the MPI library:"
                      f" {'; '.join(filter(None, reasons)) or f'no {contender.collective}'}")


def _why_not_ours(measurement: Measurement, length_bytes: int, root: int) -> str | None:
    """Without a ruling the MPI library may only take calls of which nobody waits for one; and who
    prescribes an algorithm must have got it."""
    contender = measurement.contender
    asked = (contender.settings or {}).get(contender.collective, "auto").partition(":")[0]
    calls, rulings = measurement.calls_of(length_bytes, root), measurement.rulings(length_bytes, root)
    if calls is None and not rulings:
        return "mutirao saw no such call"
    for ruling in rulings:
        if asked not in ("auto", ruling["chosen"].partition(":")[0]):
            return f"{ruling['chosen']} ran instead: {ruling.get('reason') or 'no reason given'}"
    if calls is None or not calls["native_calls"] or calls.get("forgotten_rulings"):
        return None
    if not rulings:
        may_be_native = not contender.waits and asked == "auto"
    else:
        ruled_at_once = rulings[0]["first_call"] <= calls["first_call"]
        may_be_native = not contender.waits or (
            ruled_at_once and any(each["chosen"] == "native" for each in rulings))
    return None if may_be_native else (f"the MPI library took {counted(calls['native_calls'], 'call')}"
                                       " without a ruling for that")


def check_points(what: str, points: Sequence[Point], hosts: int, before: Counters, after: Counters,
                 collective: Collective = COLLECTIVES[BROADCAST]) -> tuple[int, int]:
    """The packets and overruns of a run; Failure where it cannot have used the lab's links."""
    first, last = before.packets_among(hosts), after.packets_among(hosts)
    for point in points:
        try:
            verify_run((point.bound_ms - point.entry_spread_ms) * 1000,
                       min(point.completion_ms) * 1000, first, last)
        except Failure as failure:
            raise Failure(f"{what}, {point.length_bytes} bytes{collective.whose(point.root)}:"
                          f" {failure}") from None
    return last - first, after.overruns - before.overruns


# --- jobs one after the other -------------------------------------------------------------------------


@dataclass
class Campaign:
    """Contenders one after the other: launchers fail now and then, so each job is tried twice; what cannot be
    measured is said once, and left out from then on."""

    circumstances: Circumstances
    ranks: int
    lab: Lab | None
    progress: Steps  # a step is a point of a workload
    timeout_s: float | None = None  # of a job
    failures: list[dict] = field(default_factory=list)

    def measure(self, contender: Contender, *workloads: Workload, when: str = "", forced: bool = False,
                needed: bool = False) -> Measurement | None:
        """In one job. None: it cannot be measured; what is needed fails instead. `forced`: nothing else may have
        run."""
        end = self.progress.done + sum(workload.points for workload in workloads)
        names = {"collective": contender.collective, "mpi": contender.mpi.name, "name": contender.name}
        try:
            if any(names.items() <= failure.items() for failure in self.failures):
                return None
            self.progress.begin(", ".join(filter(None, (contender.title, when))))
            done = tried_twice(lambda: self._measure(contender, workloads, forced))
        except Failure as failure:
            if needed:
                raise
            note(f"left out: {failure}")
            self.failures.append({**names, "reason": str(failure).removeprefix(f"{contender.title}: ")})
            return None
        finally:
            self.progress.advance(end - self.progress.done)
        if done.overruns:
            note(f"the lab's router was too slow for {done.overruns} packets: measure again on a machine with less to do")
        return done

    def _measure(self, contender: Contender, workloads: Sequence[Workload], forced: bool) -> Measurement:
        done = measure(contender, workloads, self.ranks, self.lab, lambda _point: self.progress.advance(),
                       self.timeout_s)
        if forced:
            check_taken_part(done)
        return done

    def tell(self, as_json: bool, found: Mapping, text: str) -> int:
        """What was found, for programs or for people; the command's exit code."""
        here = self.circumstances.to_dict()
        tell(as_json, {**here, **found}, "\n\n".join([text, *busy_remarks(here)]))
        return 1 if self.failures else 0


@contextmanager
def campaign_in(place: Place, what: str, points: int, timeout_s: float | None = None) -> Iterator[Campaign]:
    circumstances = Circumstances(what, False, [mpi.name for mpi in place.mpis])
    with place.up() as lab, steps(points) as progress:
        yield Campaign(circumstances, place.ranks, lab, progress, timeout_s)
