"""The agent that `mutirao top` looks at, on this host or on a host of a lab that is up; and what it knows, as
`mutirao-agent status NAME` tells it."""

import json
import math
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from mutirao.agent.agent import PROGRAM, host_names
from mutirao.base.errors import Failure, UsageError
from mutirao.base.tools import ask, built
from mutirao.lab.control import lab_names
from mutirao.lab.lab import Lab

Link = tuple[int, int]  # the lower host first
Dump = Mapping[str, Any]

# Before its first second is over an agent has told nothing of itself.
_NOTHING_YET = {"time_s": 0.0, "started_s": 0.0, "processor_s": 0.0, "resident_bytes": 0,
                "series_stopped": "", "links": (), "events": (), "counters": {}}
_SECONDS_TO_ANSWER = 10


class View:
    def __init__(self, dump: Dump):
        self.dump = dump
        self.network, self.status = dump["network"], dump["status"] or _NOTHING_YET
        if self.network is None:
            raise Failure(f"{dump['name']}: its agent has ended while it wrote")
        self.host_count: int = dump["host_count"]
        self.tree: list[Link] = sorted((min(edge), max(edge)) for edge in self.network["tree"])
        self._names: Sequence[str] = dump.get("names") or ()

    def name(self, host: int) -> str:
        return self._names[host] if len(self._names) == self.host_count else str(host)

    def link_us(self, link: Link) -> float:
        """Infinite: unusable."""
        latency_us = self.network["latency_us"][link[0]][link[1]]
        return math.inf if latency_us is None else latency_us

    def own(self, link: Link) -> Dump | None:
        """What this agent has measured of it, if it is one of its own."""
        own = self.dump["self"]
        return next((each for each in self.status["links"] if tuple(sorted((own, each["host"]))) == link), None)

    def links_within_reach(self) -> list[Link]:
        """A host that nobody reaches is named once, not by each of its links."""
        inside = sorted({host for link in self.tree for host in link})
        return list(combinations(inside or range(self.host_count), 2))

    def counted(self, *prefixes: str) -> int:
        """The sum of all counters whose names begin so."""
        return sum(count for name, count in self.status["counters"].items() if name.startswith(prefixes))


def find_agent(name: str | None) -> Callable[[], Dump]:
    """What the named agent tells, or the only one here; where none is here, the first one of a lab."""
    names = _agents(None, "")
    if name in names or (name is None and len(names) == 1):
        return lambda: _dump(name or names[0])
    if name is None and names:
        raise UsageError(f"several agents, name one: {', '.join(names)}")
    for lab in map(Lab.attach, lab_names()):
        for host in lab.hosts:
            for found in _agents(lab, host.name):
                if name in (None, found):
                    return lambda: _dump(found, lab, host.name)
    if name is None:
        raise Failure("no agent runs on this host, nor in a lab: start a program with mutirao, or mutirao agent start")
    return lambda: _dump(name)  # which says why it cannot be asked


def _ask(lab: Lab | None, host: str, *words: str) -> Any:
    """On a host of a lab, or on this one."""
    command = [str(built(PROGRAM)), *words]
    environment = dict(os.environ)
    if lab:
        command, environment = lab.command(host, command), environment | lab.environment()
    try:
        return json.loads(ask(PROGRAM, command, env=environment, timeout=_SECONDS_TO_ANSWER))
    except subprocess.TimeoutExpired:
        raise Failure("the agent's memory cannot be read") from None


def _agents(lab: Lab | None, host: str) -> list[str]:
    return [each["name"] for each in _ask(lab, host, "list") if each["alive"]]


def _dump(name: str, lab: Lab | None = None, host: str = "") -> Dump:
    """With the names of hosts where they are known."""
    dump = _ask(lab, host, "status", name)
    names = _names_in_host_file(dump.get("pid", 0))
    if not names and lab:  # the ranks of a job are placed on its hosts in their order
        names = lab.network.hosts[:dump.get("host_count", 0)]
    return {**dump, "names": names}


def _names_in_host_file(pid: int) -> list[str]:
    """Of a standing agent, if they differ; a job's agents know addresses only."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        names = host_names(Path(words[words.index("--hosts") + 1]).read_text(encoding="utf-8"))
    except (OSError, ValueError, IndexError):
        return []
    return names if len(set(names)) == len(names) else []
