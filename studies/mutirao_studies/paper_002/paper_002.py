"""What paper 002 gives in numbers, and what differs here. Its figures have no numbers beside them: what
they show is in its statements, which interfaces_statements.py checks."""

CITATION = ("D. L. Kreutz, M. C. Cera, M. Pasin, R. da Rosa Righi: Comparativo entre Diferentes"
            " Interfaces de Comunicação para Programação Paralela. UFSM and UFRGS, 2003.")

POINTS = 800
SIDES = (10, 25, 50, 100)
WORKERS = (2, 4, 8, 16)
MESSAGE_BYTES = {10: 128, 25: 653, 50: 2528, 100: 10028}

# Mean time that a worker computed; 16 workers, sides of 10.
TABLE_2_S = {"libVIP": 3.635087, "MPI": 3.62288, "PVM": 3.86747, "Sockets": 3.754826}
TABLE_2_WORKERS, TABLE_2_SIDE = 16, 10

FIGURES = {3: 10, 4: 25, 5: 50, 6: 100}  # the side of tasks

_NODES = ("There: 8 nodes with two Pentium III of 1 GHz each, Gigabit Ethernet between them, two workers a"
          " node. Here: ")
ON_THIS_MACHINE = (_NODES + "all processes on this machine, so that messages cross no cable, and workers beyond"
                   " the number of processors share them.")
ACROSS_A_LAB = (_NODES + "emulated hosts, so that all workers share the processors of this machine, whatever"
                " their network is.")
DIFFERENCES = (
    "The paper names neither the region of the plane nor the most iterations of a point; both are"
    " chosen here, so that its times and these can only be compared among themselves.",
    "Return time here is from when every worker has asked until the last task is done; launching is"
    " shown by itself. The paper does not say whether it is included.",
    "PVM 3.4 and LAM/MPI 7.1 are the last of their kind; the paper's were older. libVIP cannot be had:"
    " libfabric, whose model is VIA's, stands for it, over its tcp provider.",
    "LAM/MPI goes through TCP, as there; Open MPI and MPICH choose for themselves, which on one machine"
    " is shared memory.",
)
