"""What Dantas et al. measured and claim of MPICH2 1.3.1 (C) and mpiJava 1.2.5 (Java)."""

from dataclasses import dataclass

CITATION = ("M. Dantas, A. de S. Junior, D. Cesário, R. de O. Barros, L. Ungur, N. Sant'Anna and R. Rosa,"
            " Análise Comparativa do Desempenho de Comunicação em Nós Remotos Usando MPICH2 ou MPIJava")

SIZES_BYTES = tuple(1 << power for power in range(21))
TRIPS = 2000

SET_UP = ("two computers with processors of 2 GHz and two cores (32 bits), Ubuntu 11.04, network"
          " interfaces of 100 Mbit/s joined by one cable, JDK 7")


@dataclass(frozen=True)
class Claim:
    """Of the times of Java as a multiple of those of C."""

    statement: str
    least_bytes: int
    most_bytes: int
    ratio: float
    within: float  # of the ratio either way, for the claim to hold


CLAIMS = (
    Claim("below 16 KiB Java takes about half of C's time", 1, 8192, 0.5, 1.25),
    Claim("with 1 MiB both take practically the same", 1 << 20, 1 << 20, 1.0, 1.05),
)

FIRST = ("only the first transfer is slower in Java, since the virtual machine translates its code at that"
         " moment")

DIFFERENCES = (
    "The paper gives a figure and no numbers: only its statements can be compared.",
    "mpiJava and MPICH2 1.3.1 are not to be had as packages: the bindings and libraries are those of"
    " today.",
    "The two hosts of the lab share this machine's processors, and a program plays the cable: what the"
    " operating system and the network card of a second computer cost is not in these times.",
    "The paper gives means; medians with intervals are given here, which single disturbances do not move.",
    "The round trips are made in rounds, in which the ways take turns; the first of each job stands apart.",
    "Every message is checked at both ends in each round trip.",
)
