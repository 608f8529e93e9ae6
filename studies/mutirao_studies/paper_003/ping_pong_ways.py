"""The ways to send a message that `study ping-pong` compares: a language, an MPI library, and how the
message is handed over. One row each; what a way needs is looked for when it is about to run."""

import importlib.util
import os
import shlex
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mutirao.base.errors import Failure
from mutirao.base.paths import BUILD, ENVIRONMENTS, ROOT
from mutirao.lab.lab import CONTROL_HOST, Lab
from mutirao.run.launch import launch
from mutirao.run.mpis import Mpi, find_mpi
from mutirao.run.processes import Finished, failure_of
from mutirao_studies.account import run_program
from mutirao_studies.paper_003.java import GET, compiled, find_java, system_jar
from mutirao_studies.paper_003.ping_pong_times import read_times

PROGRAM = "ping_pong"
C, JAVA, PYTHON = "C", "Java", "Python"
_RANKS = 2
_EXPRESS_PORT = 45120  # of a lab's host; on this host a free one
_OPEN_MPI_JAR = ENVIRONMENTS / "openmpi-4-java" / "mpi.jar"
_EXPRESS_CONFIGURATION = Path("/etc/mpj")


@dataclass(frozen=True)
class Change:
    """What a job does otherwise than a program would by itself."""

    environment: Mapping[str, str] = field(default_factory=dict)
    java: Sequence[str] = ()  # options of the run time
    program: Sequence[str] = ()
    spins: bool = False  # in the lab waiting ranks otherwise sleep, as ranks and router share processors
    acknowledges_at_once: bool = False  # the lab's hosts, or they wait for data to send along

    @property
    def prefix(self) -> list[str]:
        words = [f"{name}={value}" for name, value in self.environment.items()]
        return ["env", *words] if words else []


@dataclass(frozen=True)
class Work:
    sizes_bytes: Sequence[int]
    trips: int

    def arguments(self) -> list[str]:
        return ["--sizes", ",".join(map(str, self.sizes_bytes)), "--trips", str(self.trips)]


Command = Callable[[Mpi, Change], list[str]]


@dataclass(frozen=True)
class Way:
    key: str
    language: str
    library: str
    handed: str  # how a message is handed over; empty: as a pointer
    mpi: str  # the library's name, or empty
    base: str  # the key of the way in C that it is compared with
    command: Command | None = None  # None: on MPJ Express

    @property
    def title(self) -> str:
        return ", ".join(filter(None, (self.language, self.library, self.handed)))

    @property
    def manner(self) -> str:
        """The same in every library: of MANNERS."""
        return ", ".join(filter(None, (self.language, self.handed)))

    def run(self, work: Work, lab: Lab | None, change: Change, timeout_s: float) -> list[dict]:
        """Failure or UsageError, in one line, where something is missing or the job fails."""
        start = self._start_express if self.command is None else self._start
        finished = start(work, lab, change, timeout_s)
        if finished.returncode:
            raise failure_of(finished, self.title)
        return read_times(finished.lines, work.sizes_bytes, work.trips)

    def _start(self, work: Work, lab: Lab | None, change: Change, timeout_s: float) -> Finished:
        mpi = find_mpi(self.mpi)
        argv = [*_as_two_ranks(mpi, lab), *change.prefix, *self.command(mpi, change),
                *work.arguments(), *change.program]
        return launch(mpi, argv, _RANKS, lab=lab, native=True, capture=True,
                      calm=not change.spins, timeout_s=timeout_s)

    def _start_express(self, work: Work, lab: Lab | None, change: Change,
                       timeout_s: float) -> Finished:
        ranks = _express_ranks(work, lab, change)
        # The second ends with the first, or is ended with everything that the job started.
        script = f"{shlex.join(ranks[1])} & {shlex.join(ranks[0])}"
        return run_program(["sh", "-c", script], {}, timeout_s, lab, CONTROL_HOST)


def _as_two_ranks(mpi: Mpi, lab: Lab | None) -> list[str]:
    """Open MPI binds two ranks to a processor each and lets them spin, unless its launcher is told, as
    ours does, that ranks may outnumber processors."""
    processors = sorted(os.sched_getaffinity(0))
    if lab or not mpi.name.startswith("openmpi") or len(processors) < _RANKS:
        return []
    step = processors[1] - processors[0]
    script = (f"exec taskset -c $(({processors[0]} + {step} * OMPI_COMM_WORLD_LOCAL_RANK))"
              ' "$@"')
    return ["env", "OMPI_MCA_mpi_yield_when_idle=0", "sh", "-c", script, "sh"]


def _c(mpi: Mpi, _change: Change) -> list[str]:
    return [str(mpi.program(PROGRAM))]


def _java(change: Change, name: str, jars: Sequence[Path] = (), options: Sequence[str] = ()) -> list[str]:
    java = find_java()
    classes = compiled(java, name, tuple(jars))
    return [java.program, "--enable-native-access=ALL-UNNAMED", *options, *change.java,
            "-cp", ":".join(map(str, [classes, *jars])), name]


