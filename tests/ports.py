"""TCP ports for servers of tests."""

import random
import socket

# Below what Linux gives outgoing connections, of which tests beside this one make many.
_RANGE = range(20_000, 32_000)


def free_ports(count):
    """That are free now, of addresses of this machine."""
    found = []
    for port in random.sample(_RANGE, len(_RANGE)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            break
    return found
