"""What is said of a run as such: its program, its end, and what mutirao's start cost it."""

from collections.abc import Iterator

from mutirao.base.units import counted, duration
from mutirao.explain.saved import start_us, total_of


def forgotten(report: dict) -> Iterator[str]:
    if count := report.get("forgotten_communicators"):
        yield f"of {counted(count, 'more communicator')} only the sums are kept"


def head(report: dict, with_verdict: bool = False) -> Iterator[str]:
    """What ran, what came of it if asked, and what its start cost."""
    if native := report.get("native_since"):
        yield f"The last run was native, without mutirao: {_run(native)}"
        if report.get("no_report"):
            return
        yield "The last one with mutirao:"
    if report.get("no_report"):
        yield _run(report)
        yield "It ended before MPI_Finalize, so mutirao could write no report of it."
        return
    if with_verdict and (line := total_of(report).line):
        yield f"mutirao: {line}"
    yield f"mutirao {report.get('mutirao', '?')} over {_first_line(report.get('mpi', '?'))}"
    if report.get("program"):
        yield f"program: {_run(report)}"
    if report.get("running"):
        yield "The job is running: this is how it stands now."
    yield from _start(report.get("start") or {})


_START_PARTS = (("twin_ms", "to make private communicators"), ("agreed_ms", "in calls, for other ranks' votes"),
                ("waited_ms", "in MPI_Init, to learn the network (start=wait)"),
                ("finalize_ms", "in MPI_Finalize"))


def _run(run: dict) -> str:
    """The program, when it ended, and how if that was no success."""
    when = run.get("written", "").replace("T", " ").replace("Z", " UTC")
    failed = f", exit code {run['exit_code']}" if run.get("exit_code") else ""
    return f"{run.get('program', '?')}; {when}{failed}"


def _first_line(text: str) -> str:
    """MPI libraries describe themselves in several lines or clauses."""
    return " ".join(text.splitlines()[0].split(",")[0].split()) if text else "an unknown MPI"


def _start(start: dict) -> Iterator[str]:
    """What the start cost the program, or why the MPI library takes every call."""
    if start.get("native_reason"):
        yield f"All calls are left to the MPI library: {start['native_reason']}"
    elif start:
        parts = [f"{duration(start[name] * 1000)} {what}" for name, what in _START_PARTS if start.get(name)]
        yield f"start: {duration(start_us(start))}" + (f": {', '.join(parts)}" if parts else "")
        if start.get("introduced_ms"):
            yield (f"  beside the program: all ranks known here"
                   f" {duration(start['introduced_ms'] * 1000)} after MPI_Init")
