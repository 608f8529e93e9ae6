"""Paper 002 measured anew: one Mandelbrot master and workers over each transport, its return time for
each number of workers and length of messages, and what becomes of it when a worker is killed: on this
machine, or across the hosts of a lab."""

import base64
import hashlib
import statistics
import struct
import tempfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from mutirao.base.errors import Failure, UsageError
from mutirao.base.progress import steps
from mutirao.lab.lab import Lab, bring_up, verify_run
from mutirao.lab.network import HostNetwork, host_of_each
from mutirao.measure.circumstances import Circumstances
from mutirao_studies.account import LeftOut, check_known
from mutirao_studies.paper_002 import paper_002
from mutirao_studies.paper_002.transports import Runner, Task, Transport, known_transports, run_task

STUDY = "interfaces"
_MOST_SECONDS_OF_A_RUN = 60.0


@dataclass(frozen=True)
class Plan:
    workers: Sequence[int] = paper_002.WORKERS
    sides: Sequence[int] = paper_002.SIDES
    repeat: int = 3
    points: int = paper_002.POINTS
    iterations: int = 1000

    @property
    def cells(self) -> list[tuple[int, int]]:
        return [(workers, side) for side in self.sides for workers in self.workers]

    def task(self, workers: int, side: int, fall_after: int | None = None) -> Task:
        return Task(workers, side, self.points, self.iterations, fall_after)


QUICK = Plan((4, 16), (10, 100), repeat=1)


@dataclass
class Measured:
    """Of one transport; runs by (workers, side)."""

    transport: Transport
    runner: Runner | None = None
    runs: dict[tuple[int, int], list[dict]] = field(default_factory=dict)
    killed: dict = field(default_factory=dict)


def run_study(mpi_names: Sequence[str], quick: bool = False, only: Sequence[str] = (),
              plan: Plan | None = None, network: HostNetwork | None = None) -> dict:
    """Across a lab of that network; without one on this machine."""
    plan = plan or (QUICK if quick else Plan())
    if network and network.host_count < 2:
        raise UsageError(f"network {network.name} has one host: {STUDY} has that without --lab")
    wanted = chosen(known_transports(mpi_names), only)
    circumstances = Circumstances(STUDY, quick, mpi_names)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mutirao-")))
        study = _Study(plan, folder, stack.enter_context(bring_up(network)) if network else None)
        found = study.measure(wanted, stack)
    study.left_out.check(found)
    points = points_of_pgm(study.image)
    return {**circumstances.to_dict(), "only": list(only), "plan": vars(plan), "left_out": study.left_out.rows,
            "network": network and network.name, "hosts": network.host_count if network else 1,
            "transports": [_to_dict(each) for each in found],
            "image": {"sha256": hashlib.sha256(points).hexdigest(),
                      "png_base64": base64.b64encode(png(plan.points, points)).decode()}}


