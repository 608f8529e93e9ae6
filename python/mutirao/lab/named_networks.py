"""Networks as people name them: the presets that come with mutirao, each with the source of its numbers, files
like one of them, and CSV files of round trips.

    title = "two sites"                # one's own need none of title, source, hosts_per_site
    hosts_per_site = 4
    sites = ["A", "B"]
    round_trip_ms = [[0.2, 30], [30, 0.2]]
    bandwidth_mbit, uplink_mbit        # optional: a matrix like it; a list by site
"""

import tomllib
from functools import cache
from pathlib import Path

from mutirao.base.errors import UsageError, unknown
from mutirao.base.user_files import read_text
from mutirao.lab.network import MOST_ROUND_TRIP_MS, HostNetwork, read_csv


@cache
def presets() -> dict[str, dict]:
    """By name, as files of one's own are."""
    return tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))


OR_A_FILE = "; or a .toml or CSV file"


def load_preset(name: str, hosts_per_site: int | None = None, beside: str = "") -> HostNetwork:
    """The preset's own number of hosts per site unless another is asked for. `beside`: what else would do."""
    if name not in presets():
        raise unknown("network preset", name, sorted(presets()), beside)
    return _network(presets()[name], name, hosts_per_site)


def load_file(path: Path, hosts_per_site: int | None = None) -> HostNetwork:
    try:
        values = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from None
    _check(values, path)
    return _network({"source": str(path), "hosts_per_site": 1, **values}, path.stem, hosts_per_site)


def _network(values: dict, name: str, hosts_per_site: int | None) -> HostNetwork:
    hosts = values["hosts_per_site"] if hosts_per_site is None else hosts_per_site
    return HostNetwork.from_sites(values["sites"], values["round_trip_ms"], hosts,
                                  values.get("bandwidth_mbit"), name, values["source"],
                                  values.get("uplink_mbit"))


_KNOWN = ("title", "source", "hosts_per_site", "sites", "round_trip_ms", "bandwidth_mbit", "uplink_mbit")


def _check(values: dict, path: Path) -> None:
    for key in values:
        if key not in _KNOWN:
            raise unknown(f"key in {path}", key, _KNOWN)
    sites = values.get("sites")
    if not isinstance(sites, list) or not sites or not all(isinstance(site, str) for site in sites):
        raise UsageError(f"{path}: sites must be a list of names")
    if not isinstance(values.get("hosts_per_site", 1), int):
        raise UsageError(f"{path}: hosts_per_site must be a whole number")
    _check_rows(values.get("round_trip_ms"), len(sites), MOST_ROUND_TRIP_MS, f"{path}: round_trip_ms")
    if "bandwidth_mbit" in values:
        _check_rows(values["bandwidth_mbit"], len(sites), float("inf"), f"{path}: bandwidth_mbit")
    if "uplink_mbit" in values:
        _check_rows([values["uplink_mbit"]] * len(sites), len(sites), float("inf"), f"{path}: uplink_mbit")


def _check_rows(rows: object, count: int, most: float, what: str) -> None:
    whole = isinstance(rows, list) and len(rows) == count and all(
        isinstance(row, list) and len(row) == count and
        all(isinstance(value, (int, float)) and 0 <= value <= most for value in row) for row in rows)
    if not whole:
        raise UsageError(f"{what} must have a number for each of the {count} sites" +
                         (f", from 0 to {most:g}" if most < float("inf") else ""))


def load_network(name: str, hosts_per_site: int | None = None, beside: str = OR_A_FILE) -> HostNetwork:
    """A name with a slash or a suffix is a file, anything else a preset."""
    if Path(name).suffix == ".toml":
        return load_file(Path(name), hosts_per_site)
    if "/" in name or Path(name).suffix:
        return read_csv(name, hosts_per_site or 1)
    return load_preset(name, hosts_per_site, beside)


def emulated_hosts(network: HostNetwork, ranks: int) -> str:
    """How many they are, and whether ranks share them, or leave some free."""
    hosts = network.host_count
    if ranks < hosts:
        return f"the first {ranks} of {hosts} emulated hosts"
    shared = f", up to {-(-ranks // hosts)} on each" if ranks > hosts else ""
    return f"{hosts} emulated hosts{shared}"
