"""Measures broadcasts: the MPI program of bench/broadcast.c, run natively or with mutirao, and what
physics and the predictor say about the same broadcast.

Times are the program's: from the root's entry until the last rank has left, in ms. In a lab no
result passes that beats the physical bound, or that sent nothing over the lab's links.
"""

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mutirao.errors import Failure
from mutirao.lab import Counters, Lab, verify_run
from mutirao.launch import launch, spread
from mutirao.mpis import Mpi
from mutirao.network import HostNetwork
from mutirao.processes import failure_of

PROGRAM = "broadcast"


@dataclass(frozen=True)
class Contender:
    """One way to broadcast; without settings it is the MPI library by itself, without mutirao."""

    name: str
    mpi: Mpi
    settings: Mapping[str, str] | None = None

    @property
    def native(self) -> bool:
        return self.settings is None

    @property
    def title(self) -> str:
        return f"{self.name} on {self.mpi.title}"


@dataclass(frozen=True)
class Workload:
    """Every length from every root, in each number of consecutive calls, `repeat` times."""

    lengths_bytes: Sequence[int]
    roots: Sequence[int]
    consecutive: Sequence[int] = (1,)
    repeat: int = 3

    @property
    def points(self) -> int:
        return len(self.lengths_bytes) * len(self.roots) * len(self.consecutive)

    def arguments(self) -> list[str]:
        def joined(values: Sequence[int]) -> str:
            return ",".join(map(str, values))

        return ["--bytes", joined(self.lengths_bytes), "--roots", joined(self.roots),
                "--consecutive", joined(self.consecutive), "--repeat", str(self.repeat)]


@dataclass(frozen=True)
class Point:
    """What was measured of one length, root and number of consecutive calls."""

    length_bytes: int
    root: int
    consecutive: int
    first_ms: float  # of the first call of this length from this root; the job's very first
    #                  includes what the library sets up once
    completion_ms: tuple[float, ...]
    bound_ms: float | None = None  # of one broadcast; None: not in a lab

    @property
    def key(self) -> tuple[int, int, int]:
        return self.length_bytes, self.root, self.consecutive

    @property
    def median_ms(self) -> float:
        return statistics.median(self.completion_ms)

    @property
    def spread_ms(self) -> float:
        return max(self.completion_ms) - min(self.completion_ms)

    @property
    def to_bound(self) -> float | None:
        return self.median_ms / self.bound_ms if self.bound_ms else None

    def to_dict(self) -> dict:
        return {"length_bytes": self.length_bytes, "root": self.root,
                "consecutive": self.consecutive, "first_ms": self.first_ms,
                "completion_ms": list(self.completion_ms), "median_ms": self.median_ms,
                "spread_ms": self.spread_ms, "bound_ms": self.bound_ms, "to_bound": self.to_bound}


