"""The model of paper 001's cluster, as SMPI and as mutirao's core read it, and the simulated part of `mutirao study
allgather` on it: each algorithm in a process of its own, some side by side, and mutirao's choice by what they took."""

import functools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from mutirao.base.errors import Failure
from mutirao.base.paths import BUILD
from mutirao.base.progress import Steps
from mutirao.base.units import size
from mutirao.catalogue import core_tool
from mutirao.run.processes import (
    argv_ending_with_us,
    failure_of,
    kill_marked,
    new_mark,
    run_marked,
    uninterrupted,
)
from mutirao_studies.account import LeftOut, ask_studies
from mutirao_studies.paper_001.paper_001 import ALGORITHMS, MODEL, Algorithm, runs_with

COLLECTIVE = "allgather"
PROGRAM = BUILD / "bin" / "allgather-simulated"
_NATIVE = "native"
_RULE = "ompi"  # as SMPI calls Open MPI's
_HEAD = ("<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
         '<platform version="4.1">', '<zone id="cluster" routing="Full">')
_TIMES_KEPT = 2.2  # as seen with 62 ranks of 64 KiB: by locality_bruck
# No factors that are fitted to another network, no computing, no cost of looking for a message in vain; one
# mailbox, since messages of different lengths may overtake each other between two.
_OPTIONS = {"smpi/simulate-computation": "no", "smpi/grow-injected-times": "no", "smpi/test": "0",
            "smpi/iprobe": "0", "smpi/wtime": "0", "smpi/lat-factor": "0:1", "smpi/bw-factor": "0:1",
            "network/TCP-gamma": "0", "network/crosstraffic": "no", "smpi/async-small-thresh": "0",
            "smpi/coll-selector": "ompi"}


def network_lines() -> Iterator[str]:
    """As mutirao-core reads them."""
    cable = MODEL.cable_bytes_per_us
    yield f"hosts {MODEL.hosts}"
    yield f"eager_limit_bytes {MODEL.eager_limit_bytes}"
    for host in range(MODEL.hosts):
        yield f"host {host} {MODEL.overhead_us} {MODEL.overhead_us} {cable}"
        yield from (f"link {host} {other} {MODEL.latency_us} {cable}"
                    for other in range(MODEL.hosts) if other != host)
    yield (f"memory {MODEL.memory_latency_us} {MODEL.overhead_us} {MODEL.copy_bytes_per_us}"
           f" {MODEL.copy_bytes_per_us / 2} {MODEL.memory_bytes_per_us}")


def core_names(ranks: int) -> list[str]:
    """Cyclically placed; what comes before the dash is the host."""
    return [f"host{rank % MODEL.hosts}-{rank // MODEL.hosts}" for rank in range(ranks)]


def platform_lines(ranks: int) -> Iterator[str]:
    """Every core is a host of SimGrid's with a link to the memory of the host that it belongs to."""
    cores = core_names(ranks)
    yield from _HEAD
    for core in cores:
        yield f'<host id="{core}" speed="1Gf"/>'
        yield _link(f"copy-{core}", MODEL.copy_bytes_per_us, 0)
    for host in range(MODEL.hosts):
        yield _link(f"memory-host{host}", MODEL.memory_bytes_per_us, MODEL.memory_latency_us)
    yield _link("cable", MODEL.cable_bytes_per_us, MODEL.latency_us, "SPLITDUPLEX")
    for number, core in enumerate(cores):
        for other in cores[number + 1:]:
            yield from _routes(core, other)
    yield from ("</zone>", "</platform>")


def _link(name: str, bytes_per_us: float, latency_us: float, sharing: str = "SHARED") -> str:
    return (f'<link id="{name}" bandwidth="{bytes_per_us * 1e6:.0f}Bps" latency="{latency_us}us"'
            f' sharing_policy="{sharing}"/>')


