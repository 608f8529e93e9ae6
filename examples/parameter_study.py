"""How long does a pendulum swing? Its period for 48 amplitudes, found by integrating its motion.

Rank 0 makes the set-up and the list of amplitudes. All ranks get the set-up (bcast), each gets a share of
the amplitudes (scatter), and what they found comes back to rank 0 (gather). The exact periods are known,
by the arithmetic-geometric mean, so the program checks its results and their sum.

    mutirao run -n 4 -- python parameter_study.py        # needs mpi4py
"""

import math
import sys
from dataclasses import dataclass

from mpi4py import MPI

AMPLITUDES_DEGREES = [3.0 * number for number in range(1, 49)]
TOLERANCE = 1e-6  # relative


@dataclass(frozen=True)
class Pendulum:
    length_m: float = 1.0
    gravity_m_s2: float = 9.81
    step_s: float = 1e-3


def main() -> int:
    world = MPI.COMM_WORLD
    pendulum = world.bcast(Pendulum() if world.rank == 0 else None)
    shares = shares_of(AMPLITUDES_DEGREES, world.size) if world.rank == 0 else None
    mine = world.scatter(shares)
    found = world.gather([(degrees, period(pendulum, math.radians(degrees))) for degrees in mine])
    if found is None:
        return 0
    return check(pendulum, sorted(pair for share in found for pair in share))


def shares_of(values: list[float], count: int) -> list[list[float]]:
    """In turns, since wide swings take longer."""
    return [values[number::count] for number in range(count)]


def period(pendulum: Pendulum, amplitude: float) -> float:
    """Four times from rest at the amplitude down to the lowest point, by Runge and Kutta's method."""
    angle, speed, time_s, step = amplitude, 0.0, 0.0, pendulum.step_s
    while angle > 0:
        before = time_s, angle, speed
        angle, speed = moved(pendulum, angle, speed, step)
        time_s += step
    # The last step went past that point: its part is found by Newton's method.
    time_s, angle, speed = before
    part = 0.0
    for _ in range(4):
        there, speed_there = moved(pendulum, angle, speed, part)
        part -= there / speed_there if speed_there else -step / 2
    return 4 * (time_s + part)


def moved(pendulum: Pendulum, angle: float, speed: float, step: float) -> tuple[float, float]:
    def pull(at: float) -> float:
        return -pendulum.gravity_m_s2 / pendulum.length_m * math.sin(at)

    a1, s1 = speed, pull(angle)
    a2, s2 = speed + step / 2 * s1, pull(angle + step / 2 * a1)
    a3, s3 = speed + step / 2 * s2, pull(angle + step / 2 * a2)
    a4, s4 = speed + step * s3, pull(angle + step * a3)
    return (angle + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4),
            speed + step / 6 * (s1 + 2 * s2 + 2 * s3 + s4))


def exact_period(pendulum: Pendulum, amplitude: float) -> float:
    a, b = 1.0, math.cos(amplitude / 2)
    while a - b > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return 2 * math.pi * math.sqrt(pendulum.length_m / pendulum.gravity_m_s2) / a


def check(pendulum: Pendulum, found: list[tuple[float, float]]) -> int:
    exact = {degrees: exact_period(pendulum, math.radians(degrees)) for degrees in AMPLITUDES_DEGREES}
    for degrees, period_s in found[::8]:
        print(f"{degrees:5.0f} degrees: {period_s:.6f} s")
    total_s, exact_s = sum(period_s for _, period_s in found), sum(exact.values())
    print(f"sum of {len(found)} periods: {total_s:.6f} s; exactly: {exact_s:.6f} s")
    right = len(found) == len(exact) and all(
        abs(period_s / exact[degrees] - 1) < TOLERANCE for degrees, period_s in found)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
