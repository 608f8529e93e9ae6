"""What other MPI libraries call the catalogue's algorithms: the one table for rules.

Numbers of Open MPI as `ompi_info --param coll tuned --level 9` lists them (5.0), of Intel MPI as its
developer reference does (I_MPI_ADJUST_*, 2021); names of MPICH as its selection files have them (5.0).
A row is about the algorithm, not about its code: what it costs there is to be measured there.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Counterpart:
    """The candidates of `name` with exactly these parameters, besides the segment's length."""

    collective: str
    name: str
    open_mpi: int | None = None
    mpich: str | None = None
    intel: int | None = None
    parameters: str = ""  # as candidates spell them
    segmented: bool = False  # Open MPI cuts as the candidate says; otherwise only whole ones count
    keeps_order: bool = True  # Open MPI's gives what operators that do not commute must


COUNTERPARTS = (
    Counterpart("barrier", "dissemination", 4, "MPIR_Barrier_intra_k_dissemination", 1, "radix=2"),
    Counterpart("barrier", "recursive_exchange", 3, "MPIR_Barrier_intra_recexch", 2),
    Counterpart("broadcast", "flat", 1),
    Counterpart("broadcast", "binomial", 6, "MPIR_Bcast_intra_binomial", 1, segmented=True),
    Counterpart("broadcast", "k_nomial", 7, parameters="radix=4", segmented=True),
    Counterpart("broadcast", "chain", 3, segmented=True),
    Counterpart("broadcast", "split_binary", 4, segmented=True),
    Counterpart("broadcast", "scatter_recursive_doubling_allgather", 8,
                "MPIR_Bcast_intra_scatter_recursive_doubling_allgather", 2),
    Counterpart("broadcast", "scatter_ring_allgather", 9, "MPIR_Bcast_intra_scatter_ring_allgather", 3),
    Counterpart("reduce", "flat", 1),
    Counterpart("reduce", "chain", 3, segmented=True, keeps_order=False),
    Counterpart("reduce", "k_nomial", 5, "MPIR_Reduce_intra_binomial", 2, "radix=2", segmented=True, keeps_order=False),
    Counterpart("reduce", "in_order_binary", 6, segmented=True),
    Counterpart("reduce", "rabenseifner", 7, "MPIR_Reduce_intra_reduce_scatter_gather", 5, keeps_order=False),
    Counterpart("allreduce", "recursive_doubling", 3, "MPIR_Allreduce_intra_recursive_doubling", 1),
    Counterpart("allreduce", "rabenseifner", 6, "MPIR_Allreduce_intra_reduce_scatter_allgather", 2, keeps_order=False),
    Counterpart("allreduce", "ring", 4, "MPIR_Allreduce_intra_ring", 8, keeps_order=False),
    Counterpart("allreduce", "ring", 5, segmented=True, keeps_order=False),
    Counterpart("allreduce", "reduce_broadcast", 2, intel=3, parameters="radix=2", keeps_order=False),
    Counterpart("allgather", "gather_broadcast", 1),
    Counterpart("allgather", "bruck", 2, "MPIR_Allgather_intra_brucks", 2, "radix=2"),
    Counterpart("allgather", "recursive_doubling", 3, "MPIR_Allgather_intra_recursive_doubling", 1),
    Counterpart("allgather", "ring", 4, "MPIR_Allgather_intra_ring", 3),
    Counterpart("allgather", "neighbor_exchange", 5),
    Counterpart("allgather", "two_proc", 6),
    Counterpart("allgather", "sparbit", 7),
    Counterpart("allgatherv", "gather_broadcast", 1),
    Counterpart("allgatherv", "bruck", 2, "MPIR_Allgatherv_intra_brucks", parameters="radix=2"),
    Counterpart("allgatherv", "ring", 3, "MPIR_Allgatherv_intra_ring", 3),
    Counterpart("allgatherv", "neighbor_exchange", 4),
    Counterpart("allgatherv", "two_proc", 5),
    Counterpart("allgatherv", "sparbit", 6),
    Counterpart("alltoall", "linear", 1, "MPIR_Alltoall_intra_scattered", 2),
    Counterpart("alltoall", "pairwise", 2, "MPIR_Alltoall_intra_pairwise", 3),
    Counterpart("alltoall", "bruck", 3, "MPIR_Alltoall_intra_brucks", 1, "radix=2"),
    Counterpart("reduce_scatter_block", "recursive_halving", 3,
                "MPIR_Reduce_scatter_block_intra_recursive_halving", keeps_order=False),
    Counterpart("reduce_scatter_block", "pairwise",
                mpich="MPIR_Reduce_scatter_block_intra_pairwise", keeps_order=False),
    Counterpart("reduce_scatter", "recursive_halving", 2,
                "MPIR_Reduce_scatter_intra_recursive_halving", 1, keeps_order=False),
    Counterpart("reduce_scatter", "ring", 3, keeps_order=False),
    Counterpart("reduce_scatter", "pairwise", mpich="MPIR_Reduce_scatter_intra_pairwise", intel=2, keeps_order=False),
)

# Whose algorithms run between one rank of each host, and what goes on inside each unless it is said.
_OVER_HOSTS, _USUAL_INSIDE = "broadcast", "binomial"
_PARAMETER = re.compile(r"(\w+)=([\w.-]+)")


def _parse(candidate: str) -> tuple[str, dict[str, str]]:
    name, _, parameters = candidate.partition(":")
    return name, dict(_PARAMETER.findall(parameters))


def segment_bytes(candidate: str) -> int:
    return int(_parse(candidate)[1].get("segment_bytes", 0))


def counterpart(collective: str, candidate: str, hosts: int, most_on_a_host: int) -> Counterpart | None:
    """Of a candidate as settings spell it; None: only mutirao has it."""
    name, parameters = _parse(candidate)
    cut = int(parameters.pop("segment_bytes", 0)) > 0
    inside = parameters.pop("inside", _USUAL_INSIDE)
    if collective == _OVER_HOSTS and most_on_a_host > 1:
        # Between one host and itself there is nothing to do: what goes on inside is all of it.
        if hosts > 1:
            return None
        name, parameters = inside, {}
    fitting = [row for row in COUNTERPARTS if (row.collective, row.name) == (collective, name)
               and parameters == dict(_PARAMETER.findall(row.parameters)) and (row.segmented or not cut)]
    # The same algorithm may have a number for whole messages and one for segments.
    return min(fitting, key=lambda row: row.segmented != cut, default=None)
