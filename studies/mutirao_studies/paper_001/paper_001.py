"""What paper 001 measured and claims of MPI_Allgather, and the model of its cluster on which it is measured
anew."""

from collections.abc import Sequence
from dataclasses import dataclass

CITATION = ("Avaliação experimental da seleção de algoritmos da chamada MPI Allgather no OpenMPI 4.0.3"
            " (paper 001), measured on two computers of the cluster Cervino, Université de Neuchâtel")

SIZES_BYTES = (32, 128, 512, 2048, 8192, 32768, 131072, 524288)  # of a rank's block
RANKS = (62, 128)
REPETITIONS = 50


@dataclass(frozen=True)
class Algorithm:
    name: str  # in Table 1
    open_mpi: int  # coll_tuned_allgather_algorithm
    smpi: str  # as SMPI calls the same


# The sixth, two_proc, is for two ranks only; the paper left it out, too.
ALGORITHMS = (
    Algorithm("linear", 1, "GB"),
    Algorithm("bruck", 2, "bruck"),
    Algorithm("recursive doubling", 3, "rdb"),
    Algorithm("ring", 4, "NTSLR"),
    Algorithm("neighbor exchange", 5, "ompi_neighborexchange"),
)
LOGARITHMIC = ("bruck", "recursive doubling")
LINEAR_COST = ("ring", "neighbor exchange")
RULE = "Open MPI 4.0's rule"
OWN_RULE = "Open MPI's own rule"  # of the version at hand


def runs_with(algorithm: Algorithm, ranks: int) -> bool:
    """Recursive doubling is for powers of two, neighbor exchange for even numbers."""
    if algorithm.name == "recursive doubling":
        return ranks.bit_count() == 1
    return algorithm.name != "neighbor exchange" or ranks % 2 == 0


# Means in tens of microseconds, in the order of SIZES_BYTES.
TABLE_1_10US: dict[int, dict[str, Sequence[int]]] = {
    62: {
        RULE: (32, 31, 36, 246, 359, 1583, 6467, 25573),
        "linear": (49, 67, 94, 206, 1729, 2801, 7728, 23723),
        "bruck": (29, 32, 45, 53, 100, 451, 3067, 12461),
        "ring": (306, 266, 242, 304, 451, 1388, 5738, 29007),
        "neighbor exchange": (129, 118, 134, 242, 392, 1675, 6116, 26317),
    },
    128: {
        RULE: (67, 45, 799, 1052, 1831, 5994, 27294, 104481),
        "linear": (92, 208, 166, 656, 4590, 9665, 35678, 292064),
        "bruck": (209, 52, 93, 211, 716, 3462, 14270, 52994),
        "recursive doubling": (52, 122, 104, 74, 265, 1450, 5798, 25609),
        "ring": (669, 793, 684, 976, 1610, 6626, 32383, 147311),
        "neighbor exchange": (347, 379, 507, 574, 3952, 7190, 27648, 101899),
    },
}
# As the paper gives what was picked, by size. Of 512 B and 128 processes its own time says otherwise (7.99 ms, and
# recursive doubling takes 1.04), and so does the rule: 65,536 bytes in all.
PICKED_BY_PAPER = {62: ("bruck",) * 3 + ("neighbor exchange",) * 5,
                   128: ("recursive doubling",) * 3 + ("neighbor exchange",) * 5}
_SHORT_IN_ALL_BYTES = 50_000


def rule_picks(ranks: int, length_bytes: int) -> str:
    """Open MPI 4.0 and before, ompi_coll_tuned_allgather_intra_dec_fixed, with more than two ranks."""
    if ranks * length_bytes < _SHORT_IN_ALL_BYTES:
        return "recursive doubling" if ranks.bit_count() == 1 else "bruck"
    return "ring" if ranks % 2 else "neighbor exchange"


def table_1_us(ranks: int) -> dict[str, dict[int, float]]:
    return {name: dict(zip(SIZES_BYTES, (10.0 * value for value in row), strict=True))
            for name, row in TABLE_1_10US[ranks].items()}


@dataclass(frozen=True)
class Model:
    """Two hosts and what joins them; MODEL_SOURCES says where each figure comes from."""

    hosts: int = 2
    cable_bytes_per_us: float = 40e3 / 8 * 1448 / 1538
    latency_us: float = 38.0
    overhead_us: float = 1.0
    memory_bytes_per_us: float = 17e3
    copy_bytes_per_us: float = 5e3
    memory_latency_us: float = 0.5
    eager_limit_bytes: int = 65536


MODEL = Model()

MODEL_SOURCES = (
    "Cable: 40 Gbit/s as the paper says, less what Ethernet and TCP add to 1448 bytes (1538 on the wire).",
    "Latency between the hosts, 38 us and 1 us of processor time at either end: with 32 B the paper's ring takes"
    " 47 us a step and its neighbor exchange 35 us (62 processes, 61 and 31 steps between the hosts), less the"
    " some 0.2 ms that a slow first call adds to each mean of 50, as its deviations of 1.5 ms show.",
    "Memory, 17 GB/s shared by the ranks of a host: recursive doubling of 128 processes with 512 KiB moves"
    " 4.2 GB inside each host in the paper's 256 ms.",
    "A core copies 5 GB/s, and a message inside a host waits 0.5 us: what mutirao's predictor takes of an"
    " ordinary server.",
    "Messages longer than 64 KiB ask the receiver first: Open MPI's eager limit over TCP.",
)

DIFFERENCES = (
    "There: two computers with 32 cores and 40 Gbit/s Ethernet, means of 50 repetitions, whose deviations are"
    " often larger than they. Here: the same in a simulator (SimGrid's SMPI), which is deterministic, so that"
    " one call says all, after one of the MPI library's own to warm up.",
    "The model's latency and memory bandwidth are read off the paper's own table; its cores each have a link to"
    " the host's memory, which they share. 128 ranks do not compete for 64 cores.",
    "What ranks copy in their own memory takes no time in the simulation, neither in SMPI's algorithms nor in"
    " mutirao's, which favours bruck; the predictor counts it.",
    "Open MPI's algorithms are SMPI's copies of them. The rule of Open MPI 4.0 is applied to their times; SMPI's"
    " own copy of Open MPI's rule is another, newer one, and stands beside it.",
    "The paper's table says that its rule picked recursive doubling for 512 B and 128 processes; by its own times"
    " and by the rule it was neighbor exchange. It is not the best either way.",
    "mutirao's core and executor are linked into the simulated program. Where it waits it sleeps until a message"
    " is there: a look in vain would cost simulated time. Agents, announcements and preloading are not"
    " simulated; the network is what the model says.",
    "mutirao's choice is where its own decider ends, which begins with the MPI library's algorithm and probes the"
    " ones that its predictor ranks first, told what the simulated calls took. The predictor is told of the memory bandwidth"
    " that ranks of a host share; the library does not measure that yet.",
)
