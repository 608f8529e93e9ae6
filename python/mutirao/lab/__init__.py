"""Networks of hosts, and labs that play them on this machine. Starts no MPI program."""
