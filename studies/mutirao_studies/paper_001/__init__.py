"""Paper 001: which allgather Open MPI's rule picks, and which is the best; simulated and real."""
