"""Rules of other MPI libraries, for those who cannot preload mutirao, by what a profile says.

A library's own rules stay wherever its own choice was measured to be as fast, nothing was measured, or the
best has no counterpart there. Rules hold for the numbers of ranks that were measured, and for lengths from
half of the shortest to twice the longest; between two lengths the border lies in the geometric middle.
"""

import json
import mmap
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from math import sqrt
from pathlib import Path
from statistics import geometric_mean

from mutirao.base.errors import Failure
from mutirao.base.units import counted, ratio, size
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.catalogue.predicted import NATIVE
from mutirao.measure.counterparts import Counterpart, counterpart, segment_bytes
from mutirao.measure.profile import Call, Profile
from mutirao.run.mpis import found_mpis

# Open MPI's linear reduce of 64 KiB over 15 ms took 1.57 times its own choice, where the catalogue's took 0.94.
_WARNING = ("# What was measured is mutirao's code: the library's own for the same algorithm may be slower."
            " Compare.")
# Less than this is no reason to leave a library's own rules.
_LEAST_GAIN = 0.03
# Rules go by the length of one block here; elsewhere by all blocks together.
_BY_BLOCK = ("allgatherv",)
# Open MPI's numbers of collectives, as 5.0 was seen to obey them. Those of gather and scatter go by counts
# that MPI does not look at on some ranks, so that ranks might choose differently.
_OPEN_MPI_IDS = {"allgather": 0, "allgatherv": 1, "allreduce": 2, "alltoall": 3, "barrier": 6,
                "broadcast": 7, "reduce": 11, "reduce_scatter": 12, "reduce_scatter_block": 13}
_OTHERS_NAMES = {"broadcast": "bcast"}


@dataclass(frozen=True)
class Choice:
    """What rules say of one length; without a counterpart the library's own choice."""

    length_bytes: int = field(compare=False)
    candidate: str = NATIVE
    row: Counterpart | None = None


def rule_bytes(collective: str, ranks: int, length_bytes: float) -> int:
    """As the libraries count: all blocks together, where there is one for every rank."""
    together = COLLECTIVES[collective].in_blocks and collective not in _BY_BLOCK
    return round(length_bytes) * (ranks if together else 1)


@dataclass
class Table:
    """Of one collective and number of ranks."""

    collective: str
    ranks: int
    mpi: str  # as the profile knows the library
    choices: list[Choice]
    levels: bool = False  # several hosts of several ranks
    lost: list[str] = field(default_factory=list)  # what is not in the rules, for people

    def ranges(self) -> list[tuple[int, int | None, Choice]]:
        """From the first number of bytes to before the second, None: without end. Neighbours differ."""
        if self.collective == "barrier":
            return [(0, None, self.choices[0])]
        lengths = [each.length_bytes for each in self.choices]
        borders = [rule_bytes(self.collective, self.ranks, length)
                   for length in (lengths[0] / 2, *(sqrt(a * b) for a, b in pairwise(lengths)), lengths[-1] * 2)]
        result: list[tuple[int, int | None, Choice]] = []
        own = Choice(0)
        for choice, low, high in zip([own, *self.choices, own], [0, *borders], [*borders, None], strict=True):
            if result and result[-1][2] == choice:
                result[-1] = (result[-1][0], high, choice)
            elif high is None or high > low:
                result.append((low, high, choice))
        return result


def tables(profile: Profile, has: str, any_order: bool) -> list[Table]:
    """`has`: the attribute of Counterpart that a library's name for it stands in. `any_order`: the program
    has no operators that do not commute."""
    calls = [call for call in profile.calls if call.commutes and call.buffers == "warm"]
    levels = any(call.fabric.hosts > 1 and call.most_on_a_host > 1 for call in calls)
    groups: dict[tuple[str, int], dict[int, list[Call]]] = {}
    for call in calls:
        groups.setdefault((call.collective, call.ranks), {}).setdefault(call.length_bytes, []).append(call)
    result = []
    for (collective, ranks), by_length in sorted(groups.items()):
        table = Table(collective, ranks, next(iter(by_length.values()))[0].mpi, [], levels)
        table.choices += [_choice(profile, of_length, table, has, any_order)
                          for _, of_length in sorted(by_length.items())]
        result.append(table)
    return result


