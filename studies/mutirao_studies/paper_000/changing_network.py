"""The six sites with the links that paper 000 changes while its program runs.

The paper draws one spanning tree (its Figure 3): the sites' first hosts joined with each other, and
each with its own site. By its Table 1 many trees are as good, since all hosts of a site are alike,
and which one is found would depend on noise. So here the first host of a site is its gateway, and
every other host a little farther from everything. Its tree is then the only one, and the links of
which the paper speaks are in it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mutirao.lab.lab import Lab
from mutirao.lab.named_networks import load_preset
from mutirao.lab.network import HostNetwork
from mutirao_studies.paper_000.paper_000 import FAILURES, RECOVERIES, Change
from mutirao_studies.paper_000.six_sites import NETWORK

# Round trips in ms.
INSIDE_MS = 1.0  # a gateway and a host of its site, as the paper's link 4-6 before it changes
BEHIND_MS = 4.0  # is added for each end of a link between sites that is not a gateway


# Measuring a link takes some round trips, and programs start slowly over links of seconds. Link 0-2
# is far worse than the ways round it before and after, and improves by 95%, with either pair of
# numbers. Link 12-16 is the worst way between its sites before, and as in the paper after.
_SLOWEST, _SLOW = RECOVERIES
CHANGES = {change.name: change for change in (
    *FAILURES, replace(_SLOWEST, before_ms=_SLOWEST.before_ms / 60, after_ms=_SLOWEST.after_ms / 60),
    replace(_SLOW, before_ms=_SLOW.before_ms / 20))}


def six_gateways() -> HostNetwork:
    """Nothing changed yet, and nothing that the paper changes later is special."""
    base = load_preset(NETWORK)
    gateways = {base.hosts_of(site)[0] for site in base.site_names}

    def round_trip_ms(a: int, b: int) -> float:
        behind = (a not in gateways) + (b not in gateways)
        if base.sites[a] == base.sites[b]:
            return INSIDE_MS * behind
        return base.round_trip_us(a, b) / 1000 + BEHIND_MS * behind

    hosts = range(base.host_count)
    latency_us = [[0.0 if a == b else round_trip_ms(a, b) * 500 for b in hosts] for a in hosts]
    return HostNetwork(base.hosts, base.sites, latency_us, None, NETWORK, base.source)


def with_links(network: HostNetwork,
               round_trips_ms: Mapping[tuple[int, int], float]) -> HostNetwork:
    """The same network with other latencies between some hosts, alike in both directions."""
    latency_us = [list(row) for row in network.latency_us]
    for (a, b), value in round_trips_ms.items():
        latency_us[a][b] = latency_us[b][a] = value * 500
    return replace(network, latency_us=latency_us)


def before(network: HostNetwork, changes: Iterable) -> HostNetwork:
    return with_links(network, {(each.low, each.high): each.before_ms for each in changes})


def after(network: HostNetwork, changes: Iterable) -> HostNetwork:
    return with_links(network, {(each.low, each.high): each.after_ms for each in changes})


def make(lab: Lab, change: Change) -> None:
    """The link is as it shall be when this returns."""
    hosts = lab.network.hosts
    lab.set_pair(hosts[change.low], hosts[change.high], latency_ms=change.after_ms / 2)
