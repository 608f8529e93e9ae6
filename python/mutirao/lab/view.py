"""What a lab's matrices and counters look like by site, for people; and what was changed in it."""

from collections import Counter
from collections.abc import Callable

from mutirao.lab.lab import Counters, Lab
from mutirao.lab.network import HostNetwork, Matrix

Table = tuple[list[str], list[list[str]]]

# Shown unit and how many of the router's it holds.
_FIELDS = {"latency_us": ("latency in ms", 1000.0), "bandwidth_mbit": ("bandwidth in Mbit/s", 1.0),
           "loss": ("loss", 1.0), "jitter_us": ("jitter in ms", 1000.0)}


def site_matrix_table(network: HostNetwork) -> Table:
    """Round trips in ms; a range where the hosts of two sites differ."""
    def cell(pairs: list[tuple[int, int]]) -> str:
        values = sorted(network.round_trip_us(a, b) / 1000 for a, b in pairs)
        if not values:
            return "-"
        low, high = f"{values[0]:.1f}", f"{values[-1]:.1f}"
        return low if low == high else f"{low}-{high}"

    return _by_site(network, cell)


def counters_table(network: HostNetwork, counters: Counters) -> Table:
    """Packets from row to column, and how many of them were dropped."""
    def cell(pairs: list[tuple[int, int]]) -> str:
        packets = sum(counters.packets[a][b] for a, b in pairs)
        dropped = sum(counters.dropped[a][b] for a, b in pairs)
        return str(packets) if dropped == 0 else f"{packets} ({dropped} lost)"

    columns, rows = _by_site(network, cell)
    columns.append("MB sent")
    for row, site in zip(rows, network.site_names, strict=True):
        row.append(f"{sum(sum(counters.bytes[host]) for host in network.hosts_of(site)) / 1e6:.3f}")
    return columns, rows


def uplinks_line(network: HostNetwork) -> str:
    """Empty where none is limited."""
    return ", ".join(f"{site} {mbit:g}" for site, mbit in network.uplinks.items())


def _by_site(network: HostNetwork, cell: Callable[[list[tuple[int, int]]], str]) -> Table:
    sites = {site: network.hosts_of(site) for site in network.site_names}
    rows = [[name, *(cell([(a, b) for a in from_hosts for b in to_hosts if a != b])
                     for to_hosts in sites.values())]
            for name, from_hosts in sites.items()]
    return ["", *sites], rows


def changes(lab: Lab) -> list[dict]:
    """How the links differ from those asked for when the lab came up, gathered by sites."""
    network, now = lab.network, lab.settings()
    count = network.host_count
    nothing: Matrix = [[0.0] * count] * count
    before = {"latency_us": network.latency_us,
              "bandwidth_mbit": network.bandwidth_mbit or nothing}
    found: Counter = Counter()
    for field, (title, unit) in _FIELDS.items():
        asked = before.get(field, nothing)
        for a in range(count):
            for b in range(count):
                old, new = asked[a][b], now[field][a][b]
                if a != b and abs(old - new) > 1e-6:
                    found[network.sites[a], network.sites[b], title,
                          round(old / unit, 6), round(new / unit, 6)] += 1
    uplinks = [{"from": site, "to": "others", "what": "uplink in Mbit/s",
                "before": network.uplinks.get(site, 0), "now": mbit, "links": 1}
               for site, mbit in zip(network.site_names, now["uplink_mbit"], strict=True)
               if mbit != network.uplinks.get(site, 0)]
    return uplinks + [{"from": a, "to": b, "what": title, "before": old, "now": new, "links": links}
            for (a, b, title, old, new), links in found.items()]
