"""Measures in a lab with small programs on its hosts. Kernel time stamps, so that a busy machine
disturbs little."""

import json
import subprocess
import sys
from contextlib import contextmanager

from mutirao.lab import probe

MOST_MEDIANS = 10
HARDLY_LATE_MS = 20
PROBE = [sys.executable, probe.__file__]


@contextmanager
def running(lab, host, argv):
    """A program on a host that says `ready` first; ended at the end."""
    process = lab.exec(host, argv, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.terminate()
        process.communicate()


def output_of(lab, host, argv):
    process = lab.exec(host, argv, stdout=subprocess.PIPE, text=True)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return output


def address_of(lab, host):
    return next(known.address for known in lab.hosts if known.name == host)


def round_trip_ms(lab, a, b, repetitions=5):
    """The median; None if nothing came back."""
    value = json.loads(output_of(lab, a, [*PROBE, "measure", str(repetitions), address_of(lab, b)]))[0]
    return None if value is None else value / 1000


def least_round_trip_ms(lab, a, b, asked_ms):
    """The least of a few medians: the first that is hardly late, since a busy machine makes some late."""
    found = []
    while len(found) < MOST_MEDIANS and (not found or found[-1] > asked_ms + HARDLY_LATE_MS):
        found.append(round_trip_ms(lab, a, b))
    return min(found)