@dataclass(frozen=True)
class Measurement:
    """A job's points, and the report of mutirao where that ran."""

    contender: Contender
    points: tuple[Point, ...]
    report: dict | None
    seconds: float
    packets: int | None = None  # that crossed the lab between its hosts
    overruns: int = 0  # packets that the lab's router was too slow to take: best measured again

    def point(self, length_bytes: int, root: int, consecutive: int = 1) -> Point:
        return next(point for point in self.points
                    if point.key == (length_bytes, root, consecutive))

    @property
    def communicator(self) -> dict | None:
        """What mutirao knows of the program's ranks: network, decisions, cost of set-up."""
        for communicator in (self.report or {}).get("communicators", ()):
            if communicator.get("state") == "mutirao":
                return communicator
        return None

    def decision(self, length_bytes: int, root_host: int) -> dict | None:
        """One decision serves all lengths up to the next power of two."""
        for decision in (self.communicator or {}).get("decisions", ()):
            if (decision["root_host"] == root_host
                    and decision["length_bytes"].bit_length() == length_bytes.bit_length()):
                return decision
        return None

    def chosen(self, length_bytes: int, root_host: int) -> str | None:
        """The algorithm that ran, where that was mutirao's to say."""
        return (self.decision(length_bytes, root_host) or {}).get("chosen")

    def predicted_ms(self, length_bytes: int, root_host: int) -> dict[str, float]:
        """What was predicted before choosing, by algorithm; nothing where one was prescribed."""
        considered = (self.decision(length_bytes, root_host) or {}).get("considered") or ()
        return {row["candidate"]: row["predicted_us"] / 1000 for row in considered
                if row["predicted_us"] is not None}

    def to_dict(self) -> dict:
        settings = self.contender.settings
        return {"name": self.contender.name, "mpi": self.contender.mpi.name,
                "mpi_title": self.contender.mpi.title,
                "settings": None if settings is None else dict(settings),
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

    argv = [str(contender.mpi.program(PROGRAM))]
    for workload in workloads:
        argv += [*(["--then"] if len(argv) > 1 else []), *workload.arguments()]
    before = lab.counters() if lab else None
    finished = launch(contender.mpi, argv, ranks, lab=lab, settings=contender.settings,
                      native=contender.native, capture=True, on_line=take, timeout_s=timeout_s)
    what = contender.title
    if finished.returncode != 0:
        raise failure_of(finished, what)
    asked = sum(workload.points for workload in workloads)
    if len(points) != asked:
        raise Failure(f"{what} measured {len(points)} of {asked} points")
    packets, overruns = None, 0
    if lab:
        after = lab.counters()
        packets, overruns = check_points(what, points, lab.network.host_count, before, after)
    measurement = Measurement(contender, tuple(points), finished.report, finished.seconds, packets,
                              overruns)
    if lab:
        check_taken_part(measurement)
    return measurement


def read_point(line: str, network: HostNetwork | None, ranks: int) -> Point | None:
    """A line of the program's; None for what an MPI library says in between."""
    if not line.startswith('{"bytes":'):
        return None
    try:
        values = json.loads(line)
        bound_ms = None if network is None else bound_us(network, ranks, values["root"]) / 1000
        return Point(values["bytes"], values["root"], values["consecutive"], values["first_ms"],
                     tuple(values["completion_ms"]), bound_ms)
    except (ValueError, KeyError) as error:
        raise Failure(f"unreadable measurement: {line} ({error})") from None


def hosts_of_ranks(ranks: int, hosts: int) -> list[int]:
    return [host for host, count in enumerate(spread(ranks, hosts)) for _ in range(count)]


def bound_us(network: HostNetwork, ranks: int, root: int) -> float:
    """Before this no broadcast from rank `root` can have reached every host that has a rank."""
    hosts = hosts_of_ranks(ranks, network.host_count)
    return max(network.shortest_us[hosts[root]][host] for host in hosts)


def check_taken_part(measurement: Measurement) -> None:
    """Failure where mutirao was to run, but left every call to the MPI library: that would pass the
    library's times for ours. For a job on several hosts."""
    contender, report = measurement.contender, measurement.report
    if contender.native or report is None or measurement.communicator:
        return
    reasons = "; ".join(each.get("reason", "") for each in report.get("communicators", ()))
    raise Failure(f"{contender.title}: mutirao left every call to the MPI library:"
                  f" {reasons or 'no broadcast'}")


def check_points(what: str, points: Sequence[Point], hosts: int, before: Counters,
                 after: Counters) -> tuple[int, int]:
    """The packets and overruns of a run; Failure where it cannot have used the lab's links.

    What the launcher sends to and from the control host does not count.
    """
    def between_hosts(counters: Counters) -> int:
        return sum(sum(row[:hosts]) for row in counters.packets[:hosts])

    first, last = between_hosts(before), between_hosts(after)
    for point in points:
        try:
            verify_run(point.bound_ms * 1000, min(point.completion_ms) * 1000, first, last)
        except Failure as failure:
            raise Failure(f"{what}, {point.length_bytes} bytes from rank {point.root}:"
                          f" {failure}") from None
    return last - first, after.overruns - before.overruns
