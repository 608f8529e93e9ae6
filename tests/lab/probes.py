"""Measures in a lab with small programs on its hosts. Kernel time stamps, so that a busy machine
disturbs little."""

import json
import subprocess
import sys
from contextlib import contextmanager

from mutirao.lab import udp_probe

MOST_MEDIANS = 10
HARDLY_LATE_MS = 20
PROBE = [sys.executable, udp_probe.__file__]

_BURST_RECEIVER = """
import socket, struct, sys
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.setsockopt(socket.SOL_SOCKET, 35, 1)
own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
own.bind(("0.0.0.0", 7078)); own.settimeout(5)
print("ready", flush=True)
numbers, stamps = [], []
try:
    while len(numbers) < int(sys.argv[1]):
        message, ancillary, _, _ = own.recvmsg(2048, 64)
        numbers.append(struct.unpack_from("!I", message)[0])
        stamps.append(struct.unpack("@qq", ancillary[0][2]))
except TimeoutError:
    pass
print(numbers, [s * 10**9 + n for s, n in stamps], flush=True)
"""

_BURST_SENDER = """
import socket, struct, sys
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[2])):
    own.sendto(struct.pack("!I", number) + bytes(1396), (sys.argv[1], 7078))
"""


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
    with running(lab, b, [*PROBE, "answer"]):
        answer = output_of(lab, a, [*PROBE, "measure", str(repetitions), address_of(lab, b)])
    value = json.loads(answer)[0]
    return None if value is None else value / 1000


def least_round_trip_ms(lab, a, b, asked_ms):
    """The least of a few medians: the first that is hardly late, since a busy machine makes some late."""
    found = []
    while len(found) < MOST_MEDIANS and (not found or found[-1] > asked_ms + HARDLY_LATE_MS):
        found.append(round_trip_ms(lab, a, b))
    return min(found)


def burst(lab, a, b, packets):
    """Numbers and arrival times (ns) of 1400-byte packets sent at once, as they arrived."""
    with running(lab, b, [sys.executable, "-c", _BURST_RECEIVER, str(packets)]) as receiver:
        output_of(lab, a, [sys.executable, "-c", _BURST_SENDER, address_of(lab, b), str(packets)])
        numbers, stamps = receiver.stdout.readline().split("] [")
    return json.loads(numbers + "]"), json.loads("[" + stamps)
