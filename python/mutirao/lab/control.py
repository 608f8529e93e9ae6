"""The wire to a lab's router: where its control socket lies and how to ask it something.

One line asks, one line answers: `ok`, `ok VALUE` or `error REASON`. Anything that can write a line
to a UNIX socket can steer a lab, also from inside its hosts.
"""

import os
import re
import socket
import stat
from pathlib import Path

from mutirao.base.errors import Failure, UsageError

_SECONDS_TO_ANSWER = 30


def control_folder() -> Path:
    """Made on first use, for this user alone."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    # After `su` it may still be another user's.
    ours = os.path.isabs(runtime) and os.path.isdir(runtime) and os.access(runtime, os.W_OK | os.X_OK)
    base = Path(runtime) if ours else Path("/tmp")
    folder = base / ("mutirao" if base != Path("/tmp") else f"mutirao-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise Failure(f"{folder} belongs to somebody else: remove it or set XDG_RUNTIME_DIR")
    folder.chmod(0o700)
    return folder


def control_path_of(name: str) -> Path:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", name):
        raise UsageError(f"'{name}' cannot name a lab: letters, digits and . _ - only, up to 40")
    return control_folder() / f"{name}.sock"


def lab_names() -> list[str]:
    """The labs that answer."""
    return [path.stem for path in sorted(control_folder().glob("*.sock")) if router_answers(path)]


def router_answers(path: Path) -> bool:
    """One that is too busy counts; what a killed one left is removed."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
        except OSError:
            pass  # not there, or too busy
    return path.exists()


class Connection:
    """A conversation with one router."""

    def __init__(self, path: Path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_SECONDS_TO_ANSWER)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise Failure(f"the lab at {path} does not answer: {error.strerror}") from None
        self._answers = self._socket.makefile("rb")

    def close(self) -> None:
        self._answers.close()
        self._socket.close()

    def ask(self, line: str) -> str:
        """The answer's value; Failure with the router's reason if it refuses or is gone."""
        try:
            self._socket.sendall(line.encode() + b"\n")
            answer = self._answers.readline()
        except OSError as error:
            raise Failure(f"the lab's router does not answer: {error}") from None
        if not answer.endswith(b"\n"):
            raise Failure("the lab's router has ended")
        word, _, value = answer.decode().rstrip("\n").partition(" ")
        if word != "ok":
            raise Failure(value or f"the lab's router answered '{word}'")
        return value