def _routes(core: str, other: str) -> Iterator[str]:
    host, other_host = (name.partition("-")[0] for name in (core, other))
    if host == other_host:
        links = "".join(f'<link_ctn id="{link}"/>'
                        for link in (f"copy-{core}", f"memory-{host}", f"copy-{other}"))
        yield f'<route src="{core}" dst="{other}">{links}</route>'
        return
    for source, target in ((core, other), (other, core)):
        way = "UP" if source.startswith("host0-") else "DOWN"
        yield (f'<route src="{source}" dst="{target}" symmetrical="NO">'
               f'<link_ctn id="cable" direction="{way}"/></route>')


def catalogue() -> list[str]:
    """Each algorithm with each radix. Between two hosts all trees are the same."""
    names = []
    for row in core_tool.algorithms(COLLECTIVE):
        if row["native"] or row["calls"]:
            continue
        names += row["candidates"][:1] if row["trees"] else row["candidates"]
    return names


def why_not() -> str | None:
    """What is missing of the simulator; None: nothing."""
    if shutil.which("smpirun") is None:
        return "SimGrid is not installed: run scripts/setup.sh --studies (Debian: libsimgrid-dev), then make build"
    return None if PROGRAM.is_file() else "the simulated program is not built: run make build"


def version() -> str:
    said = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, check=False).stdout
    return next((line.strip() for line in said.splitlines() if "SimGrid" in line), "SimGrid")


def simulate(ranks: int, algorithm: str, candidate: str, sizes_bytes: Sequence[int],
             mark: Mapping[str, str] | None = None) -> list[dict]:
    """What the program says of each length: `candidate` of the catalogue, or native, which is `algorithm` of
    SMPI's."""
    overhead = f"0:{MODEL.overhead_us * 1e-6}:0"
    mark = dict(mark or new_mark())
    with tempfile.TemporaryDirectory(prefix="mutirao-") as name:
        folder = Path(name)
        files = {"platform.xml": platform_lines(ranks), "hosts": core_names(ranks),
                 "model.network": network_lines()}
        for file, lines in files.items():
            (folder / file).write_text("".join(f"{line}\n" for line in lines))
        options = {**_OPTIONS, "smpi/allgather": algorithm,
                   "smpi/send-is-detached-thresh": str(MODEL.eager_limit_bytes),
                   **dict.fromkeys(("smpi/os", "smpi/ois", "smpi/or"), overhead)}
        command = ["smpirun", "-quiet", "-np", str(ranks), "-platform", str(folder / "platform.xml"),
                   "-hostfile", str(folder / "hosts"), "--log=root.thresh:critical",
                   *(f"--cfg={option}:{value}" for option, value in options.items()),
                   str(PROGRAM), candidate, str(folder / "model.network"), *map(str, sizes_bytes)]
        # Ctrl-C on a terminal is for us, who end it, wait for its end and remove its copies of the program.
        start = functools.partial(subprocess.Popen, argv_ending_with_us(command), cwd=folder,
                                  env={**os.environ, **mark, "TMPDIR": name}, start_new_session=True)
        finished = run_marked(start, mark, capture=True)
    if finished.returncode != 0:
        raise failure_of(finished, f"{ranks} simulated ranks, {candidate} ({algorithm})")
    return [json.loads(line) for line in finished.lines if line.startswith("{")]


def choice(length_bytes: int, times_us: Mapping[str, Sequence[float]]) -> dict:
    """mutirao's, told what each rank's call took with native and with each algorithm of the catalogue."""
    lines = [" ".join([name, *map(str, times)]) for name, times in times_us.items()]
    with core_tool.lines_file(network_lines(), ".network") as path:
        return ask_studies("choice", str(path), str(length_bytes), input="\n".join(lines))


def available_bytes() -> int:
    memory = Path("/proc/meminfo").read_text(encoding="ascii")
    return int(memory.partition("MemAvailable:")[2].split()[0]) * 1024


