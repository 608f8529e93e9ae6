"""Hosts in sites and what lies between them: the matrices that the lab plays and others predict on.

A host network is read from a preset or from a CSV file of round trips, either between sites (each
expanded to some hosts) or between single hosts. It also knows the physical bound: no broadcast can
end before the shortest path to the farthest host has been travelled.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from mutirao.base.errors import UsageError
from mutirao.base.user_files import read_text

Matrix = list[list[float]]

# The lab's address plan and host names hold this many.
MOST_HOSTS = 1000


@dataclass
class HostNetwork:
    """Hosts, the site of each, and one-way figures from row host to column host."""

    hosts: list[str]
    sites: list[str]  # the site of each host
    latency_us: Matrix  # one way
    bandwidth_mbit: Matrix | None = None  # 0: unlimited; None: unlimited everywhere
    name: str = ""
    source: str = ""  # where the numbers come from
    uplink_mbit: list[float] | None = None  # of each site, shared by its hosts; 0 and None as above

    @property
    def host_count(self) -> int:
        return len(self.hosts)

    @property
    def site_names(self) -> list[str]:
        """Each site once, in the order of its first host."""
        return list(dict.fromkeys(self.sites))

    def hosts_of(self, site: str) -> list[int]:
        """The numbers of a site's hosts."""
        return [host for host, its_site in enumerate(self.sites) if its_site == site]

    def round_trip_us(self, a: int, b: int) -> float:
        return self.latency_us[a][b] + self.latency_us[b][a]

    @property
    def uplinks(self) -> dict[str, float]:
        """In Mbit/s, of the sites whose uplink is limited."""
        return {site: mbit for site, mbit in zip(self.site_names, self.uplink_mbit or (),
                                                 strict=False) if mbit > 0}

    def most_mbit(self, a: int, b: int) -> float:
        """From one host to another while no other sends: of the link and of the uplinks between
        their sites the least. 0: unlimited."""
        limits = [self.bandwidth_mbit[a][b]] if self.bandwidth_mbit else []
        if self.uplink_mbit and self.sites[a] != self.sites[b]:
            limits += [self.uplinks.get(self.sites[host], 0) for host in (a, b)]
        return min((limit for limit in limits if limit > 0), default=0.0)

    @cached_property
    def shortest_us(self) -> Matrix:
        """One-way latency along the shortest path, through other hosts where that is faster."""
        count = self.host_count
        shortest = [list(row) for row in self.latency_us]
        for host in range(count):
            shortest[host][host] = 0.0
        for via in range(count):
            onward = shortest[via]
            for row in shortest:
                first = row[via]
                for target in range(count):
                    if first + onward[target] < row[target]:
                        row[target] = first + onward[target]
        return shortest

    def bound_from(self, root: int) -> float:
        """Microseconds before which no broadcast from `root` can reach every host."""
        return max(self.shortest_us[root])

    @cached_property
    def diameter(self) -> float:
        """Microseconds before which not every host can have heard of every other."""
        return max(max(row) for row in self.shortest_us)

    @classmethod
    def from_sites(cls, site_names: list[str], round_trip_ms: Matrix, hosts_per_site: int = 1,
                   bandwidth_mbit: Matrix | None = None, name: str = "", source: str = "",
                   uplink_mbit: list[float] | None = None) -> "HostNetwork":
        """Expands a matrix of sites; its diagonal is the round trip inside a site.

        One way is half of the round trip of the row's site to the column's: where the two
        directions were measured differently, each keeps its own.
        """
        count = len(site_names) * hosts_per_site
        if hosts_per_site < 1:
            raise UsageError(f"hosts per site must be at least 1, not {hosts_per_site}")
        if count > MOST_HOSTS:
            raise UsageError(f"{len(site_names)} sites of {hosts_per_site} hosts are {count} hosts; the lab holds up to"
                             f" {MOST_HOSTS}")
        site_of = [site for site in range(len(site_names)) for _ in range(hosts_per_site)]
        width = max(2, len(str(len(site_of) - 1)))
        hosts = [f"h{number:0{width}d}" for number in range(len(site_of))]

        def expand(sites: Matrix, factor: float) -> Matrix:
            return [[0.0 if a == b else sites[site_a][site_b] * factor
                     for b, site_b in enumerate(site_of)] for a, site_a in enumerate(site_of)]

        return cls(hosts, [site_names[site] for site in site_of], expand(round_trip_ms, 500.0),
                   None if bandwidth_mbit is None else expand(bandwidth_mbit, 1.0), name, source,
                   uplink_mbit)


