"""Starts programs and leaves none of them behind, however the command ends.

A launcher starts its ranks in process groups and sessions of its own, so signalling a group does
not reach them all. Each launch therefore marks its environment, which everything it starts
inherits, and what still carries the mark at the end is killed. So is the shared memory that killed ranks leave
behind: MPI libraries remove theirs only when they end well.
"""

import os
import secrets
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mutirao.base.errors import Failure

MARK = "STARTED_BY_MUTIRAO"
_SECONDS_TO_END = 3.0
_SECONDS_UNTIL_GONE = 20.0  # killed, a process first gives its memory back, and some have gigabytes
_LINES_OF_ERROR = 20

Starter = Callable[..., subprocess.Popen]


@dataclass
class Finished:
    returncode: int
    lines: list[str]  # of standard output; empty unless captured
    errors: str  # of standard error; empty unless captured
    seconds: float  # from the start to the program's own end; what it leaves behind is ended after that


def new_mark() -> dict[str, str]:
    return {MARK: secrets.token_hex(8)}


def run_marked(start: Starter, mark: dict[str, str], capture: bool,
               on_line: Callable[[str], None] | None = None,
               timeout_s: float | None = None, discard: bool = False) -> Finished:
    """Runs what `start(**popen_arguments)` starts, to its end or to ours.

    Captured output comes line by line to `on_line` while the program runs. With `discard` it goes
    nowhere, and standard error alone is captured.
    """
    begin, began = time.monotonic(), time.time()
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL if discard else subprocess.PIPE,
                 "stderr": errors, "text": True, "errors": "replace"} if capture or discard else {}
        process = start(**pipes)
        watchdog = threading.Timer(timeout_s or 0, _end, (process, mark))
        try:
            if timeout_s:
                watchdog.start()
            lines = _read_lines(process, on_line) if capture else []
            process.wait()
            seconds = time.monotonic() - begin
        finally:
            watchdog.cancel()
            with uninterrupted():
                _end(process, mark)
                if process.returncode:
                    remove_orphaned_segments(began)
        if timeout_s and seconds >= timeout_s:
            raise Failure(f"no end after {timeout_s:g} s")
        errors.seek(0)
        return Finished(process.returncode, lines, errors.read(), seconds)


def failure_of(finished: Finished, what: str) -> Failure:
    """The error for a captured program that failed: its exit code and the end of what it said."""
    said = finished.errors.strip().splitlines()[-_LINES_OF_ERROR:]
    return Failure("\n".join([f"{what} failed with exit code {finished.returncode}", *said]))


def _read_lines(process: subprocess.Popen, on_line: Callable[[str], None] | None) -> list[str]:
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if on_line:
            on_line(lines[-1])
    return lines


def _end(process: subprocess.Popen, mark: dict[str, str]) -> None:
    """Asks the launcher to end, which lets it end its ranks; then kills what is left."""
    ending: set[int] = set()
    if process.poll() is None:
        ending.update(_marked_processes(mark))
        process.terminate()
        try:
            process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
    ending.update(kill_marked(mark))
    process.wait()
    _wait_until_gone(ending)


def kill_marked(mark: dict[str, str]) -> set[int]:
    killed = set()
    # What is killed may have started something between our look and its end.
    while pids := _marked_processes(mark):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        killed.update(pids)
        time.sleep(0.01)
    return killed


def _wait_until_gone(pids: Iterable[int]) -> None:
    """Who is ending carries no mark any more."""
    end = time.monotonic() + _SECONDS_UNTIL_GONE
    while any(map(_runs, pids)) and time.monotonic() < end:
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


@contextmanager
def ended_with(mark: dict[str, str]) -> Iterator[None]:
    """For daemons: what carries the mark lasts until the end of this, at most."""
    try:
        yield
    finally:
        with uninterrupted():
            _wait_until_gone(kill_marked(mark))


def _marked_processes(mark: dict[str, str]) -> list[int]:
    wanted = f"{MARK}={mark[MARK]}".encode()
    pids = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError), open(f"{entry.path}/environ", "rb") as environ:  # it has ended, or is not ours
                if wanted in environ.read().split(b"\0"):
                    pids.append(int(entry.name))
    return pids


@contextmanager
def uninterrupted():
    """A second Ctrl-C must not stop the tidying up."""
    signals = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def argv_ending_with_us(argv: Sequence[str]) -> list[str]:
    """A command line whose process is asked to end should we be killed outright."""
    return ["setpriv", "--pdeathsig", "TERM", *argv]


_SHARED_MEMORY = Path("/dev/shm")
_OF_MPI = ("mpich_shm_*", "sm_segment.*", "vader_segment.*", "Intel_MPI_*")


def remove_orphaned_segments(since: float, folder: Path = _SHARED_MEMORY) -> None:
    """Those of MPI libraries, made by this user since a time of the clock, that no process holds.

    Other jobs may run on this machine: theirs are held, by the rank that made them or by all.
    """
    young = [path for pattern in _OF_MPI for path in folder.glob(pattern)
             if _is_ours(path, since)]
    held = set(_held(folder)) if young else set()
    for path in young:
        if path.name not in held:
            path.unlink(missing_ok=True)


def _is_ours(path: Path, since: float) -> bool:
    try:
        status = path.stat()
    except FileNotFoundError:
        return False
    return status.st_uid == os.geteuid() and status.st_ctime >= since


def _held(folder: Path) -> Iterator[str]:
    """Names of the folder's files that some process has mapped or open."""
    prefix = f"{folder}/"
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is not ours
            for line in (process / "maps").read_text(errors="replace").splitlines():
                if prefix in line:
                    yield line.partition(prefix)[2].split(" ")[0]
            for descriptor in (process / "fd").iterdir():
                if (target := os.readlink(descriptor)).startswith(prefix):
                    yield target.removeprefix(prefix)
