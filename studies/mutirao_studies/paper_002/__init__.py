"""Paper 002: one program over sockets, MPI, PVM, VIA, ZeroMQ and gRPC."""
