"""Networks that come with mutirao, one TOML file each, with the source of their numbers."""

import tomllib
from pathlib import Path

from mutirao.errors import unknown
from mutirao.network import HostNetwork

_FOLDER = Path(__file__).parent


def preset_names() -> list[str]:
    return sorted(file.stem for file in _FOLDER.glob("*.toml"))


def preset_title(name: str) -> str:
    return _read(name)["title"]


def load_preset(name: str, hosts_per_site: int | None = None) -> HostNetwork:
    """The preset's own number of hosts per site unless another is asked for."""
    values = _read(name)
    hosts = values["hosts_per_site"] if hosts_per_site is None else hosts_per_site
    return HostNetwork.from_sites(values["sites"], values["round_trip_ms"], hosts,
                                  values.get("bandwidth_mbit"), name, values["source"],
                                  values.get("uplink_mbit"))


def _read(name: str) -> dict:
    names = preset_names()
    if name not in names:
        raise unknown("network preset", name, names)
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
