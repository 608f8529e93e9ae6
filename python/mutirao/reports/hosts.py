"""What the hosts of a communicator are called: by their names where these tell them apart, else by numbers."""

from collections.abc import Iterator


def host_name(communicator: dict, host: int) -> str:
    names = communicator.get("host_names") or []
    if host < len(names) and len(set(names)) == len(names):
        return names[host]
    return f"host {host}"


def host_and_site(communicator: dict, host: int) -> str:
    sites = communicator.get("sites")
    return host_name(communicator, host) + (f" (site {sites[host]})" if sites else "")
