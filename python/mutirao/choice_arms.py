"""What `bench --choice` runs by force: every algorithm that there is for so many ranks, in one
piece and as a pipeline of segments, but of those that do the very same on these hosts only one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from mutirao import core_tool
from mutirao.errors import Failure, UsageError
from mutirao.launch import launch, spread
from mutirao.measuring_words import Place
from mutirao.network import HostNetwork, first_hosts
from mutirao.units import counted

# A pipeline shows what it is worth from about 8 segments; a second one is four times as fine.
_SEGMENTS = (8, 32)


@dataclass(frozen=True)
class Hosts:
    """Those that the ranks are on."""

    ranks: int
    count: int
    network: HostNetwork | None = None  # None: not known

    @property
    def per_host(self) -> int:
        return -(-self.ranks // self.count)

    @property
    def even(self) -> bool:
        """As mutirao-core takes them."""
        return spread(self.ranks, self.count) == [self.per_host] * self.count


def hosts_of(place: Place, settings: Mapping[str, str]) -> Hosts:
    """As the library sees them: of real hosts, those that the launcher puts the ranks on."""
    if pretended := int(settings.get("ranks_per_host", 0)):
        return Hosts(place.ranks, -(-place.ranks // pretended))
    if place.network is not None:
        count = min(place.ranks, place.network.host_count)
        return Hosts(place.ranks, count, place.network)
    finished = launch(place.mpis[0], ["hostname"], place.ranks, native=True, capture=True,
                      timeout_s=60)
    if finished.returncode != 0 or len(finished.lines) < place.ranks:
        raise Failure(f"{counted(place.ranks, 'rank')} cannot be started: {finished.errors.strip()}")
    return Hosts(place.ranks, len(set(finished.lines)))


def arms_for(collective: str, hosts: Hosts, length_bytes: int, root: int) -> list[str]:
    """The names of candidates, as the setting of the collective takes them."""
    rows = [row for row in core_tool.algorithms(collective) if _fits(row, hosts)]
    composed = [row["name"] for row in rows if row["calls"]]
    over_tree = {name: bool(row["trees"]) for row in rows if not row["calls"]
                 for name in _names(row, hosts, length_bytes)}
    if not hosts.even:
        return [*over_tree, *composed]
    # Trees of real hosts differ, but nobody knows here how far apart those are.
    unknown = {name for name, has_tree in over_tree.items()
               if has_tree and hosts.count > 1 and hosts.network is None}
    first_of: dict[str, str] = {}
    for name, schedules in _schedules(collective, list(over_tree), hosts, length_bytes, root):
        first_of.setdefault(name if name in unknown else schedules, name)
    return [*first_of.values(), *composed]


def _fits(row: dict, hosts: Hosts) -> bool:
    """On one host there are no trees of hosts, and of what runs between hosts nothing is left but what
    goes on inside them. What is made of native calls is tried there alone."""
    if hosts.count > 1 or row["native"]:
        return not row["native"] and not row["calls"]
    return not row["trees"] and (not row["insides"] or row["name"] in row["insides"])


def _names(row: dict, hosts: Hosts, length_bytes: int) -> Iterator[str]:
    """Pipelines of the first radix and tree only."""
    trees = [f"kind={tree}" for tree in row["trees"]] if len(row["trees"]) > 1 else [""]
    radices = [f"radix={radix}" for radix in row["radices"]] or [""]
    inside = f"inside={row['name']}" if hosts.count == 1 and row["insides"] else ""
    shapes = [(tree, radix) for tree in trees for radix in radices]
    for shape in shapes:
        yield _named(row["name"], *shape, inside)
    for size in segments_for(row["segments_bytes"], length_bytes):
        yield _named(row["name"], *shapes[0], f"segment_bytes={size}", inside)


def _named(name: str, *parameters: str) -> str:
    given = ",".join(filter(None, parameters))
    return f"{name}:{given}" if given else name


def segments_for(sizes_bytes: Sequence[int], length_bytes: int) -> list[int]:
    """Of the sizes that mutirao tries, the coarsest that make pipelines of 8 and of 32 segments."""
    chosen = [next((size for size in sizes_bytes if size * count <= length_bytes), None)
              for count in _SEGMENTS]
    return list(dict.fromkeys(size for size in chosen if size))


def _schedules(collective: str, names: Sequence[str], hosts: Hosts, length_bytes: int,
               root: int) -> Iterator[tuple[str, str]]:
    """Of those that can run with so many ranks."""
    used = hosts.network and first_hosts(hosts.network, hosts.ranks, hosts.per_host)
    with core_tool.network_file(used) if used else nullcontext() as path:
        for name in names:
            words = ["show", f"{collective}/{name}", "--root", str(root), "--bytes",
                     str(length_bytes), "--ranks", str(hosts.ranks), "--ranks-per-host",
                     str(hosts.per_host), "--format", "json"]
            try:
                picture = core_tool.ask(*words, *(["--network", str(path)] if path else []))
            except (Failure, UsageError):
                continue  # not for so many ranks
            yield name, json.dumps(json.loads(picture)["schedules"])
