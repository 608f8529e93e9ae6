"""The agent that `mutirao top` looks at, on this host or on a host of a lab that is up; and what it knows, as
`mutirao-agent status NAME` tells it."""

import json
import math
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutirao.agent.agent import PROGRAM, host_names
from mutirao.base.errors import Failure, UsageError
from mutirao.base.tools import ask, built
from mutirao.lab.control import lab_names
from mutirao.lab.lab import Lab

Link = tuple[int, int]  # the lower host first


@dataclass(frozen=True)
class Forecast:
    value: float
    error: float
    forecaster: str


@dataclass(frozen=True)
class OwnLink:
    """One that this agent measures, or the channel over it."""

    channel_up: bool
    latency: Forecast | None
    recent_us: Sequence[float]


@dataclass(frozen=True)
class AgentView:
    segment: str
    self_host: int
    host_count: int
    gone: bool
    latency_us: Sequence[Sequence[float]]  # infinite: unusable
    tree: Sequence[Link]
    version: int
    time_s: float
    started_s: float
    processor_s: float
    resident_bytes: int
    series_stopped: str
    links: Mapping[int, OwnLink]  # by the other host
    events: Sequence[tuple[float, str]]  # newest last
    sensors: Sequence[tuple[str, float]]
    counters: Mapping[str, int]
    names: Sequence[str]  # of the hosts; empty: they are not known

    def name(self, host: int) -> str:
        return self.names[host] if self.names else str(host)

    def link_us(self, link: Link) -> float:
        return self.latency_us[link[0]][link[1]]

    def own(self, link: Link) -> OwnLink | None:
        if self.self_host not in link:
            return None
        return self.links.get(link[0] if link[1] == self.self_host else link[1])

    def all_links(self) -> list[Link]:
        return [(low, high) for low in range(self.host_count)
                for high in range(low + 1, self.host_count)]

    def counted(self, *prefixes: str) -> int:
        """The sum of all counters whose names begin so."""
        return sum(count for name, count in self.counters.items() if name.startswith(prefixes))


def read_view(dump: Mapping[str, Any], names: Sequence[str] = ()) -> AgentView:
    try:
        network, status = dump["network"], dump["status"] or _NOTHING_YET
        if network is None:
            raise Failure(f"{dump['name']}: its agent has ended while it wrote")
        return AgentView(
            dump["name"], dump["self"], dump["host_count"], not dump["alive"],
            [[_number(value) for value in row] for row in network["latency_us"]],
            sorted((min(edge), max(edge)) for edge in network["tree"]), network["version"],
            status["time_s"], status["started_s"], status["processor_s"],
            status["resident_bytes"], status["series_stopped"],
            {link["host"]: OwnLink(link["channel_up"], _forecast(link["latency_us"]),
                                   tuple(map(_number, link["recent_us"]))) for link in status["links"]},
            [(event["time_s"], event["text"]) for event in status["events"]],
            [(each["name"], each["value"]) for each in status["sensors"]], status["counters"],
            names if len(names) == dump["host_count"] else ())
    except (KeyError, TypeError, ValueError) as error:
        raise Failure(f"that is not what an agent of this version tells"
                      f" ({type(error).__name__}: {error})") from None


# Before its first second is over an agent has told nothing of itself.
_NOTHING_YET = {"time_s": 0.0, "started_s": 0.0, "processor_s": 0.0, "resident_bytes": 0,
                "series_stopped": "", "links": (), "events": (), "sensors": (), "counters": {}}


def _number(value: float | None) -> float:
    """JSON knows no infinity."""
    return math.inf if value is None else float(value)


def _forecast(values: Mapping[str, Any] | None) -> Forecast | None:
    return values and Forecast(values["value"], values["error"], values["forecaster"])


_SECONDS_TO_ANSWER = 10


@dataclass(frozen=True)
class _Host:
    """One that agents may run on: of a lab, or this one."""

    lab: Lab | None = None
    name: str = ""

    def ask(self, *words: str) -> Any:
        command = [str(built(PROGRAM)), *words]
        environment = dict(os.environ)
        if self.lab:
            command, environment = self.lab.command(self.name, command), environment | self.lab.environment()
        try:
            return json.loads(ask(PROGRAM, command, env=environment, timeout=_SECONDS_TO_ANSWER))
        except subprocess.TimeoutExpired:
            raise Failure("the agent's memory cannot be read") from None

    def agents(self) -> list[str]:
        return [each["name"] for each in self.ask("list") if each["alive"]]


@dataclass(frozen=True)
class SeenAgent:
    name: str
    host: _Host

    def dump(self) -> dict:
        return self.host.ask("status", self.name)

    def view(self) -> AgentView:
        dump = self.dump()
        names = _names_in_host_file(dump.get("pid", 0))
        if not names and self.host.lab:  # the ranks of a job are placed on its hosts in their order
            names = self.host.lab.network.hosts[:dump.get("host_count", 0)]
        return read_view(dump, names)


def find_agent(name: str | None) -> SeenAgent:
    """The named one, or the only one here; where none is here, the first one of a lab."""
    here = _Host()
    names = here.agents()
    if name in names or (name is None and len(names) == 1):
        return SeenAgent(name or names[0], here)
    if name is None and names:
        raise UsageError(f"several agents, name one: {', '.join(names)}")
    for host in _lab_hosts():
        for found in host.agents():
            if name in (None, found):
                return SeenAgent(found, host)
    if name is None:
        raise Failure("no agent runs on this host, nor in a lab: start a program with mutirao, or mutirao agent start")
    return SeenAgent(name, here)  # whose agent says why it cannot be asked


def _lab_hosts() -> Iterator[_Host]:
    for name in lab_names():
        lab = Lab.attach(name)
        yield from (_Host(lab, host.name) for host in lab.hosts)


def _names_in_host_file(pid: int) -> list[str]:
    """Of a standing agent, if they differ; a job's agents know addresses only."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        names = host_names(Path(words[words.index("--hosts") + 1]).read_text(encoding="utf-8"))
    except (OSError, ValueError, IndexError):
        return []
    return names if len(set(names)) == len(names) else []