def _choice(profile: Profile, calls: Sequence[Call], table: Table, has: str, any_order: bool
            ) -> Choice:
    """Rules know no roots: over all that were measured."""
    times = [profile.medians_us(call) for call in calls]
    common = set.intersection(*map(set, times))
    medians = sorted((geometric_mean(each[name] for each in times), name) for name in common)
    length = calls[0].length_bytes
    native_us = next((time for time, name in medians if name == NATIVE), None)
    choice, lost = Choice(length), ""
    for number, (time_us, name) in enumerate(medians):
        if name == NATIVE or (native_us and time_us > native_us * (1 - _LEAST_GAIN)):
            break
        row = counterpart(table.collective, name, calls[0].fabric.hosts, calls[0].most_on_a_host)
        known = row is not None and getattr(row, has) is not None
        if known and (row.keeps_order or any_order):
            choice = Choice(length, name, row)
            break
        if number == 0:
            why = "is wrong for operators that do not commute" if known else "has no counterpart"
            gain = f" ({ratio(time_us / native_us)} x native)" if native_us else ""
            size_ = f" of {size(length)}" if COLLECTIVES[table.collective].has_length else ""
            lost = (f"{table.collective}{size_}, {counted(table.ranks, 'rank')}: {name}{gain} {why};"
                    " ")
    if lost:
        table.lost.append(lost + (f"{choice.candidate} instead" if choice.row else "its own choice"))
    return choice


def _theirs(collective: str) -> str:
    return _OTHERS_NAMES.get(collective, collective)


def _by_collective(given: Iterable[Table]) -> dict[str, list[Table]]:
    """As they are ordered."""
    return {name: list(members) for name, members in groupby(given, key=lambda table: table.collective)}


def open_mpi(given: Sequence[Table]) -> str:
    """A file for coll_tuned_dynamic_rules_filename, as Open MPI 4 and 5 read it."""
    for table in given:
        if table.collective not in _OPEN_MPI_IDS:
            table.lost.append(f"{table.collective}, {counted(table.ranks, 'rank')}: no rules for it")
    of_collective = _by_collective(table for table in given if table.collective in _OPEN_MPI_IDS)
    lines = ["# Rules of Open MPI made by mutirao profile export. To run with them:",
             "#   mpirun --mca coll_tuned_use_dynamic_rules 1"
             " --mca coll_tuned_dynamic_rules_filename FILE ...",
             _WARNING, "# Algorithm 0 is Open MPI's own choice.",
             *(["# Where hosts have several ranks, Open MPI 5 goes by these rules only with"
                " --mca coll ^han."] if any(table.levels for table in given) else []),
             f"{len(of_collective)}  # collectives"]
    for collective, members in sorted(of_collective.items(),
                                      key=lambda item: _OPEN_MPI_IDS[item[0]]):
        blocks = _open_mpi_sizes(members)
        lines += [f"{_OPEN_MPI_IDS[collective]}  # {collective}",
                  f"{len(blocks)}  # numbers of ranks, each to the next"]
        for ranks, rules in blocks:
            lines += [f"{ranks}  # ranks", f"{len(rules)}  # lengths, each to the next", *rules]
    return "\n".join(lines) + "\n"


def _open_mpi_sizes(members: Sequence[Table]) -> list[tuple[int, list[str]]]:
    """A rule holds up to the next number of ranks, and the first one below itself, too."""
    own = ["0 0 0 0"]
    blocks = {1: own} | {table.ranks + 1: own for table in members}
    for table in members:
        blocks[table.ranks] = [_open_mpi_rule(low, choice) for low, _high, choice in table.ranges()]
    return sorted(blocks.items())


