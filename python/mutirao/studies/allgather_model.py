"""The model of paper 001's cluster, as SMPI and as mutirao's core read it, and runs of the simulator on it."""

import functools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mutirao.paths import BUILD
from mutirao.processes import argv_ending_with_us, failure_of, new_mark, run_marked
from mutirao.studies.paper_001 import MODEL, Model

PROGRAM = BUILD / "bin" / "allgather-simulated"
_HEAD = ("<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
         '<platform version="4.1">', '<zone id="cluster" routing="Full">')
# No factors that are fitted to another network, no computing, no cost of looking for a message in vain; one
# mailbox, since messages of different lengths may overtake each other between two.
_OPTIONS = {"smpi/simulate-computation": "no", "smpi/grow-injected-times": "no", "smpi/test": "0",
            "smpi/iprobe": "0", "smpi/wtime": "0", "smpi/lat-factor": "0:1", "smpi/bw-factor": "0:1",
            "network/TCP-gamma": "0", "network/crosstraffic": "no", "smpi/async-small-thresh": "0",
            "smpi/coll-selector": "ompi"}


def network_lines(model: Model = MODEL) -> Iterator[str]:
    """As mutirao-core reads them."""
    cable = model.cable_bytes_per_us
    yield f"hosts {model.hosts}"
    yield f"eager_limit_bytes {model.eager_limit_bytes}"
    for host in range(model.hosts):
        yield f"host {host} {model.overhead_us} {model.overhead_us} {cable}"
        yield from (f"link {host} {other} {model.latency_us} {cable}"
                    for other in range(model.hosts) if other != host)
    yield (f"memory {model.memory_latency_us} {model.overhead_us} {model.copy_bytes_per_us}"
           f" {model.copy_bytes_per_us / 2} {model.memory_bytes_per_us}")


def core_names(ranks: int, model: Model = MODEL) -> list[str]:
    """Cyclically placed; what comes before the dash is the host."""
    return [f"host{rank % model.hosts}-{rank // model.hosts}" for rank in range(ranks)]


def platform_lines(ranks: int, model: Model = MODEL) -> Iterator[str]:
    """Every core is a host of SimGrid's with a link to the memory of the host that it belongs to."""
    cores = core_names(ranks, model)
    yield from _HEAD
    for core in cores:
        yield f'<host id="{core}" speed="1Gf"/>'
        yield _link(f"copy-{core}", model.copy_bytes_per_us, 0)
    for host in range(model.hosts):
        yield _link(f"memory-host{host}", model.memory_bytes_per_us, model.memory_latency_us)
    yield _link("cable", model.cable_bytes_per_us, model.latency_us, "SPLITDUPLEX")
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


def why_not() -> str | None:
    """What is missing of the simulator; None: nothing."""
    if shutil.which("smpirun") is None:
        return "SimGrid is not installed: run scripts/setup.sh --studies (Debian: libsimgrid-dev), then make build"
    return None if PROGRAM.is_file() else "the simulated program is not built: run make build"


def version() -> str:
    said = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, check=False).stdout
    return next((line.strip() for line in said.splitlines() if "SimGrid" in line), "SimGrid")


def simulate(ranks: int, algorithm: str, words: Sequence[str], sizes_bytes: Sequence[int],
             on_line: Callable[[str], None] | None = None, timeout_s: float | None = None,
             model: Model = MODEL) -> list[dict]:
    """What the program says, run with `algorithm` of SMPI's as the MPI library's own."""
    overhead = f"0:{model.overhead_us * 1e-6}:0"
    with tempfile.TemporaryDirectory(prefix="mutirao-") as name:
        folder = Path(name)
        files = {"platform.xml": platform_lines(ranks, model), "hosts": core_names(ranks, model),
                 "model.network": network_lines(model)}
        for file, lines in files.items():
            (folder / file).write_text("".join(f"{line}\n" for line in lines))
        options = {**_OPTIONS, "smpi/allgather": algorithm, "smpi/tmpdir": name,
                   "smpi/send-is-detached-thresh": str(model.eager_limit_bytes),
                   **dict.fromkeys(("smpi/os", "smpi/ois", "smpi/or"), overhead)}
        command = ["smpirun", "-quiet", "-np", str(ranks), "-platform", str(folder / "platform.xml"),
                   "-hostfile", str(folder / "hosts"), "--log=root.thresh:critical",
                   *(f"--cfg={option}:{value}" for option, value in options.items()),
                   str(PROGRAM), *words, str(folder / "model.network"), *map(str, sizes_bytes)]
        mark = new_mark()
        start = functools.partial(subprocess.Popen, argv_ending_with_us(command), cwd=folder,
                                  env={**os.environ, **mark})
        finished = run_marked(start, mark, True, on_line, timeout_s)
    if finished.returncode != 0:
        raise failure_of(finished, f"{ranks} simulated ranks, {algorithm}")
    return [json.loads(line) for line in finished.lines if line.startswith("{")]
