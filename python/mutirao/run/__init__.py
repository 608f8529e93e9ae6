"""Starting a program of the user: MPI libraries, launchers, settings, processes. Repeats and compares nothing."""
