"""Runs on a host of the lab, as a program: measures round trips, or sends a train of UDP packets and measures from
their distances how fast they came through.

Standard library only and no other file of the package, since it starts once per site.
"""

import contextlib
import json
import os
import socket
import statistics
import struct
import sys
import time

TRAIN_PORT = 7078
TRAIN_PACKETS = 60
PACKET_BYTES = 1400
_WIRE_BITS = (PACKET_BYTES + 8 + 20 + 14) * 8
_SECONDS_TO_WAIT = 5.0
_ECHO_REQUEST, _ECHO_REPLY = 8, 0  # of ICMP
_IP_HEADER_BYTES = 20
_SO_TIMESTAMPNS = 35  # Linux; Python does not name it
_TIMESPEC = struct.Struct("@qq")


def round_trip_us(own: socket.socket, address: str, number: int) -> float | None:
    """Of an echo request, which the other host's kernel answers."""
    started = time.time_ns()
    # Without identifier and data the checksum is that of the type and the number.
    own.sendto(struct.pack("!BBHHH", _ECHO_REQUEST, 0, 0xffff - (_ECHO_REQUEST << 8) - number, 0, number), (address, 0))
    answered = struct.pack("!HH", 0, number)
    try:
        received, arrived = receive(own)
        while received[_IP_HEADER_BYTES] != _ECHO_REPLY or received[-len(answered):] != answered:  # to an earlier one
            received, arrived = receive(own)
    except TimeoutError:
        return None
    return (arrived - started) / 1000


def receive(own: socket.socket) -> tuple[bytes, int]:
    """With the kernel's time of arrival: how long this process then slept is not the network."""
    message, ancillary, _flags, _sender = own.recvmsg(64, socket.CMSG_SPACE(_TIMESPEC.size))
    seconds, nanoseconds = _TIMESPEC.unpack(ancillary[0][2])
    return message, seconds * 1_000_000_000 + nanoseconds


def measure(repetitions: str, *addresses: str) -> None:
    """Prints the median round trip to each address; null where nothing came back."""
    medians = []
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as own:
        own.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        own.settimeout(_SECONDS_TO_WAIT)
        for address in addresses:
            answers = [round_trip_us(own, address, number) for number in range(int(repetitions))]
            good = [value for value in answers if value is not None]
            medians.append(statistics.median(good) if good else None)
    print(json.dumps(medians))


def take_train() -> None:
    """Prints the Mbit/s of a train from its first packet to its last; null if some are missing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        own.bind(("0.0.0.0", TRAIN_PORT))
        own.settimeout(_SECONDS_TO_WAIT)
        print("ready", flush=True)
        try:
            stamps = [receive(own)[1] for _packet in range(TRAIN_PACKETS)]
        except TimeoutError:
            print("null")
            return
    print((TRAIN_PACKETS - 1) * _WIRE_BITS * 1000 / (stamps[-1] - stamps[0]))


def send_train(address: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        for _packet in range(TRAIN_PACKETS):
            own.sendto(bytes(PACKET_BYTES), (address, TRAIN_PORT))


def be_punctual() -> None:
    """What is measured is the network, not how long this process waits for a processor."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))


if __name__ == "__main__":
    be_punctual()
    {"measure": measure, "take-train": take_train, "send-train": send_train}[sys.argv[1]](
        *sys.argv[2:])
