"""Networks for labs, and what a lab says where it cannot be."""

from mutirao.lab.network import HostNetwork

NOT_HERE = "cannot make network namespaces"


def network_of(one_way_ms):
    """Hosts h0, h1 and so on, each a site of its own."""
    hosts = [f"h{host}" for host in range(len(one_way_ms))]
    one_way_us = [[value * 1000.0 for value in row] for row in one_way_ms]
    return HostNetwork(hosts, hosts, one_way_us, None, "test", "made up")
