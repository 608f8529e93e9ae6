"""What the command line must know of each collective. The library's own table is that of
src/core/collectives/collective.h; a test compares the two.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from mutirao.base.units import size
from mutirao.lab.network import HostNetwork

BROADCAST = "broadcast"
_BARRIER = "barrier"
Pairs = Iterable[tuple[int, int]]


def _from_root(hosts: Sequence[int], root: int) -> Pairs:
    return ((hosts[root], host) for host in hosts)


def _to_root(hosts: Sequence[int], root: int) -> Pairs:
    return ((host, hosts[root]) for host in hosts)


def _everywhere(hosts: Sequence[int], _root: int) -> Pairs:
    return permutations(set(hosts), 2)


def _onward(hosts: Sequence[int], _root: int) -> Pairs:
    """From every rank to those after it."""
    return combinations(hosts, 2)


@dataclass(frozen=True)
class Collective:
    name: str
    ways: Callable[[Sequence[int], int], Pairs]  # that data go; of the hosts of ranks 0, 1, ... and the root's rank
    rooted: bool = False
    in_blocks: bool = False  # a length is that of a block, of which there is one for every rank

    @property
    def has_length(self) -> bool:
        return self.name != _BARRIER

    def empty(self, length_bytes: int) -> bool:
        """Nothing is to be done but to return."""
        return self.has_length and length_bytes == 0

    def bound_us(self, network: HostNetwork, hosts: Sequence[int], root: int,
                 length_bytes: int) -> float:
        """Before this no such call can be complete that all ranks enter at once."""
        ways = () if self.empty(length_bytes) else self.ways(hosts, root)
        return max((network.shortest_us[a][b] for a, b in ways), default=0.0)

    def whose(self, root: int) -> str:
        """' from rank 3'; a negative root is any."""
        if not self.rooted:
            return ""
        way = "to" if self.ways is _to_root else "from"
        return f" {way} {'any rank' if root < 0 else f'rank {root}'}"

    def calls(self, length_bytes: int | None, root: int, count: int = 1) -> str:
        """'broadcast of 24 B from rank 3', '3 barriers', 'gather of 24 B a rank to any rank'. None: whatever each rank
        has."""
        what = self.name if count == 1 else f"{count} {self.name}s"
        if not self.has_length:
            return what
        length = "any length" if length_bytes is None else size(length_bytes)
        return f"{what} of {length}{' a rank' if self.in_blocks else ''}{self.whose(root)}"


COLLECTIVES = {row.name: row for row in (
    Collective(_BARRIER, _everywhere),
    Collective(BROADCAST, _from_root, rooted=True),
    Collective("gather", _to_root, rooted=True, in_blocks=True),
    Collective("scatter", _from_root, rooted=True, in_blocks=True),
    Collective("allgather", _everywhere, in_blocks=True),
    Collective("alltoall", _everywhere, in_blocks=True),
    Collective("reduce", _to_root, rooted=True),
    Collective("allreduce", _everywhere),
    Collective("reduce_scatter_block", _everywhere, in_blocks=True),
    Collective("scan", _onward),
    Collective("exscan", _onward),
    Collective("gatherv", _to_root, rooted=True, in_blocks=True),
    Collective("scatterv", _from_root, rooted=True, in_blocks=True),
    Collective("allgatherv", _everywhere, in_blocks=True),
    Collective("alltoallv", _everywhere, in_blocks=True),
    Collective("alltoallw", _everywhere, in_blocks=True),
    Collective("reduce_scatter", _everywhere, in_blocks=True),
)}

