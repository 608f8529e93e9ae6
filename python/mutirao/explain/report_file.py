"""The report that a job leaves (setting `report`): found, asked for while the job runs, read and checked."""

import contextlib
import json
import shlex
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from mutirao.base.errors import Failure, UsageError
from mutirao.base.paths import last_report, last_reports, own_name, state_folder
from mutirao.base.user_files import parse_json, read_text
from mutirao.catalogue.collectives import COLLECTIVES

_SECONDS_KEPT = 30 * 24 * 3600  # reports of Slurm jobs
# The library looks once a second; a file system of the cluster's may need a moment more.
_PATIENCE_S = 10.0

_NUMBER, _TEXT = (int, float), str
_EVALUATED = {"candidate": _TEXT, "predicted_us": (*_NUMBER, type(None))}
_MEASURED = {"candidate": _TEXT, "median_us": _NUMBER, "low_us": _NUMBER, "high_us": _NUMBER,
             "samples?": int}
_CHOICE = {"first_call": int, "chosen": _TEXT, "calls": int, "considered?": [_EVALUATED],
           "measured?": [_MEASURED], "tree?": [int], "settled?": bool, "reason?": _TEXT,
           "bound_us?": (*_NUMBER, type(None)), "probe_calls?": int}
_ACCOUNT = {"took_us": _NUMBER, "saved_us": _NUMBER, "error_us": _NUMBER, "probes_us": _NUMBER,
            "unknown_calls": int}
_CLASS = {"collective": COLLECTIVES, "root": int, "length_bytes": (int, type(None)), "first_call": int,
          "native_calls": int, "native_choice?": _CHOICE, "rulings": [_CHOICE], "commutes?": bool,
          "forgotten_rulings?": int, "forgotten_calls?": int, "account?": _ACCOUNT}
_CHANGE = {"collective": COLLECTIVES, "root": int, "length_bytes": (int, type(None)), "call": int,
           "from": _TEXT, "to": _TEXT, "why": _TEXT, "commutes?": bool, "probe_calls?": int,
           "another_tree?": bool}
_TAKEN_UP = {"call": int, "links": int, "new_tree": bool,
             "shown?": [{"low": int, "high": int, "before_us": (*_NUMBER, type(None)),
                         "after_us": (*_NUMBER, type(None))}]}
_ADAPTATION = {"mode": _TEXT, "epochs": int, "waits": int, "waited_ms": _NUMBER, "early_waits": int,
               "early_waited_ms": _NUMBER, "checks": int, "adapting_ms": _NUMBER,
               "taken_up?": [_TAKEN_UP], "horizon_calls?": (int, type(None)), "ghs_messages?": int}
_COSTS = {name: _NUMBER for name in (
    "links", "links_with_bandwidth", "least_bytes_per_us", "most_bytes_per_us", "copy_bytes_per_us",
    "reduce_bytes_per_us", "message_latency_us", "message_overhead_us", "send_overhead_us?",
    "port_bytes_per_us?")}
_COMMUNICATOR = {"ranks": int, "hosts": int, "calls": int, "state": _TEXT, "sites": [int], "regions?": [int],
                 "tree": [[int]], "latency_us": [[(*_NUMBER, type(None))]], "classes": [_CLASS],
                 "adaptation": _ADAPTATION, "costs?": {**_COSTS, "memory_measured": bool,
                                                       "message_measured": bool},
                 "changes?": [_CHANGE], "forgotten_changes?": int, "first_ruled_call?": int,
                 "first_ruled_ms?": _NUMBER, "name?": _TEXT, "reason?": _TEXT, "profile?": _TEXT,
                 "host_names?": [_TEXT]}
