"""The figures of Thomé and Drummond, "Biblioteca de Comunicação Coletiva para Ambientes
Distribuídos Dinâmicos", section 5, as far as nothing changes while the program runs. Seconds,
means of three runs.
"""

CITATION = ("V. Thomé and L. Drummond, Biblioteca de Comunicação Coletiva para Ambientes"
            " Distribuídos Dinâmicos, Universidade Federal Fluminense")

# Table 2: whole application, by number of broadcasts of 24 bytes from process 12.
TABLE_2_S = {
    "MPICH-like": {1: 4.93, 4: 6.95, 16: 15.88},
    "MagPIe-like": {1: 3.80, 4: 5.40, 16: 13.08},
}

# Figure 4: (building the tree, whole application, their difference), by number of broadcasts.
# AGM (árvore geradora mínima) is the minimum spanning tree.
FIGURE_4_S = {
    "MagPIe-like": {4: (2.38, 5.77, 3.40), 8: (1.80, 9.11, 7.30), 16: (2.81, 13.00, 10.19)},
    "AGM": {4: (25.24, 28.20, 2.97), 8: (24.30, 29.57, 5.27), 16: (23.39, 32.03, 8.64)},
}

# What keeps the two sets of numbers apart.
DIFFERENCES = (
    "The paper gives seconds for whole applications, from start to end, with LAM/MPI 7.0.6 on 24"
    " machines with Pentium 4 processors. Here single broadcasts are timed, with today's MPI"
    " libraries over real TCP: from the root's entry until the last host has left.",
    "The paper does not say how it imposed the latencies. Its example adds numbers of its Table 1"
    " along a path (35.1 + 61.4 = 96.5 ms), so each message was late by them. They were measured"
    " by ping, so the lab reads them as round trips, and one way is half of them.",
    "In the paper each further broadcast costs 0.5 to 0.7 s: they hardly overlap. Here broadcasts"
    " in a row follow each other through the network, so that the physical bound of one is the"
    " bound of all.",
    "The paper measures links by the Network Weather Service and builds its tree in MPI_Init. Here"
    " both are done in the first broadcast, whatever algorithm is then used.",
    "By these latencies MagPIe-like loses nothing from host 12: the last site is S2, and the direct"
    " way there is the shortest. From S1 the direct ways to Brazil are long ones, and there the"
    " spanning tree is far ahead of it.",
    "So compare which is faster, and by what factor, but not seconds with milliseconds.",
)


def to_dict() -> dict:
    """As JSON would have it: counts as text, no tuples."""
    figure_4_s = {name: {str(count): list(times) for count, times in by_count.items()}
                  for name, by_count in FIGURE_4_S.items()}
    table_2_s = {name: {str(count): seconds for count, seconds in by_count.items()}
                 for name, by_count in TABLE_2_S.items()}
    return {"citation": CITATION, "differences": list(DIFFERENCES), "table_2_s": table_2_s,
            "figure_4_s": figure_4_s}
