"""What tests of all kinds share: networks for labs, patience with a busy machine, what commands say and refuse, free
ports, how processes fare, Kruskal to compare with."""

import json
import os
import random
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest

from mutirao.lab.lab import Lab
from mutirao.lab.network import HostNetwork
from mutirao.run.mpis import found_mpis

NOT_HERE = "cannot make network namespaces"  # what a lab says where it cannot be
TRIES = 4
# Below what Linux gives outgoing connections, of which tests beside this one make many.
_PORTS = range(20_000, 32_000)


def network_of(one_way_ms):
    """Hosts h0, h1 and so on, each a site of its own."""
    hosts = [f"h{host}" for host in range(len(one_way_ms))]
    one_way_us = [[value * 1000.0 for value in row] for row in one_way_ms]
    return HostNetwork(hosts, hosts, one_way_us, None, "test", "made up")


each_mpi = pytest.mark.parametrize("mpi", found_mpis(), ids=lambda mpi: mpi.name)


def lab_of(network):
    """A fixture: a lab of that network for a whole module."""
    @pytest.fixture(scope="module")
    def lab(lab_possible):
        with Lab.up(network) as running:
            yield running

    return lab


def quick_mpi():
    """For tests of other things than MPI libraries: MPICH's launcher takes a second less than Open MPI's."""
    if not found_mpis():
        pytest.skip("no MPI library", allow_module_level=True)
    return min(found_mpis(), key=lambda mpi: mpi.known.title != "MPICH")


def built_mpi(name):
    mpi = next((each for each in found_mpis() if each.name == name), None)
    if mpi is None or not mpi.built:
        pytest.skip(f"{name} is not built: make build")
    return mpi


def in_time(trial):
    """`trial()` returns what was late, if anything: falsy ends it well. A busy machine may make things late, never
    early. So a test asserts in every trial what no noise can break, and of what may be late that it is in time in one
    trial of a few."""
    late = [trial()]
    while late[-1] and len(late) < TRIES:
        late.append(trial())
    assert not late[-1], f"late in each of {TRIES} trials: {late}"


def text_of(answer):
    """What a command said that ended well."""
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def json_of(answer):
    return json.loads(text_of(answer))


def refused(answer, *named, code=2):
    """In one line, which names what is wrong."""
    assert (answer.returncode, answer.stdout, answer.stderr.count("\n")) == (code, "", 1), answer.stderr
    for text in named:
        assert str(text) in answer.stderr


def free_ports(count):
    """That are free now, of addresses of this machine."""
    found = []
    for port in random.sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            break
    return found


def wait_until(condition, seconds=60):
    """Returns what the condition came to. How long that takes is not what tests are about."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "took too long"
        time.sleep(0.05)
    return value


def processes_with(token, where="cmdline"):
    """Ids of the processes that have the token among their arguments, or in their environment."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it has ended
            if token.encode() in Path("/proc", entry, where).read_bytes():
                found.append(int(entry))
    return found


ENDED = ("Z", None)


def state_of(pid):
    """One letter, as the kernel says it; None: it is no more."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None


def kruskal(weights):
    """The minimum spanning tree of a matrix, as links (low, high) in their order."""
    hosts = range(len(weights))
    part = list(hosts)
    chosen = []
    for _, low, high in sorted((weights[a][b], a, b) for a in hosts for b in hosts if a < b):
        if part[low] != part[high]:
            chosen.append((low, high))
            part = [part[low] if its == part[high] else its for its in part]
    return sorted(chosen)
