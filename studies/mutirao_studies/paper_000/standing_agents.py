"""Standing agents on all hosts of a lab, as a cluster's administrator would have them."""

import json
import secrets
import subprocess
import tempfile
import time
from pathlib import Path

from mutirao.agent.agent import PROGRAM
from mutirao.base.errors import Failure
from mutirao.base.tools import built
from mutirao.lab.lab import Lab

_SECONDS_TO_END = 10


class StandingAgents:
    """They run until end(), or the end of the lab."""

    def __init__(self, lab: Lab):
        built(PROGRAM)
        self._lab, self._hosts = lab, lab.network.hosts
        self._folder = tempfile.TemporaryDirectory(prefix="mutirao-")
        hosts, key = Path(self._folder.name) / "hosts", Path(self._folder.name) / "key"
        hosts.write_text("".join(f"{host}\n" for host in self._hosts))
        key.touch(mode=0o600)
        key.write_text(secrets.token_hex(32) + "\n")
        self._processes = [
            lab.exec(host, [str(PROGRAM), "run", "--hosts", str(hosts), "--self", str(number),
                            "--key", str(key)],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for number, host in enumerate(self._hosts)]

    def __enter__(self) -> "StandingAgents":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.end()

    def end(self) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait(_SECONDS_TO_END)
        self._folder.cleanup()

    def dumps(self) -> list[dict | None]:
        """What each host's agent says of itself; None where it says nothing."""
        asked = [self._lab.exec(host, [str(PROGRAM), "dump"], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL) for host in self._hosts]
        answers = [process.communicate()[0] for process in asked]
        return [json.loads(answer) if process.returncode == 0 else None
                for process, answer in zip(asked, answers, strict=True)]

    def wait_for_tree(self, seconds: float = 60) -> list[dict]:
        """Until all have the same tree of all hosts: everybody's last complete version."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            versions = [dump["complete"] for dump in self.dumps() if dump and dump.get("complete")]
            if (len(versions) == len(self._hosts) and len({each["hash"] for each in versions}) == 1
                    and len(versions[0]["tree"]) == len(self._hosts) - 1):
                return versions
            time.sleep(0.2)
        raise Failure(f"the agents have no tree of all {len(self._hosts)} hosts after"
                      f" {seconds:g} s")
