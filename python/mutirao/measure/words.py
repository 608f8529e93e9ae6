"""What people say to the commands that measure: where, and sizes, roots, ranks, algorithms."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from mutirao.base.errors import UsageError, check_range, did_you_mean
from mutirao.base.output import note
from mutirao.base.units import counted, parse_size, rank_number
from mutirao.catalogue import core_tool
from mutirao.catalogue.collectives import BROADCAST, Collective
from mutirao.catalogue.predicted import NATIVE, OWN_CHOICE
from mutirao.lab.lab import TCP_PROFILES, Lab, bring_up
from mutirao.lab.named_networks import emulated_hosts, load_network
from mutirao.lab.network import HostNetwork, host_of_each
from mutirao.measure.intervals import LEAST_SAMPLES
from mutirao.run.mpis import Mpi, default_mpi, find_mpi

DEFAULT_BYTES = "24"
REPEAT = 5
# Probes last some calls, or up to a millisecond, and what they show is announced by epochs of some 50 ms.
_SETTLE_CALLS, _SETTLE_S = 32, 5.0
_MOST_OF_SETTLING = 100_000
_MOST_REPEATED = 1_000_000


def add_place(parser) -> None:
    parser.add_argument("--lab", metavar="NETWORK",
                        help="on emulated hosts: a preset (mutirao lab presets), or a .toml or CSV file")
    parser.add_argument("--tcp", choices=TCP_PROFILES, help="the lab's TCP")
    parser.add_argument("--mpi", metavar="NAME,...", help="default: the first that is built")
    parser.add_argument("-n", "--ranks", type=rank_number, metavar="N",
                        help="default: one per processor, or one per host of the lab")


def add_settling(parser) -> None:
    """None in place of a default: not asked for."""
    when = "with --choice and --guidelines"
    parser.add_argument("--rounds", type=int, metavar="K",
                        help=f"{when}: jobs of each, in turns; from {LEAST_SAMPLES} on intervals hold with"
                        f" 95%%; default: {LEAST_SAMPLES}")
    parser.add_argument("--settle-calls", type=int, metavar="K",
                        help=f"{when}: calls of each kind, at the least, before mutirao's choice counts as"
                        f" settled; default: {_SETTLE_CALLS}")
    parser.add_argument("--settle-s", type=float, metavar="S",
                        help=f"{when}: the same in seconds; default: {_SETTLE_S:g}")


def settling_of(arguments) -> tuple[dict[str, int], int]:
    """How long the free choice has before it is measured, as fields of a workload, and in how many rounds."""
    check_counts(arguments, most=_MOST_OF_SETTLING, rounds=LEAST_SAMPLES)
    check_counts(arguments, least=0, most=_MOST_OF_SETTLING, settle_calls=_SETTLE_CALLS, settle_s=_SETTLE_S)
    return {"settle_calls": arguments.settle_calls, "settle_ms": round(arguments.settle_s * 1000)}, arguments.rounds


@dataclass(frozen=True)
class Place:
    """Where jobs run: on which MPI libraries, how many ranks, and on which lab's network, if any."""

    mpis: Sequence[Mpi]
    ranks: int
    network: HostNetwork | None
    tcp: str

    def to_dict(self) -> dict:
        lab = {} if self.network is None else {"network": self.network.name, "tcp": self.tcp}
        return {"ranks": self.ranks, **lab}

    def up(self) -> AbstractContextManager[Lab | None]:
        """The lab, for as long as it is needed; None: the hosts are real."""
        return nullcontext() if self.network is None else bring_up(self.network, self.tcp)


def place_of(arguments) -> Place:
    network = load_network(arguments.lab) if arguments.lab else None
    if arguments.tcp and network is None:
        raise UsageError("--tcp is about the lab: it needs --lab")
    mpis = [find_mpi(name) for name in arguments.mpi.split(",")] if arguments.mpi else [
        default_mpi()]
    ranks = rank_count(arguments, network)
    if network and ranks != network.host_count:
        note(f"{counted(ranks, 'rank')} on {emulated_hosts(network, ranks)}")
    return Place(mpis, ranks, network, arguments.tcp or TCP_PROFILES[0])


def check_counts(arguments, least: int = 1, most: int = _MOST_REPEATED, **defaults: float | None) -> None:
    """What was not asked for is the default from now on."""
    for name, default in defaults.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, default)
        check_range(f"--{name.replace('_', '-')}", getattr(arguments, name), least, most)


def rank_count(arguments, network: HostNetwork | None) -> int:
    return arguments.ranks or (network.host_count if network else os.cpu_count() or 1)


def lengths_of(arguments, collective: Collective, one_of_several: bool = False) -> list[int]:
    """Of several collectives, lengths are for those that have any."""
    if collective.has_length:
        return parse_sizes(DEFAULT_BYTES if arguments.bytes is None else arguments.bytes)
    if arguments.bytes is not None and not one_of_several:
        raise UsageError(f"--bytes {arguments.bytes}: a {collective.name} has no message")
    return [0]


def roots_of(arguments, collective: Collective, ranks: int, network: HostNetwork | None,
             one_of_several: bool = False) -> list[int]:
    """Of several collectives, roots are for those that have one."""
    if collective.rooted or arguments.roots in (None, "0"):
        return parse_roots(arguments.roots or "0", ranks, network)
    if not one_of_several:
        raise UsageError(f"--roots {arguments.roots}: {collective.name} has no root")
    return [0]


def parse_sizes(text: str) -> list[int]:
    """`24,64KiB,1MiB` in bytes."""
    try:
        return [parse_size(word) for word in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--bytes {error}") from None


def parse_roots(text: str, ranks: int, network: HostNetwork | None) -> list[int]:
    if text == "all":
        return list(range(ranks))
    if text == "sites":
        if network is None:
            raise UsageError("--roots sites: there are sites in a lab only (--lab)")
        hosts = host_of_each(ranks, network.host_count)
        firsts: dict[str, int] = {}
        for rank, host in enumerate(hosts):
            firsts.setdefault(network.sites[host], rank)
        return list(firsts.values())
    words = text.split(",")
    for word in words:
        if not (word.strip().isdigit() and int(word) < ranks):
            raise UsageError(f"--roots '{word}': a root is a rank, 0..{ranks - 1}, or 'sites' or 'all'"
                             f"{did_you_mean(word, ('sites', 'all'))}")
    return list(map(int, words))


def parse_only(words: Sequence[str], collective: str = BROADCAST) -> list[str]:
    """Names of contenders, each once; a comma also separates the parameters of an algorithm."""
    names: list[str] = []
    for part in ",".join(words).split(",") if words else ():
        if "=" in part and ":" not in part and names:
            names[-1] += f",{part}"
        else:
            names += [part] if part != "all" else [NATIVE, OWN_CHOICE, *(
                candidate for row in core_tool.algorithms(collective) for candidate in row["candidates"])]
    for name in names:
        if name not in (NATIVE, OWN_CHOICE):
            core_tool.check_settings({collective: name})
    return list(dict.fromkeys(names))
