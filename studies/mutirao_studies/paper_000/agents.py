"""What standing agents cost on 24 hosts, and what a job gains that finds them."""

import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from mutirao.agent.agent import PROGRAM, make_key
from mutirao.base.errors import Failure
from mutirao.base.progress import Steps, steps
from mutirao.base.tables import Table
from mutirao.base.tools import built
from mutirao.lab.lab import Lab, bring_up
from mutirao.measure.circumstances import Circumstances
from mutirao.measure.measure import Contender
from mutirao.pages.html import judged
from mutirao.run.mpis import Mpi
from mutirao.run.processes import failure_of
from mutirao_studies.document import Document, Lines, Section
from mutirao_studies.paper_000.changing_network import six_gateways

STUDY = "agents"
SETTLE_S, WINDOW_S, QUICK_WINDOW_S = 15.0, 60.0, 10.0
JOBS, QUICK_JOBS = 3, 1
# Of one host, as a median and at most: what is measured, its unit and what it may be.
COSTS = {"processor_percent": ("processor, % of a core", 0.5),
         "resident_mib": ("memory, MiB", 20.0),
         "udp_kbit_s": ("UDP sent and received, kbit/s", None),
         "tcp_kbit_s": ("TCP sent and received, kbit/s", None),
         "kbit_s": ("UDP and TCP, kbit/s", 20.0),
         "sent_kbit_s": ("of these sent, kbit/s", None)}
_START = {"twin_ms": "making the communicator", "waited_ms": "waiting for ranks and network",
          "first_ruled_ms": "first ruling, after MPI_Init"}
_MOST_SECONDS_OF_A_JOB = 120.0
_SECONDS_FOR_A_TREE, _SECONDS_TO_END = 60, 10


