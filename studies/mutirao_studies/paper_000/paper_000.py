"""The figures of Thomé and Drummond, "Biblioteca de Comunicação Coletiva para Ambientes
Distribuídos Dinâmicos", section 5. Seconds, means of three runs.
"""

from dataclasses import dataclass, replace

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

# Figures 5, 6 and 7, their columns in their order: a program while links change.
COLUMNS = ("building", "changing", "broadcasts", "adapting", "whole")


@dataclass(frozen=True)
class Change:
    """Of the link between two processes: round trips in ms."""

    low: int
    high: int
    before_ms: float
    after_ms: float

    @property
    def name(self) -> str:
        return f"{self.low}-{self.high}"

    def reversed(self) -> "Change":
        return replace(self, before_ms=self.after_ms, after_ms=self.before_ms)


FAILURES = (Change(4, 6, 1, 9999), Change(12, 20, 35, 45))
RECOVERIES = (Change(0, 2, 120001, 6000), Change(12, 16, 30000, 21))


@dataclass(frozen=True)
class Figure:
    """A program of so many broadcasts, and what was measured of it; each row is one algorithm's."""

    number: int
    threshold_percent: float  # links that changed by less count as unchanged
    broadcasts: int
    rows_s: dict[str, tuple[float, ...]]

    @property
    def columns_s(self) -> dict[str, dict[str, float]]:
        return {name: dict(zip(COLUMNS, row, strict=True)) for name, row in self.rows_s.items()}


FIGURES = {figure.number: figure for figure in (
    Figure(5, 10, 16, {"MagPIe-like": (3.01, 240.16, 170.79, 0.00, 397.20),
                       "AGM": (41.99, 240.13, 108.86, 0.00, 392.16),
                       "AGM-adap": (41.93, 240.12, 5.86, 111.89, 393.83),
                       "AGM-adapII": (42.03, 240.09, 5.86, 74.31, 357.94)}),
    Figure(6, 70, 16, {"MagPIe-like": (3.01, 240.16, 170.79, 0.00, 397.20),
                       "AGM": (41.99, 240.13, 108.86, 0.00, 392.16),
                       "AGM-adap": (49.58, 240.09, 5.86, 95.03, 385.09),
                       "AGM-adapII": (42.14, 240.09, 5.86, 45.07, 328.99)}),
    Figure(7, 0, 20, {"MagPIe-like": (2.25, 480.17, 526.35, 0.00, 741.69),
                      "AGM": (48.46, 480.23, 275.15, 0.00, 753.27),
                      "AGM-adap": (49.50, 480.21, 9.52, 226.21, 756.48),
                      "AGM-adapII": (49.20, 480.25, 9.52, 162.50, 694.86)}),
)}

# What keeps the two sets of numbers apart where links change.
DYNAMIC_DIFFERENCES = (
    "Each of the paper's columns is the largest value of any process, so a row need not add up:"
    " building, changing, broadcasting and adapting together may exceed the whole program.",
    "The text speaks of broadcasts 21 and 85 times faster than those of AGM and MagPIe-like; the"
    " numbers in its Figure 5 give 19 and 29.",
    "There it took 240 s (Figure 7: 480 s) to put new latencies into the measuring tool, and the"
    " program stood still for so long. Here the lab changes its links within some ms, and the program"
    " stands still for 5 s for each of them, a twelfth of the paper's 60 s.",
    "For Figure 7 the paper says when links failed and recovered, but not which. Here it is the four"
    " links of Figures 5 and 6, one before each of the 4th, 8th, 12th and 16th broadcast.",
    "The paper's latencies are read as round trips, as everywhere in this study: a link of 9999 ms"
    " delays a message by 5 s.",
    "Two links are so slow at first that a program in the lab would take minutes to start. They are"
    " scaled so that they still compare alike with every other way, and change by the same percentages"
    " where the thresholds look at them.",
    "AGM-adap and AGM-adapII measure and adapt inside the broadcast, here as there. The default"
    " measures and adapts beside the program, in which the paper has nothing to compare.",
)

# What keeps the two sets of numbers apart where nothing changes.
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
    " MPI_Init waits while agents do both, whatever algorithm is then used; by default it would not"
    " wait.",
    "By these latencies MagPIe-like loses nothing from host 12: the last site is S2, and the direct"
    " way there is the shortest. From S1 the direct ways to Brazil are long ones, and there the"
    " spanning tree is far ahead of it.",
    "So compare which is faster, and by what factor, but not seconds with milliseconds.",
)
