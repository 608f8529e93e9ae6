"""Starts, finds and ends the standing agent of this host: mutirao-agent as a daemon."""

import json
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mutirao.base.errors import Failure, UsageError
from mutirao.base.paths import BUILD, state_folder
from mutirao.base.tools import built, refusal
from mutirao.base.user_files import read_text, why

PROGRAM = BUILD / "bin" / "mutirao-agent"
_SECONDS_TO_START = 30
_SECONDS_TO_STOP = 10


def status(name: str | None) -> dict[str, Any]:
    """The agent's dump; only "name" and "alive": false where none has left anything."""
    answer = subprocess.run([built(PROGRAM), "status", *([name] if name else [])], capture_output=True,
                            text=True, check=False)
    try:
        return json.loads(answer.stdout)
    except json.JSONDecodeError:
        raise refusal(PROGRAM, answer.stderr, answer.returncode) from None


def make_key(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} exists already: a key is never overwritten") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {why(error)}") from None
    with open(descriptor, "w") as file:
        file.write(secrets.token_hex(32) + "\n")


def host_names(host_file: str) -> list[str]:
    """In the order of its lines, each of which begins with one; # begins a comment."""
    lines = [line.split("#")[0].split() for line in host_file.splitlines()]
    return [line[0] for line in lines if line]


def this_host(hosts: Path) -> int:
    """The number of the only line of the host file that names this host."""
    own = [number for number, name in enumerate(host_names(read_text(hosts))) if _is_this_host(name)]
    if len(own) != 1:
        what = "no line names" if not own else f"{len(own)} lines name"
        raise UsageError(f"{hosts}: {what} this host: say which is meant with --self")
    return own[0]


def _is_this_host(name: str) -> bool:
    """One can bind to an address only on the host that has it."""
    if name == socket.gethostname():
        return True
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((name, 0))
    except OSError:
        return False
    return True


def start(words: Sequence[str], name: str | None) -> dict[str, Any]:
    """Starts a daemon that outlives this command, and returns its dump once it is at work."""
    before = status(name)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    if before["alive"]:
        raise Failure(f"an agent is running already, pid {before['pid']}")
    log = state_folder() / f"{before['name']}.log"
    with open(log, "w") as output:
        daemon = subprocess.Popen([PROGRAM, "run", *words], stdin=subprocess.DEVNULL,
                                  stdout=output, stderr=subprocess.STDOUT, cwd="/",
                                  start_new_session=True)
    end = time.monotonic() + _SECONDS_TO_START
    try:
        while time.monotonic() < end:
            if daemon.poll() is not None:
                raise refusal(PROGRAM, log.read_text(errors="replace"), daemon.returncode)
            now = status(name)
            if now["alive"] and now["pid"] == daemon.pid:
                return now
            time.sleep(0.05)
        raise Failure(f"the agent did not come up within {_SECONDS_TO_START} s: see {log}")
    except BaseException:
        # Whatever ends the wait, nobody would look for the daemon any more.
        daemon.kill()
        daemon.wait()
        raise


def stop(name: str | None) -> int:
    """Ends the agent that holds the name, and nothing else; returns its pid."""
    found = status(name)
    if not found["alive"]:
        raise Failure("no agent is running")
    pid = found["pid"]
    try:
        # From here on the number cannot come to mean another process.
        process = os.pidfd_open(pid)
    except OSError:
        raise Failure(f"process {pid} cannot be reached") from None
    try:
        again = status(name)
        if not again["alive"] or again["pid"] != pid or not _is_agent(pid):
            raise Failure(f"process {pid} is not an agent that can be stopped alone")
        try:
            signal.pidfd_send_signal(process, signal.SIGTERM)
        except ProcessLookupError:
            return pid
        except PermissionError:
            raise Failure(f"process {pid} belongs to another user") from None
    finally:
        os.close(process)
    end = time.monotonic() + _SECONDS_TO_STOP
    while status(name)["alive"]:
        if time.monotonic() > end:
            raise Failure(f"process {pid} has not ended after {_SECONDS_TO_STOP} s")
        time.sleep(0.05)
    return pid


def _is_agent(pid: int) -> bool:
    """A thread of a program that runs MPI also holds a name, and must not be ended by it."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return len(words) > 1 and Path(os.fsdecode(words[0])).name == PROGRAM.name and \
        words[1] == b"run"
