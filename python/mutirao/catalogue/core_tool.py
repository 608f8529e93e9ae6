"""Asks mutirao-core, the C++ core as a program: what is shown, checked and predicted here comes
from the very code that the library runs.
"""

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mutirao.base import tools
from mutirao.base.output import note
from mutirao.base.paths import CORE_TOOL
from mutirao.lab.network import HostNetwork


def ask(*words: str) -> str:
    """The tool's output."""
    return tools.ask(CORE_TOOL, [tools.built(CORE_TOOL), *words])


def ask_json(*words: str) -> Any:
    return json.loads(ask(*words))


def algorithms(collective: str | None = None) -> list[dict]:
    return [row for row in ask_json("algorithms") if collective in (None, row["collective"])]


def settings() -> list[dict]:
    return ask_json("settings")


def check_settings(values: Mapping[str, str], tell: bool = True) -> None:
    """UsageError for the first that does not exist, is out of range or contradicts another; tells which are of the
    release before."""
    if values:
        for line in ask("check-settings", *(f"{name}={value}" for name, value in values.items())).splitlines():
            if tell:
                note(line)


def predict(collective: str, network: HostNetwork, root: int, length_bytes: int,
            candidates: Sequence[str] = (), ranks_per_host: int = 1,
            **network_file_options: Any) -> dict:
    """Predicted times, of all candidates if none are named, and the decision."""
    with network_file(network, **network_file_options) as path:
        return ask_json("predict", collective, *candidates, "--network", str(path),
                        "--root", str(root), "--bytes", str(length_bytes),
                        "--ranks-per-host", str(ranks_per_host))


def tree(network: HostNetwork, kind: str, root: int) -> dict:
    with network_file(network) as path:
        return ask_json("tree", kind, "--network", str(path), "--root", str(root), "--bytes", "0")


@contextmanager
def network_file(network: HostNetwork, **options: Any) -> Iterator[Path]:
    """The network in the tool's format, for as long as it is needed."""
    with lines_file(network_lines(network, **options), ".network") as path:
        yield path


@contextmanager
def lines_file(lines: Iterable[str], suffix: str) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile("w", prefix="mutirao-", suffix=suffix) as file:
        file.writelines(f"{line}\n" for line in lines)
        file.flush()
        yield Path(file.name)


def network_lines(network: HostNetwork, send_overhead_us: float = 0.0, receive_overhead_us: float = 0.0,
                  port_bytes_per_us: float = math.inf, **limits_bytes: int | None) -> Iterator[str]:
    yield f"hosts {network.host_count}"
    yield from (f"{name} {limit}" for name, limit in limits_bytes.items() if limit is not None)
    for host, site in enumerate(network.sites):
        yield f"host {host} {send_overhead_us} {receive_overhead_us} {port_bytes_per_us}"
        # The tool takes words; a site's name may have spaces.
        yield f"site {host} {'_'.join(site.split()) or '_'}"
    for a, row in enumerate(network.latency_us):
        for b, latency_us in enumerate(row):
            if a != b:
                mbit = network.most_mbit(a, b)
                yield f"link {a} {b} {latency_us!r} {mbit / 8 if mbit else math.inf!r}"
