"""What mutirao costs who makes many communicators or many short calls, whose hosts it watches, and who has more hosts
than it can serve."""

import re
import statistics
from collections.abc import Mapping, Sequence

from mutirao.base.errors import Failure
from mutirao.run.launch import CompletedRun, launch
from mutirao.run.mpis import Mpi, find_mpi
from mutirao.run.processes import failure_of
from mutirao_studies.account import told
from mutirao_studies.bars.bar import AS_IT_COMES, MPIS, SET_UP, Bar, Finding, at_most, on_each_mpi
from mutirao_studies.paper_000 import agents

COMMUNICATORS, COMMUNICATORS_X, COMMUNICATORS_KIB = 2000, 1.1, 1024
CALL_NS, SELF_NS = 150.0, 20.0
TOO_MANY_HOSTS = 65
_PAIRS = 3
_MOST_SECONDS_OF_A_JOB = 120.0


def bars(_commit_hash: str) -> list[Bar]:
    return [*on_each_mpi("communicators", f"{COMMUNICATORS} communicators split, used once, freed", 1, _communicators),
            *on_each_mpi("call", "a broadcast of 8 B against the same tree by hand, 2 ranks", 1, _call),
            *on_each_mpi("many-hosts", f"a job of {TOO_MANY_HOSTS} hosts", 1, _many_hosts),
            Bar("agents", "agents on 24 hosts while nothing changes", 3, _agents)]


def _run(mpi: Mpi, argv: Sequence[str], ranks: int, settings: Mapping[str, str] | None) -> CompletedRun:
    """On this host; without settings natively."""
    finished = launch(mpi, [str(mpi.program(argv[0])), *argv[1:]], ranks, settings=settings, native=settings is None,
                      capture=True, timeout_s=_MOST_SECONDS_OF_A_JOB)
    if finished.returncode != 0:
        raise failure_of(finished, f"{argv[0]} on {mpi.title}")
    return finished


def _communicators(mpi: Mpi) -> list[Finding]:
    def run(settings: Mapping[str, str] | None) -> tuple[float, float]:
        lines = _run(mpi, ["many_communicators", "short", str(COMMUNICATORS)], 4, settings).lines
        said = next(filter(None, (re.fullmatch(r"ok (\S+) s (\S+) KiB", line) for line in lines)), None)
        if said is None:
            raise Failure("many_communicators did not tell its times")
        return float(said[1]), float(said[2])

    pairs = [(run({**AS_IT_COMES, "ranks_per_host": "1"}), run(None)) for _ in range(_PAIRS)]
    return [at_most(COMMUNICATORS_X, "x native", statistics.median(ours[0] / theirs[0] for ours, theirs in pairs)),
            at_most(COMMUNICATORS_KIB, "memory grows, more than natively, by", statistics.median(
                ours[1] - theirs[1] for ours, theirs in pairs), " KiB")]


def _call(mpi: Mpi) -> list[Finding]:
    """A tree is forced, so that both do the same; the rest is as it comes."""
    def run(settings: Mapping[str, str] | None) -> dict:
        return told(_run(mpi, ["overhead"], 2, settings), "overhead", "{")

    forced = {**AS_IT_COMES, "ranks_per_host": "1", "broadcast": "binomial"}
    pairs = [(run(forced), run(None)) for _ in range(_PAIRS)]
    return [at_most(CALL_NS, "more than by hand", statistics.median(
                ours["world_ns"] - ours["by_hand_ns"] for ours, _ in pairs), " ns"),
            at_most(SELF_NS, "on a communicator of one rank, more than native", statistics.median(
                ours["self_ns"] - theirs["self_ns"] for ours, theirs in pairs), " ns")]


def _many_hosts(mpi: Mpi) -> list[Finding]:
    report = _run(mpi, ["collective", "broadcast", "--repeat", "20"], TOO_MANY_HOSTS,
                  {**SET_UP, "ranks_per_host": "1"}).report
    if report is None:
        raise Failure("mutirao left no report, as if it had not been preloaded")
    states = [(each["state"], each.get("reason") or "no reason") for each in report["communicators"]]
    reason = (report.get("start") or {}).get("native_reason") or "; ".join(reason for _, reason in states)
    return [Finding("all native, with a reason", reason or "nothing said",
                    bool(reason) and all(state == "native" for state, _ in states))]


def _agents() -> list[Finding]:
    result = agents.run_study(find_mpi(MPIS[0]), quick=True)
    return [at_most(limit, f"{what}, median", statistics.median(host[key] for host in result["hosts"]))
            for key, (what, limit) in agents.COSTS.items() if limit is not None]
