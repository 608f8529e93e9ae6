"""What TCP's windows leave of a long collective: a lower bound, whatever the algorithm.

Over a connection that was idle for long ten packets leave at once (RFC 6928), and in each round trip twice as many as
in the one before. No sooner have all of a site's connections to others brought what it must hear, or taken what it must
tell; processors and links are taken to be without limit.
"""

import heapq
from collections import Counter

from mutirao.lab.network import HostNetwork, host_of_each

_FIRST_WINDOW_BYTES = 10 * 1448


def windows_bound_us(network: HostNetwork, ranks: int, name: str, length_bytes: int, root: int) -> float:
    """Of a call of so many bytes as a whole, from or to the rank `root`, after a long pause; 0: nothing is known."""
    hosts = host_of_each(ranks, network.host_count)
    ranks_in = Counter(network.sites[host] for host in hosts)
    passes = hosts[root] if name in ("broadcast", "reduce") else None
    return max(_brought_us(_crossings(network, ranks_in, site, passes),
                           length_bytes * _share_that_crosses(name, ranks_in[site] / ranks,
                                                              network.sites[hosts[root]] == site))
               for site in ranks_in)


def _share_that_crosses(name: str, own: float, has_root: bool) -> float:
    """Of the whole message, what a site with a share `own` of the ranks must at least hear or tell."""
    return {"allreduce": 1.0, "broadcast": 1.0 - has_root, "reduce": 1.0 - has_root,
            "allgather": 1 - own, "reduce_scatter_block": 1 - own, "alltoall": own * (1 - own),
            "gather": 1 - own if has_root else own, "scatter": 1 - own if has_root else own}.get(name, 0.0)


def _crossings(network: HostNetwork, ranks_in: Counter[str], site: str,
               passes: int | None) -> list[tuple[float, float, float]]:
    """Of each other site: when the first windows of its connections are there, the round trip, and their bytes. What
    crosses has come to that site from the host `passes`, or goes on to it."""
    here = network.hosts_of(site)[0]
    crossings = []
    for other in ranks_in:
        if other == site:
            continue
        there = network.hosts_of(other)[0]
        trip_us = network.round_trip_us(here, there)
        passed_us = 0.0 if passes is None else network.shortest_us[passes][there]
        crossings.append((passed_us + trip_us / 2, trip_us, ranks_in[site] * ranks_in[other] * _FIRST_WINDOW_BYTES))
    return crossings


def _brought_us(crossings: list[tuple[float, float, float]], needed_bytes: float) -> float:
    heapq.heapify(crossings)
    at_us = 0.0
    while needed_bytes > 0 and crossings:
        at_us, trip_us, window_bytes = heapq.heappop(crossings)
        needed_bytes -= window_bytes
        heapq.heappush(crossings, (at_us + trip_us, trip_us, 2 * window_bytes))
    return at_us