@dataclass(frozen=True)
class _Simulation:
    """One algorithm with each length."""

    ranks: int
    forced: Algorithm | None = None  # of Open MPI's
    candidate: str = _NATIVE  # of the catalogue; native, if none is forced: by Open MPI's rule

    def __str__(self) -> str:
        what = self.forced.name if self.forced else (
            "the rule" if self.candidate == _NATIVE else self.candidate)
        return f"{self.ranks} simulated ranks, {what}"

    def run(self, sizes_bytes: Sequence[int], mark: dict[str, str]) -> list[dict]:
        rows = simulate(self.ranks, self.forced.smpi if self.forced else _RULE, self.candidate, sizes_bytes, mark)
        for row in rows:
            if not row["right"]:
                raise Failure(f"{self} brought wrong bytes with {size(row['bytes'])}")
        return rows


def _outcomes(simulations: Sequence[_Simulation],
              sizes_bytes: Sequence[int]) -> Iterator[tuple[_Simulation, Future[list[dict]]]]:
    """As they end, all of as many ranks; none lasts longer than this. As many go on side by side as there are processors,
    and memory: each rank keeps all blocks, and some algorithms keep them more than once."""
    most_bytes = _TIMES_KEPT * simulations[0].ranks ** 2 * max(sizes_bytes)
    at_once = max(1, min(len(os.sched_getaffinity(0)), int(available_bytes() / most_bytes)))
    marks = {each: new_mark() for each in simulations}
    with ThreadPoolExecutor(at_once) as pool:
        going = {pool.submit(each.run, sizes_bytes, marks[each]): each for each in simulations}
        try:
            for future in as_completed(going):
                yield going[future], future
        finally:
            with uninterrupted():
                pool.shutdown(wait=False, cancel_futures=True)
                while running := [each for future, each in going.items() if not future.done()]:
                    for each in running:
                        kill_marked(marks[each])
                    time.sleep(0.01)


class Simulations:
    def __init__(self, ranks: Sequence[int], sizes_bytes: Sequence[int]):
        self._sizes_bytes = sizes_bytes
        candidates = [_NATIVE, *catalogue()]
        self._by_ranks = {count: [
            *(_Simulation(count, forced) for forced in ALGORITHMS if runs_with(forced, count)),
            *(_Simulation(count, candidate=candidate) for candidate in candidates)]
            for count in sorted(ranks, reverse=True)}

    @property
    def count(self) -> int:
        return sum(map(len, self._by_ranks.values()))

    def run(self, progress: Steps, left_out: LeftOut) -> list[dict]:
        """A row for each number of ranks and length of which all is there that tables need."""
        keys = [(ranks, length) for ranks in self._by_ranks for length in self._sizes_bytes]
        forced_us: dict[tuple[int, int], dict[str, float]] = {key: {} for key in keys}
        times_us: dict[tuple[int, int], dict[str, list[float]]] = {key: {} for key in keys}  # of each rank
        for ranks, simulations in self._by_ranks.items():
            with closing(_outcomes(simulations, self._sizes_bytes)) as outcomes:
                for simulation, outcome in outcomes:
                    progress.begin(str(simulation))
                    with left_out.tried(str(simulation)):
                        for row in outcome.result():
                            key = ranks, row["bytes"]
                            if simulation.forced:
                                forced_us[key][simulation.forced.name] = max(row["rank_us"])
                            else:
                                times_us[key][simulation.candidate] = row["rank_us"]
                    progress.advance()
        cells = []
        for ranks, length in keys:
            times = times_us[ranks, length]
            if times and forced_us[ranks, length]:
                with left_out.tried(f"{ranks} simulated ranks, the choice for {size(length)}"):
                    slowest_us = {name: max(each) for name, each in times.items()}
                    cells.append({"ranks": ranks, "length_bytes": length, "forced_us": forced_us[ranks, length],
                                  "selector_us": slowest_us.pop(_NATIVE, None), "catalogue_us": slowest_us,
                                  **choice(length, times)})
        return cells
