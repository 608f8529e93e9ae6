"""A network as people name it on the command line: a preset, a TOML file like one, or a CSV file of round trips."""

from pathlib import Path

from mutirao.network import HostNetwork, read_csv
from mutirao.presets import load_file, load_preset


def load_network(name: str, hosts_per_site: int | None = None) -> HostNetwork:
    """A name with a slash or a suffix is a file, anything else a preset."""
    if Path(name).suffix == ".toml":
        return load_file(Path(name), hosts_per_site)
    if "/" in name or Path(name).suffix:
        return read_csv(name, hosts_per_site or 1)
    return load_preset(name, hosts_per_site)
