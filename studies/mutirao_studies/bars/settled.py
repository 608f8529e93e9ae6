"""Calls between sites once they have settled, against the physical bound; the library has 40 calls of each for that,
of long ones 20, as it comes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.lab.lab import bring_up
from mutirao.lab.named_networks import load_preset
from mutirao.measure.measure import Measurement, Workload, measure, tried_twice
from mutirao.run.mpis import Mpi
from mutirao_studies.bars.bar import Bar, Finding, at_most, on_each_mpi, set_up

SETTLE_CALLS = 40
_REPEATED = {"repeat": 5}
NETWORKS = ("six-sites", "ten-regions")
_MOST_SECONDS_OF_A_JOB = 600.0


@dataclass(frozen=True)
class Call:
    collective: str
    length_bytes: int
    limit: float  # times the bound
    roots: Sequence[int] = (0,)

    @property
    def title(self) -> str:
        return COLLECTIVES[self.collective].calls(self.length_bytes, self.roots[0])


BROADCAST_LIMIT = 1.02
SMALL = (Call("barrier", 0, 1.05), Call("allreduce", 8, 1.05), Call("allreduce", 4096, 1.10),
         Call("allgather", 1024, 1.15), Call("alltoall", 1024, 1.05), Call("reduce", 1024, 1.10, (12,)),
         Call("gather", 1024, 1.10, (12,)), Call("scatter", 1024, 1.10, (12,)))
# From rank 0, which decides for all, of a program whose ranks look for messages between calls.
DECIDERS = (Call("broadcast", 24, 1.03), Call("allreduce", 4096, 1.10))
_POLLING = {"pause_ms": 500, "poll_us": 500, "repeat": 12}
# Windows have closed in the pause. 43,690 B is a block of 1 MiB over 24 ranks.
LONG = (Call("allgather", 43_690, 1.10), Call("gather", 43_690, 1.15, (12,)), Call("scatter", 43_690, 1.15, (12,)),
        Call("reduce_scatter_block", 43_690, 1.15), Call("allreduce", 1 << 20, 2.3),
        Call("broadcast", 1 << 20, 1.5, (12,)), Call("reduce", 1 << 20, 1.5, (12,)))
_PAUSED = {"pause_ms": 1500, "poll_us": 500, "repeat": 5, "settle_calls": 20}  # natively each takes up to 24 s
_LONG_MINUTES = 26


def bars(_commit_hash: str) -> list[Bar]:
    return [*on_each_mpi("broadcast", "24 B from every site of six-sites", 6, _broadcast),
            *(bar for network in NETWORKS for bar in on_each_mpi(
                f"small-{network}", f"short collectives on {network}", 10, partial(_calls, SMALL, network))),
            *on_each_mpi("long", "long collectives on six-sites, after pauses", _LONG_MINUTES,
                         partial(_calls, LONG, "six-sites", how=_PAUSED)),
            *on_each_mpi("decider", "calls from the rank that decides, with ranks that poll", 3,
                         partial(_calls, DECIDERS, "six-sites", how=_POLLING))]


def _broadcast(mpi: Mpi) -> list[Finding]:
    network = load_preset("six-sites")
    roots = [network.hosts_of(site)[0] for site in network.site_names]
    every = Call("broadcast", 24, BROADCAST_LIMIT, roots)
    [measured] = _measured([every], network.name, mpi)
    worst = max(measured.points, key=lambda point: point.to_bound or 0)
    return [at_most(every.limit, "x bound, worst site,", worst.to_bound, where=f"rank {worst.root}")]


def _calls(calls: Sequence[Call], network_name: str, mpi: Mpi,
           how: Mapping[str, int] = _REPEATED) -> list[Finding]:
    found = []
    for call, measured in zip(calls, _measured(calls, network_name, mpi, how), strict=True):
        [point] = measured.points
        ran = measured.chosen(point.length_bytes, point.root) or ""
        found.append(at_most(call.limit, f"{call.title}, x bound,", point.to_bound, where=ran))
    return found


def _measured(calls: Sequence[Call], network_name: str, mpi: Mpi,
              how: Mapping[str, int] = _REPEATED) -> list[Measurement]:
    """Each in a job of its own: what was learned of one says nothing of another."""
    network = load_preset(network_name)
    with bring_up(network) as lab:
        return [tried_twice(lambda call=call: measure(
            set_up(mpi, call.collective),
            [Workload([call.length_bytes], call.roots, **{"settle_calls": SETTLE_CALLS, **how})],
            network.host_count, lab, timeout_s=_MOST_SECONDS_OF_A_JOB)) for call in calls]
