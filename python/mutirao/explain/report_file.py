"""The report that a job leaves (setting `report`): found, asked for while the job runs, read and checked."""

import json
import shlex
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from mutirao.base.errors import Failure, UsageError, what_is_odd
from mutirao.base.paths import last_report, last_reports, own_name, state_folder
from mutirao.base.user_files import parse_json, read_text

_SECONDS_KEPT = 30 * 24 * 3600  # reports of Slurm jobs
# The library looks once a second; a file system of the cluster's may need a moment more.
_PATIENCE_S = 10.0

_OF_DAMAGED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def with_file(command: str, file: Path | None) -> str:
    """As it is typed for the same report."""
    return f"{command} {shlex.quote(str(file))}" if file else command


def read_report(file: Path | None, running: bool = False) -> dict:
    """Of the last run, or of `file`. Which one it is was the caller's choice: what is wrong with it is
    wrong usage."""
    if running:
        asked = file or _report_of_the_running_job()
        return _checked(_ask(asked), asked)
    path = file or last_report()
    if file is None and not path.exists():
        raise Failure("no report of a run yet: the last program made no collective call that mutirao"
                      " handles, or none was run (mutirao run)")
    return _checked(read_text(path), path)


def _checked(text: str, path: Path) -> dict:
    report = parse_json(text, path)
    with told_as_no_report(path):
        for communicator in report["communicators"]:
            communicator["classes"]
    return report


@contextmanager
def told_as_no_report(path: Path | None) -> Iterator[None]:
    """Around whatever reads a report, of the last run or of a file: what is damaged is said in one line."""
    try:
        yield
    except _OF_DAMAGED as error:
        raise UsageError(f"{path or last_report()} is not a report of mutirao: {what_is_odd(error)}") from None


# --- of the last run ----------------------------------------------------------------------------------


def keep_for_explain(report: dict | None, argv: Sequence[str], returncode: int) -> None:
    """explain speaks of the last run with mutirao, even where that left nothing to explain."""
    this_run = {"program": " ".join(argv), "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "exit_code": returncode}
    if report is not None:
        kept = {**this_run, **report}
    elif returncode:
        kept = {**this_run, "no_report": True, "communicators": []}
    else:
        kept = None
    for path in last_reports():
        if kept is None:
            path.unlink(missing_ok=True)
        else:
            fresh = path.with_suffix(f".{own_name()}")
            fresh.write_text(json.dumps(kept))
            fresh.replace(path)
    with suppress(FileNotFoundError):  # another job removes old ones, too
        for of_job in state_folder().glob("last-run-*.json"):
            if of_job.stat().st_mtime < time.time() - _SECONDS_KEPT:
                of_job.unlink()


# --- of a job that runs -------------------------------------------------------------------------------


def _running_folder() -> Path:
    folder = state_folder() / "running"
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def announced(report: Path, argv: Sequence[str]) -> Iterator[None]:
    """Meanwhile explain --running knows of the job, whose report is to be that file."""
    note = _running_folder() / f"{own_name()}.json"
    note.write_text(json.dumps({"report": str(report), "command": list(argv)}))
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def _report_of_the_running_job() -> Path:
    jobs = {}
    for note in _running_folder().glob("*.json"):
        if _may_run(note.stem):
            job = json.loads(note.read_text())
            jobs[Path(job["report"])] = " ".join(job["command"])
        else:
            note.unlink(missing_ok=True)
    if len(jobs) == 1:
        return next(iter(jobs))
    if not jobs:
        raise UsageError("no job of mutirao run is running here: name the file of its setting report")
    raise UsageError("several jobs are running: choose one by its FILE, "
                     + "; ".join(f"{report} ({command})" for report, command in jobs.items()))


def _may_run(name: str) -> bool:
    """Of processes on other hosts that share the state folder nothing is known here."""
    host, _, process = name.rpartition("-")
    return host != socket.gethostname() or Path(f"/proc/{process}").exists()


def _ask(report: Path) -> str:
    """What the job says now, or its report if it has ended meanwhile."""
    wanted, answer = (report.with_name(report.name + end) for end in (".wanted", ".now"))
    answer.unlink(missing_ok=True)
    try:
        wanted.touch()
    except OSError as error:
        raise UsageError(f"cannot ask for {report}: {error.strerror}") from None
    until = time.monotonic() + _PATIENCE_S
    while wanted.exists() and time.monotonic() < until:
        time.sleep(0.05)
    if wanted.exists():
        wanted.unlink(missing_ok=True)
        raise Failure(f"no job answered for {report}: none with this report runs, it is not through"
                      " MPI_Init, the MPI library takes all its calls, or its settings leave no thread"
                      " beside the program (agent=in-band, adaptation=every:K)")
    try:
        return read_text(answer if answer.exists() else report)
    finally:
        answer.unlink(missing_ok=True)
