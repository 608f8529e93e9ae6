"""The transports of bench/mandelbrot: which of them are here, what each needs around a run on this host or
across a lab, and a run.

Programs are told nothing of ports: the system picks those that are free, so none can be in use.
"""

import functools
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mutirao.base.errors import Failure
from mutirao.base.paths import BUILD
from mutirao.lab.lab import Lab
from mutirao.lab.network import host_of_each
from mutirao.run.launch import launch
from mutirao.run.mpis import KNOWN, Mpi, found_mpis
from mutirao.run.processes import Finished, ended_with, new_mark
from mutirao_studies.account import run_program, started, told

GET = "run scripts/setup.sh --studies"
PVM_ROOT = Path("/usr/lib/pvm3")
_SECONDS_FOR_A_DAEMON = 15.0
_SECONDS_TO_END = 5.0
# LAM refuses root: then its daemon and ranks belong to this user, who is on every system.
_LAM_USER, _LAM_GROUP = "nobody", "nogroup"

# Runs the program with these arguments and this number of workers, for so many seconds at most.
Runner = Callable[[Sequence[str], int, float], Finished]


@dataclass(frozen=True)
class Transport:
    name: str
    title: str
    ready: Callable[[Lab | None], AbstractContextManager[Runner]]  # None: all on this host
    missing: Callable[[], str]  # why it cannot run here and how to get it; empty: it can
    in_paper: str = ""  # the paper's name for it
    ends_with_a_worker: bool = False  # the job does, when one is killed


@dataclass(frozen=True)
class Task:
    """What the program is asked for."""

    workers: int
    side: int
    points: int
    iterations: int
    fall_after: int | None = None  # tasks, then a worker kills itself

    def arguments(self, image: Path | None) -> list[str]:
        words = ["--workers", str(self.workers), "--side", str(self.side),
                 "--points", str(self.points), "--iterations", str(self.iterations)]
        if self.fall_after is not None:
            words += ["--fall-after", str(self.fall_after)]
        return words + (["--image", str(image)] if image else [])


def run_task(transport: Transport, runner: Runner, task: Task, timeout_s: float,
             image: Path | None = None) -> dict:
    """What the master says of the run, and how long the whole took, launching included."""
    finished = runner(task.arguments(image), task.workers, timeout_s)
    return {**told(finished, transport.title, '{"workers"'), "whole_s": round(finished.seconds, 4)}


def known_transports(mpi_names: Sequence[str]) -> tuple[Transport, ...]:
    """In the order of tables: the paper's own, then MPI libraries, then what one would pick today."""
    return (
        _launching_itself("sockets", "TCP sockets", in_paper="Sockets"),
        _launching_itself("via", "VIA on libfabric", in_paper="libVIP"),
        Transport("pvm", "PVM 3.4", _pvm, _why_no_pvm, in_paper="PVM"),
        Transport("lam", "LAM/MPI 7.1", _lam, _why_no_lam, in_paper="MPI",
                  ends_with_a_worker=True),
        *(_mpi(name) for name in mpi_names),
        _mpi(mpi_names[0], preloaded=True),
        _launching_itself("zeromq", "ZeroMQ"),
        _launching_itself("grpc", "gRPC"),
    )


def _program(name: str) -> Path:
    return BUILD / "bin" / f"mandelbrot-{name}"


def _why_not_built(name: str) -> str:
    return "" if _program(name).is_file() else f"not built: {GET}"


def _elsewhere(lab: Lab | None, workers: int) -> list[str]:
    """Where the master listens and its workers run: placed as MPI's ranks are, the master before all."""
    if lab is None:
        return []
    hosts = [lab.hosts[host].name for host in host_of_each(workers + 1, len(lab.hosts))[1:]]
    return ["--address", lab.hosts[0].address, "--hosts", ",".join(hosts),
            "--remote-shell", str(lab.agent)]


def _launching_itself(name: str, title: str, in_paper: str = "") -> Transport:
    @contextmanager
    def ready(lab: Lab | None) -> Iterator[Runner]:
        yield lambda arguments, workers, timeout_s: run_program(
            [str(_program(name)), *arguments, *_elsewhere(lab, workers)], {}, timeout_s, lab)

    return Transport(name, title, ready, functools.partial(_why_not_built, name), in_paper)


def _mpi(name: str, preloaded: bool = False) -> Transport:
    found = next((mpi for mpi in found_mpis() if mpi.name == name), None)
    known = next(row for row in KNOWN if row.name == name)
    title = found.title if found else f"{known.title} {known.major}"

    @contextmanager
    def ready(lab: Lab | None) -> Iterator[Runner]:
        assert found is not None
        program = str(found.program("mandelbrot"))
        yield lambda arguments, workers, timeout_s: launch(
            found, [program, *arguments], workers + 1, lab=lab, native=not preloaded, capture=True,
            timeout_s=timeout_s, launcher=None if lab else with_own_shared_memory(
                [str(found.launcher), *found.known.style.local(workers + 1)]))

    return Transport("mutirao" if preloaded else name, f"mutirao on {title}" if preloaded else title,
                     ready, functools.partial(_why_no_mpi, found, known.get, preloaded),
                     ends_with_a_worker=True)


def with_own_shared_memory(argv: Sequence[str]) -> list[str]:
    """A command line whose processes have a /dev/shm for themselves, where the system allows that."""
    apart = ["unshare", "--mount", "--propagation", "private"]
    if os.getuid() != 0:
        apart.append("--map-root-user")
    mounted = [*apart, "sh", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "sh"]
    return [*(mounted if _succeeds(tuple(mounted)) else ()), *argv]