def _intel_binding(mpi: Mpi, change: Change, buffer: str) -> list[str]:
    jar = ENVIRONMENTS / mpi.known.environment / "share" / "java" / "mpi.jar"
    return [*_java(change, "PingPongIntel", [jar], [f"-Djava.library.path={mpi.library.parent}"]), "--buffer", buffer]


def _open_mpi_binding(mpi: Mpi, change: Change, buffer: str) -> list[str]:
    if not _OPEN_MPI_JAR.is_file():
        raise Failure(f"no mpi.jar of Open MPI ({GET})")
    folders = [mpi.library.parent, mpi.library.parent.parent]
    return [*_java(change, "PingPongOpenMpi", [_OPEN_MPI_JAR], ["-Djava.library.path=" + ":".join(map(str, folders))]),
            "--buffer", buffer]


def _foreign(mpi: Mpi, change: Change) -> list[str]:
    return _java(change, "PingPongForeign", options=[f"-Dmpi.library={mpi.library}"])


def _python(_mpi: Mpi, _change: Change, way: str) -> list[str]:
    if importlib.util.find_spec("mpi4py") is None:
        raise Failure("no mpi4py (run make setup)")
    return [sys.executable, str(ROOT / "bench" / "ping_pong" / "ping_pong.py"), "--way", way]


def _express_ranks(work: Work, lab: Lab | None, change: Change) -> list[list[str]]:
    jars = [system_jar("mpj.jar", "../mpj/lib/mpj.jar", package="libmpj-java"),
            system_jar("log4j-1.2.jar", package="libmpj-java")]
    command = _java(change, "PingPongExpress", jars)
    environment = {"MPJ_HOME": str(_express_home())}
    if lab and not change.spins:
        environment["LD_PRELOAD"] = str(lab.calm_library)
    server, port = (lab.hosts[0].address, _EXPRESS_PORT) if lab else ("127.0.0.1", _free_port())
    ranks = []
    for rank in range(_RANKS):
        argv = ["env", *(f"{name}={value}" for name, value in environment.items()), *change.prefix,
                *command, "--rank", str(rank), "--server", server, "--port", str(port),
                *work.arguments(), *change.program]
        ranks.append(lab.command(lab.hosts[rank].name, argv) if lab else argv)
    return ranks


def _express_home() -> Path:
    """MPJ Express looks for its configuration below one folder; Debian keeps it elsewhere."""
    home = BUILD / "java" / "mpj-home"
    link = home / "conf"
    if not link.is_symlink():
        home.mkdir(parents=True, exist_ok=True)
        link.symlink_to(_EXPRESS_CONFIGURATION)
    return home


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


ARRAYS, DIRECT, FOREIGN, BUFFERS, PICKLED = ("arrays", "direct buffers", "java.lang.foreign",
                                             "buffers", "pickled")
MANNERS = (C, f"{JAVA}, {ARRAYS}", f"{JAVA}, {DIRECT}", f"{JAVA}, {FOREIGN}",
           f"{PYTHON}, {BUFFERS}", f"{PYTHON}, {PICKLED}")
_OPEN_MPI_5, _OPEN_MPI_4, _MPICH, _INTEL = "Open MPI 5", "Open MPI 4", "MPICH 5", "Intel MPI"

# In each round every way follows C on its library.
WAYS = (
    Way("c-mpich-5", C, _MPICH, "", "mpich-5", "c-mpich-5", _c),
    Way("foreign-mpich-5", JAVA, _MPICH, FOREIGN, "mpich-5", "c-mpich-5", _foreign),
    # Written in Java altogether: it is set beside the library of the paper's C.
    Way("arrays-express", JAVA, "MPJ Express", ARRAYS, "", "c-mpich-5"),
    Way("buffers-mpich-5", PYTHON, _MPICH, BUFFERS, "mpich-5", "c-mpich-5", partial(_python, way="buffer")),
    Way("pickled-mpich-5", PYTHON, _MPICH, PICKLED, "mpich-5", "c-mpich-5", partial(_python, way="pickled")),
    Way("c-openmpi-5", C, _OPEN_MPI_5, "", "openmpi-5", "c-openmpi-5", _c),
    Way("foreign-openmpi-5", JAVA, _OPEN_MPI_5, FOREIGN, "openmpi-5", "c-openmpi-5", _foreign),
    Way("c-intel", C, _INTEL, "", "intel", "c-intel", _c),
    Way("foreign-intel", JAVA, _INTEL, FOREIGN, "intel", "c-intel", _foreign),
    Way("arrays-intel", JAVA, _INTEL, ARRAYS, "intel", "c-intel", partial(_intel_binding, buffer="array")),
    Way("direct-intel", JAVA, _INTEL, DIRECT, "intel", "c-intel", partial(_intel_binding, buffer="direct")),
    Way("c-openmpi-4", C, _OPEN_MPI_4, "", "openmpi-4", "c-openmpi-4", _c),
    Way("arrays-openmpi-4", JAVA, _OPEN_MPI_4, ARRAYS, "openmpi-4", "c-openmpi-4",
        partial(_open_mpi_binding, buffer="array")),
    Way("direct-openmpi-4", JAVA, _OPEN_MPI_4, DIRECT, "openmpi-4", "c-openmpi-4",
        partial(_open_mpi_binding, buffer="direct")),
)
BY_KEY = {way.key: way for way in WAYS}