def _open_mpi_rule(low: int, choice: Choice) -> str:
    if choice.row is None:
        return f"{low} 0 0 0"
    return (f"{low} {choice.row.open_mpi} 0 {segment_bytes(choice.candidate)}"
            f"  # bytes, {choice.candidate}")


def intel(given: Iterable[Table]) -> str:
    """Assignments for a shell: I_MPI_ADJUST_COLLECTIVE="NUMBER:BYTES@RANKS;...\"."""
    of_collective: dict[str, list[str]] = {}
    for table in given:
        for low, high, choice in table.ranges():
            if choice.row is not None:
                most = (1 << 31) - 1 if high is None else high - 1
                of_collective.setdefault(table.collective, []).append(
                    f"{choice.row.intel}:{low}-{most}@{table.ranks}-{table.ranks}")
    return _for_a_shell("Intel MPI", [f'I_MPI_ADJUST_{_theirs(collective).upper()}="{";".join(rules)}"'
                                      for collective, rules in sorted(of_collective.items())])


def _for_a_shell(library: str, assignments: Iterable[str]) -> str:
    return "\n".join([f"# Rules of {library} made by mutirao profile export: read them into a shell with `.`", _WARNING,
                      f"# What is not named is {library}'s own choice.", *(f"export {each}" for each in assignments), ""])


def mpich(given: Iterable[Table]) -> str:
    """Assignments for a shell. MPICH's variables know neither lengths nor numbers of ranks, so one is set
    where one algorithm serves all that was measured; its selection file knows them."""
    assignments = []
    for collective, members in sorted(_by_collective(given).items()):
        names = {each.row and each.row.mpich for table in members for each in table.choices}
        if len(names) == 1 and (name := names.pop()):
            value = name.partition("_intra_")[2]
            assignments.append(f"MPIR_CVAR_{_theirs(collective).upper()}_INTRA_ALGORITHM={value}")
        elif names - {None}:
            several = " and ".join(sorted(each or "its own choice" for each in names))
            members[0].lost.append(f"{collective}: MPICH's variables know one algorithm for all"
                                   f" lengths and ranks, not {several}")
    return _for_a_shell("MPICH", assignments)


# --- MPICH's collective selection file (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE), as MPICH 5 reads it ---
#
# It is a tree of conditions, tried in their order, with algorithms as leaves. It must be complete, and has no
# word for what MPICH chooses by itself; but that is such a tree, too, and stands as text in the library. So
# rules are that tree with what a profile knows put before it. Conditions know operators and MPI_IN_PLACE, so an
# algorithm is chosen only where MPICH's own code for it may run (src/mpi/coll/coll_algorithms.txt there).

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
    for collective, members in _by_collective(given).items():
        branch = tree.get(f"collective={_theirs(collective)}")
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
            _leaf(table, choice, own) for _low, high, choice in table.ranges()}


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


# --- all formats --------------------------------------------------------------------------------------


def as_json(profile: Profile) -> str:
    return json.dumps([{"fabric": vars(fabric), "mpi": mpi, **vars(row)}
                       for fabric, mpi, row in profile.rows], indent=2) + "\n"


@dataclass(frozen=True)
class Format:
    write: Callable[[Sequence[Table]], str]
    has: str  # the attribute of Counterpart in which the library's name for an algorithm stands
    library: str  # what its versions begin with
    knows_operators: bool = False  # so that what is wrong for some of them is chosen for the others
    use: str = ""  # how a program is run by it, where the rules cannot say so themselves


FORMATS = {"openmpi": Format(open_mpi, "open_mpi", "Open MPI"),
           "mpich": Format(mpich, "mpich", "MPICH"),
           "mpich-json": Format(selection, "mpich", "MPICH", knows_operators=True,
                                use="to run with it: MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=FILE"),
           "intel": Format(intel, "intel", "Intel")}
