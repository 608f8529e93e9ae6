"""The agent that `mutirao top` looks at: on this host, or on a host of a lab that is up."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutirao.errors import Failure, UsageError
from mutirao.lab import Lab
from mutirao.lab_control import lab_names
from mutirao.paths import BUILD
from mutirao.top_view import AgentView, read_view

_AGENT = BUILD / "bin" / "mutirao-agent"
_SECONDS_TO_ANSWER = 10


@dataclass(frozen=True)
class _Host:
    """One that agents may run on: of a lab, or this one."""

    lab: Lab | None = None
    name: str = ""

    def ask(self, *words: str) -> Any:
        if not _AGENT.is_file():
            raise Failure("mutirao's agent is not built: run make build")
        command = [str(_AGENT), *words, "--json"]
        if self.lab:
            command = self.lab.command(self.name, command)
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS_TO_ANSWER, check=False,
                                    env={**os.environ, **(self.lab.environment() if self.lab else {})})
        except subprocess.TimeoutExpired:
            raise Failure("the agent's memory cannot be read") from None
        if answer.returncode != 0:
            line = answer.stderr.strip().removeprefix("mutirao-agent: ")
            error = UsageError if answer.returncode == 2 else Failure
            raise error(line or f"mutirao-agent ended with exit code {answer.returncode}")
        return json.loads(answer.stdout)

    def agents(self) -> list[str]:
        return [each["name"] for each in self.ask("list") if each["alive"]]


@dataclass(frozen=True)
class SeenAgent:
    name: str
    host: _Host

    def dump(self) -> dict:
        return self.host.ask("dump", self.name)

    def view(self) -> AgentView:
        dump = self.dump()
        return read_view(dump, _names_in_host_file(dump.get("pid", 0)) or self._names_in_lab(dump))

    def _names_in_lab(self, dump: dict) -> Sequence[str]:
        """The ranks of a job are placed on a lab's hosts in their order."""
        return self.host.lab.network.hosts[:dump.get("host_count", 0)] if self.host.lab else ()


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
        lines = Path(words[words.index("--hosts") + 1]).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError, IndexError):
        return []
    names = [line.split()[0] for line in (line.split("#")[0] for line in lines) if line.strip()]
    return names if len(set(names)) == len(names) else []
