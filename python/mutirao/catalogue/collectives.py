"""What the command line must know of each collective. The library's own table is that of
src/core/collectives/collective.h; a test compares the two.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mutirao.base.units import size
from mutirao.lab.network import HostNetwork

BROADCAST = "broadcast"
_BARRIER = "barrier"
# The shortest time in us, over the hosts of ranks 0, 1, ... and with the root's rank.
Bound = Callable[[HostNetwork, Sequence[int], int], float]


def _from_root(network: HostNetwork, hosts: Sequence[int], root: int) -> float:
    return max(network.shortest_us[hosts[root]][host] for host in hosts)


def _to_root(network: HostNetwork, hosts: Sequence[int], root: int) -> float:
    return max(network.shortest_us[host][hosts[root]] for host in hosts)


def _everywhere(network: HostNetwork, hosts: Sequence[int], _root: int) -> float:
    different = set(hosts)
    return max(network.shortest_us[a][b] for a in different for b in different)


def _onward(network: HostNetwork, hosts: Sequence[int], _root: int) -> float:
    """From every rank to those after it."""
    return max((network.shortest_us[hosts[a]][host]
                for a in range(len(hosts)) for host in hosts[a + 1:]), default=0.0)


@dataclass(frozen=True)
class Collective:
    name: str
    bound: Bound
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
        return 0.0 if self.empty(length_bytes) else self.bound(network, hosts, root)

    def whose(self, root: int) -> str:
        """' from rank 3'; a negative root is any."""
        if not self.rooted:
            return ""
        way = "to" if self.bound is _to_root else "from"
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

