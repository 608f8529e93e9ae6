"""Where the ranks of a job get to know each other whose launcher passes nothing on beside MPI: on the launcher's host,
which they reach anyway."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from mutirao.agent.agent import PROGRAM
from mutirao.run.processes import Starter


@contextmanager
def rendezvous(start: Starter) -> Iterator[dict[str, str]]:
    """What the launcher's environment needs for it. `start(command, **popen_arguments)` starts it on that host; where
    it cannot be, ranks meet by MPI."""
    held = start([str(PROGRAM), "rendezvous"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                 text=True)
    try:
        invitation = held.stdout.readline().strip()
        yield {"MUTIRAO_RENDEZVOUS": invitation} if invitation else {}
    finally:
        held.kill()
        held.communicate()
