"""MPICH's collective selection file (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE), as MPICH 5 reads it.

It is a tree of conditions, tried in their order, with algorithms as leaves. It must be complete, and has no
word for what MPICH chooses by itself; but that is such a tree, too, and stands as text in the library. So
rules are that tree with what a profile knows put before it. Conditions know operators and MPI_IN_PLACE, so an
algorithm is chosen only where MPICH's own code for it may run (src/mpi/coll/coll_algorithms.txt there).
"""

import json
import mmap
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from mutirao.base.errors import Failure
from mutirao.base.units import counted
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.measure.rules import MPICH_NAMES, Choice, Format, Table, merged, rule_bytes
from mutirao.run.mpis import found_mpis

_COMMUTES, _BUILT_IN = ("is_commutative=yes", "is_commutative=no"), ("is_op_built_in=yes", "is_op_built_in=no")
_NOT_IN_PLACE = ("is_sendbuf_inplace=no", "is_sendbuf_inplace=yes")
# Where it may not run: the condition under which MPICH's own choice holds, and what is left.
_AT_LEAST_ONE_EACH = ("count=any", "count<pow2")
_CONDITIONS = {
    "MPIR_Alltoall_intra_brucks": (_NOT_IN_PLACE,), "MPIR_Alltoall_intra_pairwise": (_NOT_IN_PLACE,),
    "MPIR_Alltoall_intra_scattered": (_NOT_IN_PLACE,),
    "MPIR_Reduce_intra_reduce_scatter_gather": (_AT_LEAST_ONE_EACH, _BUILT_IN),
    "MPIR_Allreduce_intra_reduce_scatter_allgather": (_AT_LEAST_ONE_EACH, _BUILT_IN)}
_POWERS_OF_TWO_ONLY = ("MPIR_Allgather_intra_recursive_doubling",
                       "MPIR_Allgatherv_intra_recursive_doubling")
_PARAMETERS = {"MPIR_Barrier_intra_k_dissemination": {"k=2": {}}}
# Has a parameter more than the file has a word for, which is then what the memory held before.
_NOT_BY_FILE = ("MPIR_Barrier_intra_recexch",)
_PAGE = 4096
_MOST_BYTES = (1 << 31) - 1  # it reads an int

Tree = dict[str, dict]


def own_choices(library: Path) -> Tree:
    """The tree of the layer whose algorithms are named MPIR_."""
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        for found in re.finditer(rb'\{"collective=[^\0]*(?=\0)', text):
            if b'"algorithm=MPIR_Bcast_intra_' in found[0]:
                return json.loads(found[0])
    raise Failure(f"{library} does not say what MPICH chooses by itself: export its variables instead"
                  " (--format mpich)")


def _library_of(given: Sequence[Table]) -> Path:
    """The very version that was measured: another may choose otherwise by itself."""
    for mpi in found_mpis():
        if mpi.known.title == "MPICH" and any(mpi.version in table.mpi for table in given):
            return mpi.library
    raise Failure("the MPICH that was measured is not found here, and only its library says what it chooses"
                  " by itself: export its variables instead (--format mpich)")


def selection(given: Sequence[Table]) -> str:
    tree = own_choices(_library_of(given))
    if any(table.levels for table in given):
        given[0].lost.append("hosts with several ranks: MPICH divides most collectives among hosts first, and"
                             " asks the file for the parts")
    of_collective: dict[str, list[Table]] = {}
    for table in given:
        of_collective.setdefault(table.collective, []).append(table)
    for collective, members in of_collective.items():
        branch = tree.get(f"collective={MPICH_NAMES.get(collective, collective)}")
        if branch is None:
            members[0].lost.append(f"{collective}: MPICH does not select for it")
        else:
            branch["comm_type=intra"] = _by_ranks(members, branch["comm_type=intra"])
    text = json.dumps(tree, indent=1) + "\n"
    # MPICH maps the file and takes it for a string: behind its end there must be something of the page left.
    return text if len(text) % _PAGE else text + "\n"


def _by_ranks(members: Iterable[Table], own: Tree) -> Tree:
    tree: Tree = {}
    for table in sorted(members, key=lambda table: table.ranks):
        tree[f"comm_size<{table.ranks}"] = own
        tree[f"comm_size<={table.ranks}"] = _by_length(table, own)
    return {**tree, "comm_size=any": own}


def _by_length(table: Table, own: Tree) -> Tree:
    if not COLLECTIVES[table.collective].has_length:
        return _leaf(table, table.choices[0], own)
    what, blocks = "avg_msg_size", 1
    if COLLECTIVES[table.collective].in_blocks:  # the mean is not known of all of these
        what = "total_msg_size"
        blocks = table.ranks // rule_bytes(table.collective, table.ranks, 1)
    return {f"{what}=any" if high is None else f"{what}<{min(blocks * high, _MOST_BYTES)}":
            _leaf(table, choice, own) for _low, high, choice in merged(table)}


def _leaf(table: Table, choice: Choice, own: Tree) -> Tree:
    row = choice.row
    if row is None:
        return own
    if row.mpich in _NOT_BY_FILE or (row.mpich in _POWERS_OF_TWO_ONLY and table.ranks.bit_count() > 1):
        table.lost.append(f"{table.collective}, {counted(table.ranks, 'rank')}: the file cannot choose"
                          f" {row.mpich} here; its own choice")
        return own
    leaf = {f"algorithm={row.mpich}": _PARAMETERS.get(row.mpich, {})}
    for wanted, otherwise in (*_CONDITIONS.get(row.mpich, ()), *([] if row.keeps_order else [_COMMUTES])):
        # "any" must come last.
        leaf = ({otherwise: own, wanted: leaf} if wanted.endswith("=any")
                else {wanted: leaf, otherwise: own})
    return leaf


FORMAT = Format(selection, "mpich", "MPICH", knows_operators=True,
                use="to run with it: MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=FILE")