def bound_s(network: HostNetwork, task: Task) -> float:
    """Each worker's tasks take a way there and back each, and those of all go on at once."""
    shortest = network.shortest_us
    trips_us = [shortest[0][host] + shortest[host][0]
                for host in host_of_each(task.workers + 1, network.host_count)[1:]]
    if not all(trips_us):
        return 0.0
    tasks = (task.points // task.side) ** 2
    return max(0, tasks - task.workers) / sum(1e6 / trip for trip in trips_us)


def chosen(known: Sequence[Transport], only: Sequence[str]) -> list[Transport]:
    """Who is asked for by name must be there; UsageError else."""
    names = {transport.name: transport for transport in known}
    check_known("interface", only, names)
    for name in only:
        if why := names[name].missing():
            raise UsageError(f"{names[name].title}: {why}")
    return [transport for transport in known if not only or transport.name in only]


class _Study:
    """A transport that fails is left out from there on, with the reason; the others go on. All runs make the same
    image, byte by byte."""

    def __init__(self, plan: Plan, folder: Path, lab: Lab | None = None):
        folder.chmod(0o777)  # LAM's master may be another user
        self._plan, self._path, self._lab = plan, folder / "image.pgm", lab
        self.image = b""
        self.left_out = LeftOut()

    def measure(self, wanted: Sequence[Transport], stack: ExitStack) -> list[Measured]:
        """Those that did every cell. They take turns, so that what else the machine does meets all of them."""
        plan = self._plan
        found = [Measured(transport) for transport in wanted]
        with steps((plan.repeat * len(plan.cells) + 2) * len(found)) as progress:
            def each(how: str, do: Callable[[Measured], None]) -> list[Measured]:
                """Who did it without failing."""
                going = []
                for measured in found:
                    progress.begin(measured.transport.title + how)
                    with self.left_out.tried(measured.transport.title):
                        do(measured)
                        going.append(measured)
                    progress.advance()
                return going

            found = each(", beginning", lambda measured: self._begin(measured, stack))
            for cell in plan.cells * plan.repeat:
                found = each("", lambda measured, cell=cell: measured.runs.setdefault(cell, []).append(
                    self._run(measured, plan.task(*cell))))
            each(", a worker killed", self._kill_a_worker)
        return found

    def _begin(self, measured: Measured, stack: ExitStack) -> None:
        if why := measured.transport.missing():
            raise Failure(why)
        measured.runner = stack.enter_context(measured.transport.ready(self._lab))

    def _run(self, measured: Measured, task: Task) -> dict:
        self._path.unlink(missing_ok=True)
        packets = self._packets()
        said = run_task(measured.transport, measured.runner, task, self._most_s(task), self._path)
        image = self._path.read_bytes()
        self.image = self.image or image
        if image != self.image:
            raise Failure(f"{measured.transport.title}: its image differs from that of the first run")
        if self._lab:
            verify_run(self._bound_s(task) * 1e6, said["return_s"] * 1e6, packets, self._packets())
        return said

    def _packets(self) -> int:
        return self._lab.counters().total_packets if self._lab else 0

    def _bound_s(self, task: Task) -> float:
        return bound_s(self._lab.network, task) if self._lab else 0.0

    def _most_s(self, task: Task) -> float:
        return _MOST_SECONDS_OF_A_RUN + 5 * self._bound_s(task)

    def _kill_a_worker(self, measured: Measured) -> None:
        """The task that it had is given to another; an MPI job must end."""
        plan = self._plan
        tasks = (plan.points // plan.sides[0]) ** 2
        task = plan.task(max(2, plan.workers[0]), plan.sides[0], fall_after=tasks // 4)
        if not measured.transport.ends_with_a_worker:
            measured.killed = {"goes_on": True, **self._run(measured, task)}
            return
        finished = measured.runner(task.arguments(None), task.workers, self._most_s(task))
        measured.killed = {"goes_on": False, "exit_code": finished.returncode}


def _to_dict(measured: Measured) -> dict:
    transport = measured.transport
    return {"name": transport.name, "title": transport.title, "in_paper": transport.in_paper,
            "killed": measured.killed, "cells": [
                {"workers": workers, "side": side, **_cell(runs)}
                for (workers, side), runs in measured.runs.items()]}


def _cell(runs: Sequence[dict]) -> dict:
    return {"return_s": [run["return_s"] for run in runs],
            "launch_s": [round(run["whole_s"] - run["return_s"], 4) for run in runs],
            "computed_s": [round(statistics.mean(run["computed_s"]), 6) for run in runs],
            **{key: runs[0][key] for key in ("message_bytes", "messages", "bytes")}}


# --- the image: one byte a point, and PNG, so that any browser shows it -------------------------------------


def points_of_pgm(content: bytes) -> bytes:
    """Row by row."""
    return content.split(b"\n", 3)[3]


def png(side: int, points: bytes) -> bytes:
    """In shades of grey."""
    rows = b"".join(b"\0" + points[row * side:(row + 1) * side] for row in range(side))
    return b"".join([b"\x89PNG\r\n\x1a\n",
                     _chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)),
                     _chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b"")])


def _chunk(kind: bytes, content: bytes) -> bytes:
    return b"".join([struct.pack(">I", len(content)), kind, content,
                     struct.pack(">I", zlib.crc32(kind + content))])
