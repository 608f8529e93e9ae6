"""The loops of `study loops`: some of real programs, and others that are drawn, so that nobody can build for those
that are known."""

import importlib.util
import math
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field

from mutirao.base.errors import Failure
from mutirao.base.paths import ROOT
from mutirao.base.units import size
from mutirao.lab.named_networks import load_preset
from mutirao.lab.network import HostNetwork

PYTHON_PROGRAM = ROOT / "bench" / "loop.py"
DRAWN_PER_SEED = 12
SEEDS = 3
_WORD = 8  # digits of a commit's hash
_HOSTS_PER_SITE = {2: 4, 3: 3, 4: 2}
_ROUND_TRIP_MS = (3.0, 80.0)
_LENGTH_BYTES = (8, 4_000_000)
_MOST_GAP_MS = 200
# Drawn about as often as programs call them (Laguna and others 2019, doi:10.1145/3295500.3356176).
_COLLECTIVES = {"allreduce": 6, "broadcast": 5, "reduce": 3, "allgather": 3, "alltoall": 2, "gather": 2,
                "scatter": 1, "reduce_scatter_block": 1}
_ONE_BLOCK_PER_RANK = ("allgather", "alltoall", "gather", "scatter", "reduce_scatter_block")


@dataclass(frozen=True)
class Loop:
    """What every step does, in the words of bench/loop.c."""

    name: str
    network: HostNetwork = field(compare=False)
    items: Sequence[str]
    steps: int | None = None  # None: as many as take so long natively as is asked
    in_python: bool = False

    @property
    def names(self) -> tuple[str, str]:
        """By which it is asked for: that of its kind, and its own."""
        return self.name.partition("/")[0], self.name

    @property
    def title(self) -> str:
        return f"{self.network.name}: {', '.join(map(_in_words, self.items))}"


def _in_words(item: str) -> str:
    what, _, value = item.partition(":")
    return f"{what} {value} ms" if what == "compute" else f"{what} {size(int(value))}"


SGD = ("compute:40", "allreduce:4000000", "allreduce:8")
FFT = ("compute:20", "alltoall:65536")
K_MEANS = ("compute:20", "allreduce:8192", "allreduce:512", "allreduce:8", "broadcast:8192")


def known_loops() -> list[Loop]:
    a, b = load_preset("four-sites"), load_preset("two-sites")
    can_run_python = PYTHON_PROGRAM.is_file() and all(map(importlib.util.find_spec, ("numpy", "mpi4py")))
    return [Loop("sgd/A", a, SGD, 40), Loop("sgd/B", b, SGD, 40), Loop("fft/A", a, FFT, 60),
            Loop("k-means/A", a, K_MEANS, 60), *(python_loops() if can_run_python else [])]


def python_loops() -> list[Loop]:
    """The same training loop as a program of numpy and mpi4py."""
    return [Loop(f"sgd-python/{name}", load_preset(preset), SGD, 40, in_python=True)
            for name, preset in (("A", "four-sites"), ("B", "two-sites"))]


def drawn_loops(seed: str) -> list[Loop]:
    return [_drawn(seed, number) for number in range(1, DRAWN_PER_SEED + 1)]


def seeds_of(commit_hash: str) -> list[str]:
    """Its first words."""
    return [commit_hash[number * _WORD:(number + 1) * _WORD] for number in range(SEEDS)]


def commit_hash() -> str:
    """Of the checkout that this runs from."""
    try:
        found = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True,
                               check=False)
    except OSError:
        found = None
    if found is None or found.returncode != 0:
        raise Failure("the commit's hash, which loops are drawn by, is not known here: name the seeds (--seeds)")
    return found.stdout.strip()


def _drawn(seed: str, number: int) -> Loop:
    draw = random.Random(f"{seed}/{number}")
    sites = draw.choice(list(_HOSTS_PER_SITE))
    hosts_per_site = _HOSTS_PER_SITE[sites]
    round_trip_ms = [[0.0] * sites for _ in range(sites)]
    for low in range(sites):
        for high in range(low + 1, sites):
            round_trip_ms[low][high] = round_trip_ms[high][low] = round(_between(draw, *_ROUND_TRIP_MS), 1)
    trips = [round_trip_ms[low][high] for low in range(sites) for high in range(low + 1, sites)]
    away = f"{min(trips):g} to {max(trips):g} ms" if len(trips) > 1 else f"{trips[0]:g} ms"
    network = HostNetwork.from_sites(list("ABCD"[:sites]), round_trip_ms, hosts_per_site,
                                     name=f"{sites} sites of {hosts_per_site} hosts, {away}")
    gap_ms = draw.choice([0, *[draw.randint(0, _MOST_GAP_MS) for _ in range(3)]])
    names = draw.choices(list(_COLLECTIVES), list(_COLLECTIVES.values()), k=draw.randint(1, 3))
    calls = [f"{name}:{_length(draw, name, network.host_count)}" for name in names]
    return Loop(f"{seed}/{number}", network, [*([f"compute:{gap_ms}"] if gap_ms else []), *calls])


def _length(draw: random.Random, collective: str, ranks: int) -> int:
    """Whole doubles; blocks for all ranks are as long as a message together."""
    least, most = _LENGTH_BYTES
    drawn = _between(draw, least, most / (ranks if collective in _ONE_BLOCK_PER_RANK else 1))
    return round(drawn / 8) * 8


def _between(draw: random.Random, low: float, high: float) -> float:
    """Each order of magnitude as often as another."""
    return math.exp(draw.uniform(math.log(low), math.log(high)))