def read_csv(path: str | Path, hosts_per_site: int = 1) -> HostNetwork:
    """Reads a square matrix of round trips in ms: rows to columns, `#` starts a comment.

    A first row and a first column of names are optional. Each row stands for a site of
    `hosts_per_site` hosts.
    """
    path = Path(path)
    names, matrix = _parse_csv(read_text(path), str(path))
    return HostNetwork.from_sites(names, matrix, hosts_per_site, name=path.stem, source=str(path))


MOST_ROUND_TRIP_MS = 120_000  # the lab's router takes a minute each way


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None


def _parse_csv(text: str, file: str) -> tuple[list[str], Matrix]:
    contents = ((number, line.split("#", 1)[0].strip()) for number, line in enumerate(text.splitlines(), start=1))
    rows = [(f"{file}, line {number}", [field.strip() for field in content.split(",")])
            for number, content in contents if content]
    named = bool(rows) and len(rows[0][1]) > 1 and all(field and _number(field) is None for field in rows[0][1][1:])
    header = rows.pop(0)[1] if named and _number(rows[0][1][0]) is None else None
    if not rows:
        raise UsageError(f"{file}: no matrix in it")
    rows_are_named = all(_number(fields[0]) is None for _, fields in rows)
    row_names = [fields.pop(0) for _, fields in rows] if rows_are_named else []
    matrix = [_parse_row(fields, len(rows), line, 2 if rows_are_named else 1) for line, fields in rows]
    names = header or row_names or [f"S{site}" for site in range(len(rows))]
    return _checked_names(names[1:] if len(names) == len(rows) + 1 else names, row_names, len(rows), file), matrix


def _parse_row(fields: list[str], wanted: int, line: str, first: int) -> list[float]:
    if len(fields) != wanted:
        raise UsageError(f"{line}, column {first + min(len(fields), wanted)}: the matrix must be square ({len(fields)}"
                         f" values, {wanted} rows)")
    values = [_number(field) for field in fields]
    for column, (field, value) in enumerate(zip(fields, values, strict=True), start=first):
        if value is None or not 0 <= value <= MOST_ROUND_TRIP_MS:
            raise UsageError(f"{line}, column {column}: '{field}' is no round trip, a number of ms from 0 to"
                             f" {MOST_ROUND_TRIP_MS}")
    return values


def _checked_names(names: list[str], row_names: list[str], count: int, file: str) -> list[str]:
    if len(names) != count:
        raise UsageError(f"{file}: the matrix must be square ({len(names)} names, {count} rows)")
    if row_names and names != row_names:
        raise UsageError(f"{file}: rows are named {', '.join(row_names)}, columns {', '.join(names)}")
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"{file}: two sites are named '{twice[0]}'")
    return names


def first_hosts(network: HostNetwork, ranks: int | None, per_host: int) -> HostNetwork:
    """The network of as many of its first hosts as the ranks need."""
    if per_host < 1:
        raise UsageError(f"--ranks-per-host {per_host}: it must be at least 1")
    if ranks is None:
        return network
    most = network.host_count * per_host
    if not 1 <= ranks <= most:
        raise UsageError(f"--ranks {ranks}: {network.name} has hosts for 1..{most}")
    hosts = -(-ranks // per_host)

    def cut(matrix):
        return matrix and [row[:hosts] for row in matrix[:hosts]]

    return replace(network, hosts=network.hosts[:hosts], sites=network.sites[:hosts],
                   latency_us=cut(network.latency_us), bandwidth_mbit=cut(network.bandwidth_mbit))


def spread(ranks: int, hosts: int) -> list[int]:
    """Ranks per host, in blocks: as even as can be, the first hosts getting one more."""
    hosts = min(ranks, hosts)
    each, more = divmod(ranks, hosts)
    return [each + (host < more) for host in range(hosts)]


def host_of_each(ranks: int, hosts: int) -> list[int]:
    """The host of each rank, so spread."""
    return [host for host, count in enumerate(spread(ranks, hosts)) for _ in range(count)]