class StandingAgents:
    """On all hosts of a lab, as a cluster's administrator would have them."""

    def __init__(self, lab: Lab):
        built(PROGRAM)
        self._lab, self._hosts = lab, lab.network.hosts
        self._folder = tempfile.TemporaryDirectory(prefix="mutirao-")
        hosts, key = Path(self._folder.name) / "hosts", Path(self._folder.name) / "key"
        hosts.write_text("".join(f"{host}\n" for host in self._hosts))
        make_key(key)
        self._processes = [
            lab.exec(host, [str(PROGRAM), "run", "--hosts", str(hosts), "--self", str(number),
                            "--key", str(key)],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for number, host in enumerate(self._hosts)]

    def __enter__(self) -> "StandingAgents":
        return self

    def __exit__(self, *_exception: object) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait(_SECONDS_TO_END)
        self._folder.cleanup()

    def dumps(self) -> list[dict | None]:
        """What each host's agent says of itself; None where it says nothing."""
        asked = [self._lab.exec(host, [str(PROGRAM), "status"], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL) for host in self._hosts]
        answers = [process.communicate()[0] for process in asked]
        return [json.loads(answer) if process.returncode == 0 else None
                for process, answer in zip(asked, answers, strict=True)]

    def wait_for_tree(self) -> None:
        """Until all have the same tree of all hosts."""
        end = time.monotonic() + _SECONDS_FOR_A_TREE
        while time.monotonic() < end:
            seen = [dump["network"] for dump in self.dumps() if dump and dump.get("network")]
            if (len(seen) == len(self._hosts) and len({each["version_hash"] for each in seen}) == 1
                    and len(seen[0]["tree"]) == len(self._hosts) - 1):
                return
            time.sleep(0.2)
        raise Failure(f"the agents have no tree of all {len(self._hosts)} hosts after"
                      f" {_SECONDS_FOR_A_TREE:g} s")


def run_study(mpi: Mpi, quick: bool = False) -> dict:
    circumstances = Circumstances(STUDY, quick, [mpi.name])
    network = six_gateways()
    window_s, jobs = (QUICK_WINDOW_S, QUICK_JOBS) if quick else (WINDOW_S, JOBS)
    with bring_up(network) as lab, steps(2 + jobs) as progress:
        progress.begin(f"agents on {network.host_count} hosts, until they have a tree")
        began_s = time.monotonic()
        with StandingAgents(lab) as agents:
            agents.wait_for_tree()
            cold_start_s = time.monotonic() - began_s
            progress.advance()
            progress.begin(f"what they cost in {window_s:g} s")
            hosts = _costs(agents, window_s)
            progress.advance()
            found = [_job(mpi, lab, progress) for _ in range(jobs)]
    return {**circumstances.to_dict(), "mpi_title": mpi.title, "window_s": window_s,
            "cold_start_s": cold_start_s, "hosts": hosts, "jobs": found}


def _costs(agents: StandingAgents, window_s: float) -> list[dict]:
    time.sleep(SETTLE_S)
    before = _statuses(agents)
    time.sleep(window_s)
    return [cost_between(*both) for both in zip(before, _statuses(agents), strict=True)]


def _statuses(agents: StandingAgents) -> list[dict]:
    dumps = agents.dumps()
    if not all(dumps):
        raise Failure("an agent has ended while it was watched")
    return [dump["status"] for dump in dumps if dump]


def cost_between(before: dict, after: dict) -> dict:
    """Of one agent, from two of its statuses."""
    seconds = after["time_s"] - before["time_s"]

    def kbit_s(*names: str) -> float:
        return sum(after["counters"][name] - before["counters"][name]
                   for name in names) * 8 / 1000 / seconds

    udp = ("udp_bytes_sent", "udp_bytes_received")
    tcp = ("tcp_bytes_sent", "tcp_bytes_received")
    return {"processor_percent": 100 * (after["processor_s"] - before["processor_s"]) / seconds,
            "resident_mib": after["resident_bytes"] / 2**20,
            "udp_kbit_s": kbit_s(*udp), "tcp_kbit_s": kbit_s(*tcp), "kbit_s": kbit_s(*udp, *tcp),
            "sent_kbit_s": kbit_s(udp[0], tcp[0])}


def _job(mpi: Mpi, lab: Lab, progress: Steps) -> dict:
    job = Contender("a job that finds them", mpi, {})
    progress.begin(job.title)
    finished = job.launch([str(mpi.program("collective")), "broadcast", "--repeat", "2"],
                          lab.network.host_count, lab=lab, timeout_s=_MOST_SECONDS_OF_A_JOB)
    if finished.returncode != 0:
        raise failure_of(finished, job.title)
    if finished.report is None or not finished.report["communicators"]:
        raise Failure(f"{job.title}: mutirao saw none of its broadcasts")
    world = finished.report["communicators"][0]
    progress.advance()
    return {"reason": world["reason"], **finished.report["start"],
            "first_ruled_call": world.get("first_ruled_call"),
            "first_ruled_ms": world.get("first_ruled_ms")}


def document(result: dict) -> Document:
    hosts, jobs = result["hosts"], result["jobs"]
    lead = (f"An agent on each of {len(hosts)} hosts in six sites measures links and keeps a spanning tree, for"
            " all jobs that come. How much of a host does it take, and how soon does a job that finds the"
            " agents begin?")
    medians = {key: statistics.median(host[key] for host in hosts) for key in COSTS}
    tiles = [(judged(medians[key] <= limit), f"{medians[key]:.2f}",
              f"{what}: the median of the hosts; at most {limit:g} wanted")
             for key, (what, limit) in COSTS.items() if limit is not None]
    tiles.append(("tile", f"{result['cold_start_s']:.1f} s", "from the agents' start to a tree of all hosts"))
    costs = Table(f"Standing agents on {len(hosts)} hosts in {result['window_s']:g} s while nothing changes; bytes with"
                  " the headers of UDP and IP, without those of TCP",
                  ("of one host's agent", "median", "most", "limit"),
                  [(what, f"{medians[key]:.2f}", f"{max(host[key] for host in hosts):.2f}",
                    "" if limit is None else f"{limit:g}") for key, (what, limit) in COSTS.items()])
    return Document("What standing agents cost, and what a job gains", lead, result, [
        Section("What an agent costs its host", [costs]),
        Section("What a job gains", [_jobs_table(result), Lines(sorted({job["reason"] for job in jobs}))])],
        tiles, [result["mpi_title"]])


def _jobs_table(result: dict) -> Table:
    jobs = result["jobs"]
    rows = [(what, *("" if job.get(key) is None else f"{job[key]:.2f}" for job in jobs)) for key, what in _START.items()]
    rows.append(("number of its call", *(
        "none" if job["first_ruled_call"] is None else str(job["first_ruled_call"] + 1) for job in jobs)))
    return Table("What jobs that find them take to start, when they wait (start=wait); without waiting: mutirao study"
                 " start", (f"jobs on {result['mpi_title']}, ms", *map(str, range(1, len(jobs) + 1))), rows)
