"""The loop of loop.c as a program in Python: numpy's arrays, mpi4py's calls on buffers.

    loop.py STEPS compute:MS|allreduce:BYTES|broadcast:BYTES ...

Results are checked in the first and the last step. Rank 0 prints the line that loop.c prints.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence

import numpy
from mpi4py import MPI

QUARTERS = 4
READY_TAG = 1
WORLD = MPI.COMM_WORLD


def compute(milliseconds: int) -> Callable[[int], None]:
    return lambda _step: time.sleep(milliseconds / 1000)


def allreduce(length_bytes: int) -> Callable[[int], None]:
    mine = numpy.full(length_bytes // 8, float(WORLD.rank))
    total = numpy.empty_like(mine)

    def call(step: int) -> None:
        total[:1] = total[-1:] = -1
        WORLD.Allreduce(mine, total)
        expect(step, total, WORLD.size * (WORLD.size - 1) / 2)

    return call


def broadcast(length_bytes: int) -> Callable[[int], None]:
    data = numpy.empty(length_bytes, numpy.uint8)

    def call(step: int) -> None:
        data[:1] = data[-1:] = step % 100 + 1 if WORLD.rank == 0 else 0
        WORLD.Bcast(data)
        expect(step, data[:1], step % 100 + 1)

    return call


ITEMS = {"compute": compute, "allreduce": allreduce, "broadcast": broadcast}


def expect(step: int, found: numpy.ndarray, value: float) -> None:
    """All of it in the first step, in the others its ends."""
    looked_at = found if step == 0 else found[[0, -1]]
    if not (looked_at == value).all():
        print(f"loop.py: wrong result in step {step}", file=sys.stderr, flush=True)
        WORLD.Abort(1)


def latest(values: Sequence[float]) -> list[float]:
    """Of all ranks, at rank 0, in the time of the longest way to it."""
    if WORLD.rank != 0:
        WORLD.send(list(values), 0, READY_TAG)
        return list(values)
    all_values = [list(values), *(WORLD.recv(source=peer, tag=READY_TAG) for peer in range(1, WORLD.size))]
    return [max(each) for each in zip(*all_values, strict=True)]


def run(steps: int, items: Sequence[Callable[[int], None]]) -> list[float]:
    """This rank's end of each quarter."""
    ends = []
    for step in range(steps):
        for item in items:
            item(step)
        while len(ends) < QUARTERS and (step + 1) * QUARTERS >= (len(ends) + 1) * steps:
            ends.append(time.monotonic())
    return ends


def main() -> None:
    steps, words = int(sys.argv[1]), (word.split(":") for word in sys.argv[2:])
    items = [ITEMS[name](int(value)) for name, value in words]
    latest([0.0])
    begin = time.monotonic()
    ends = latest(run(steps, items))
    if WORLD.rank == 0:
        quarters = [end - before for before, end in zip([begin, *ends], ends)]
        print(json.dumps({"steps": steps, "seconds": ends[-1] - begin, "quarter_seconds": quarters},
                         separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
