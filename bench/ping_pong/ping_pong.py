"""The round trips of ping_pong.c (which describes them) through mpi4py: --way buffer hands over the
memory of a bytearray, --way pickled the object itself."""

import argparse
import sys
import time

from mpi4py import MPI

COMM = MPI.COMM_WORLD
PEER = 1 - COMM.rank


class Buffer:
    def __init__(self, length: int):
        self.data = bytearray(length)

    def send(self) -> None:
        COMM.Send([self.data, MPI.BYTE], PEER)

    def receive(self) -> None:
        COMM.Recv([self.data, MPI.BYTE], PEER)


class Pickled(Buffer):
    def send(self) -> None:
        COMM.send(self.data, PEER)

    def receive(self) -> None:
        self.data = COMM.recv(source=PEER)


def timed_trip(message: Buffer, trip: int) -> int:
    message.data[0] = message.data[-1] = 2 * trip % 256
    begin = time.perf_counter_ns()
    message.send()
    message.receive()
    took = time.perf_counter_ns() - begin
    answer = (2 * trip + 1) % 256
    if not message.data[0] == message.data[-1] == answer:
        print(f"ping_pong: wrong bytes came back ({len(message.data)} bytes)", file=sys.stderr)
        COMM.Abort(1)
    return took


def ping(message: Buffer, trips: int) -> None:
    times = [timed_trip(message, trip) for trip in range(trips)]
    print("ping-pong", len(message.data), *times, flush=True)


def pong(message: Buffer, trips: int) -> None:
    for _ in range(trips):
        message.receive()
        data = message.data
        data[0] = (data[0] + 1) % 256
        if len(data) > 1:
            data[-1] = (data[-1] + 1) % 256
        message.send()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", required=True)
    parser.add_argument("--trips", type=int, required=True)
    parser.add_argument("--way", choices=("buffer", "pickled"), required=True)
    arguments = parser.parse_args()
    make = {"buffer": Buffer, "pickled": Pickled}[arguments.way]
    for length in map(int, arguments.sizes.split(",")):
        (ping if COMM.rank == 0 else pong)(make(length), arguments.trips)


main()