@functools.cache
def _succeeds(prefix: tuple[str, ...]) -> bool:
    tried = subprocess.run([*prefix, "true"], capture_output=True, check=False)
    return tried.returncode == 0


def _why_no_mpi(mpi: Mpi | None, get: str, preloaded: bool) -> str:
    if mpi is None:
        return f"not installed: {get}"
    built = (mpi.build_folder / "mandelbrot").is_file() and (mpi.built or not preloaded)
    return "" if built else "not built: run make build"


def _why_no_pvm() -> str:
    return _why_not_built("pvm") or (
        "" if (PVM_ROOT / "lib" / "pvmd").exists() else f"no {PVM_ROOT}/lib/pvmd: {GET}")


@contextmanager
def _pvm(lab: Lab | None) -> Iterator[Runner]:
    """With a daemon of its own on each host, which no other virtual machine of this or another user can
    meet: its files lie in a folder of their own."""
    mark = new_mark()
    with tempfile.TemporaryDirectory(prefix="mutirao-pvm-") as folder, ended_with(mark):
        environment = {"PVM_ROOT": str(PVM_ROOT), "PVM_ALLOW_ROOT": "1", "PVM_TMP": folder,
                       "PVM_VMID": "mutirao"}
        command = [str(PVM_ROOT / "lib" / "pvmd")]
        if lab:
            environment["PVM_RSH"] = str(_pvm_remote_shell(lab, Path(folder)))
            hosts = Path(folder, "hosts")
            hosts.write_text("".join(f"{host.name}\n" for host in lab.hosts))
            command.append(str(hosts))
        log = Path(folder, "log")
        with log.open("w") as said:
            daemon = started(lab, command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                             env={**os.environ, **environment, **mark})
        _wait_for_daemon(daemon, Path(folder, f"pvmd.{os.getuid()}.mutirao"), log)
        if lab:
            _wait_for_hosts(lab, {**environment, **mark})
        try:
            yield lambda arguments, workers, timeout_s: run_program(
                [str(_program("pvm")), *arguments, *_elsewhere(lab, workers)], environment, timeout_s,
                lab)
        finally:
            daemon.terminate()  # it then ends its tasks; one that does not is killed with all of them
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(_SECONDS_TO_END)


def _pvm_remote_shell(lab: Lab, folder: Path) -> Path:
    """The lab's hosts share their files, and daemons find each other's by their names."""
    script = folder / "remote-shell"
    script.write_text(f"""#!/bin/sh
mkdir -p "{folder}/$1" && PVM_TMP="{folder}/$1" exec "{lab.agent}" "$@"
""")
    script.chmod(0o755)
    return script


def _wait_for_daemon(daemon: subprocess.Popen, address: Path, log: Path) -> None:
    end = time.monotonic() + _SECONDS_FOR_A_DAEMON
    while not (address.exists() and address.stat().st_size):
        if daemon.poll() is not None or time.monotonic() > end:
            said = log.read_text(errors="replace").strip().splitlines()
            raise Failure(f"PVM's daemon does not start{': ' + said[-1] if said else ''}")
        time.sleep(0.02)


def _wait_for_hosts(lab: Lab, environment: dict[str, str]) -> None:
    """Until PVM's console counts them all."""
    end = time.monotonic() + _SECONDS_FOR_A_DAEMON
    while True:
        console = started(lab, ["pvm"], env={**os.environ, **environment}, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = console.communicate("conf\nquit\n", _SECONDS_FOR_A_DAEMON)[0]
        if re.search(rf"\b{len(lab.hosts)} hosts,", said):
            return
        if time.monotonic() > end:
            raise Failure(f"PVM's daemon does not start on all {len(lab.hosts)} hosts")
        time.sleep(0.02)


def _why_no_lam() -> str:
    missing = [name for name in ("lamboot", "mpirun.lam") if not shutil.which(name)]
    return _why_not_built("lam") or (f"no {' and no '.join(missing)}: {GET}" if missing else "")


@contextmanager
def _lam(lab: Lab | None) -> Iterator[Runner]:
    """With a daemon of its own, for a user who is not root, in a folder that this user can read."""
    if lab:
        raise Failure("it refuses root, as whom programs run on the lab's hosts")
    mark = new_mark()
    with tempfile.TemporaryDirectory(prefix="mutirao-lam-") as folder, ended_with(mark):
        program = Path(shutil.copy(_program("lam"), folder))
        as_user: list[str] = []
        if os.getuid() == 0:
            as_user = ["setpriv", f"--reuid={_LAM_USER}", f"--regid={_LAM_GROUP}", "--clear-groups"]
            for path in (folder, program):
                shutil.chown(path, _LAM_USER, _LAM_GROUP)
        environment = {"HOME": folder, "LAM_MPI_SESSION_PREFIX": folder}
        _boot_lam([*as_user, "lamboot"], Path(folder), {**os.environ, **environment, **mark})
        # Through TCP, as in the paper; that leaves no shared memory behind either.
        command = [*as_user, "mpirun.lam", "-ssi", "rpi", "tcp", "-wd", folder, "-np"]
        yield lambda arguments, workers, timeout_s: run_program(
            [*command, str(workers + 1), str(program), *arguments], environment, timeout_s)


def _boot_lam(command: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
    log = folder / "log"
    with log.open("w") as said:  # a pipe would stay open in the daemon
        try:
            code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                  cwd=folder, env=environment, check=False,
                                  timeout=_SECONDS_FOR_A_DAEMON).returncode
        except subprocess.TimeoutExpired:
            code = None
    if code != 0:
        words = " ".join(log.read_text(errors="replace").split())
        raise Failure(f"LAM's daemon does not start: {words or 'lamboot says nothing'}")