_RUN = {"program": _TEXT, "written": _TEXT, "exit_code": int}
# What commands read of a report without asking whether it is there; "?": it may be missing.
_REPORT = {"mutirao?": _TEXT, "mpi?": _TEXT, "program?": _TEXT, "written?": _TEXT, "exit_code?": int,
           "native_since?": _RUN, "no_report?": bool, "forgotten_communicators?": int,
           "forgotten?": {"calls": int, "own_calls": int, "probe_calls": int, "waited_ms": _NUMBER,
                          "account?": _ACCOUNT},
           "start?": {"native_reason?": _TEXT, "twin_ms?": _NUMBER, "waited_ms?": _NUMBER,
                      "agreed_ms?": _NUMBER, "finalize_ms?": _NUMBER, "introduced_ms?": _NUMBER},
           "communicators": [_COMMUNICATOR]}


def add_arguments(parser) -> None:
    parser.add_argument("file", nargs="?", type=Path,
                        help="a report (run --report FILE); default: that of the last run")
    parser.add_argument("--running", action="store_true",
                        help="ask a job that still runs: that of `mutirao run`, or whose report is to be FILE")


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
    if not path.exists():
        raise UsageError(f"no report {file}")
    return _checked(read_text(path), path)


def _checked(text: str, path: Path) -> dict:
    report = parse_json(text, path)
    wrong = next(_wrong(report, _REPORT, ""), None) or next(_unknown_hosts(report), None)
    if wrong:
        raise UsageError(f"{path} is not a report of mutirao: {wrong}")
    return report


def _wrong(value, wanted, place: str) -> Iterator[str]:
    """What is not as `wanted` says: a type or several, a list of one kind, members, or one of some words."""
    if wanted is COLLECTIVES:
        if not isinstance(value, str) or value not in COLLECTIVES:
            yield f"{place} is {json.dumps(value)[:30]}, no collective"
    elif isinstance(wanted, Mapping):
        yield from _wrong_members(value, wanted, place)
    elif isinstance(wanted, list):
        if not isinstance(value, list):
            yield f"{place} is no list"
            return
        for number, each in enumerate(value):
            yield from _wrong(each, wanted[0], f"{place}[{number}]")
    elif not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        yield f"{place} is {json.dumps(value)[:30]}"


def _wrong_members(value, wanted: Mapping, place: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{place or 'it'} is no object"
        return
    for member, its in wanted.items():
        name = member.removesuffix("?")
        where = f"{place}.{name}" if place else name
        if name in value:
            yield from _wrong(value[name], its, where)
        elif name == member:
            yield f"{where} is missing"


def _unknown_hosts(report: dict) -> Iterator[str]:
    """Trees and latencies are of the same hosts."""
    for number, communicator in enumerate(report["communicators"]):
        hosts = len(communicator["sites"])
        rows = communicator["latency_us"]
        trees = [ruling["tree"] for of_class in communicator["classes"]
                 for ruling in of_class["rulings"] if ruling.get("tree")]
        if (len(rows) != hosts or any(len(row) != hosts for row in rows)
                or any(len(edge) != 2 or not all(0 <= host < hosts for host in edge)
                       for edge in communicator["tree"])
                or any(len(tree) != hosts or not all(-1 <= host < hosts for host in tree)
                       for tree in trees)):
            yield f"communicators[{number}] has trees or latencies of other hosts than it has sites"


# --- of the last run ----------------------------------------------------------------------------------


def keep_for_explain(report: dict | None, argv: Sequence[str], returncode: int, native: bool) -> None:
    """explain speaks of the last run, even where that left nothing to explain."""
    this_run = {"program": " ".join(argv), "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "exit_code": returncode}
    if native:
        kept = {**_kept(), "native_since": this_run}
    elif report is not None:
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
    _forget_old_jobs()


def _forget_old_jobs() -> None:
    with contextlib.suppress(FileNotFoundError):  # another job removes them, too
        for of_job in state_folder().glob("last-run-*.json"):
            if of_job.stat().st_mtime < time.time() - _SECONDS_KEPT:
                of_job.unlink()


def _kept() -> dict:
    try:
        return json.loads(last_report().read_text())
    except (OSError, ValueError):
        return {"no_report": True, "communicators": []}


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
