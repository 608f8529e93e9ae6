"""A profile as the command line sees it: what jobs measured, read from the file that the library keeps.

Only reading: what is added goes through mutirao-profile, which tells fabrics apart and merges measurements
as the library does. The schema stands in src/profile/schema.sql.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from math import exp, log
from pathlib import Path
from statistics import fmean

from mutirao.base import tools
from mutirao.base.errors import Failure
from mutirao.base.paths import BUILD, ROOT, state_folder
from mutirao.catalogue.core_tool import network_file
from mutirao.lab.network import HostNetwork

PROGRAM = BUILD / "bin" / "mutirao-profile"
SCHEMA = ROOT / "src" / "profile" / "schema.sql"


@dataclass(frozen=True)
class Fabric:
    """Of a set of hosts, what times depend on."""

    id: int
    hosts: int
    sites: int
    latencies_us: tuple[float, ...]
    processor: str
    transport: str

    @property
    def title(self) -> str:
        if self.hosts == 1:
            what = self.processor
        else:
            farthest = max(self.latencies_us, default=0.0) / 1000
            what = f"{self.hosts} hosts in {self.sites} sites, up to {farthest:.3g} ms apart"
        return f"{what}, {self.transport}" if self.transport else what

    @property
    def kind(self) -> tuple:
        """Alike in two profiles, as far as that is told without latencies."""
        return self.hosts, self.sites, self.processor, self.transport


@dataclass(frozen=True)
class Kind:
    """Of calls, between whose candidates times are compared; in the order of schema.sql, behind `mpi`."""

    ranks: int
    hosts: int
    most_on_a_host: int
    collective: str
    root: int
    commutes: int
    length_bytes: int
    buffers: str


@dataclass(frozen=True)
class Row(Kind):
    """What one candidate took."""

    origin: str
    candidate: str
    low_us: float
    median_us: float
    high_us: float
    windows: int
    measured_s: float


@dataclass(frozen=True)
class Call(Kind):
    """Of one MPI library on one fabric."""

    fabric: Fabric
    mpi: str


class Profile:
    def __init__(self, rows: Sequence[tuple[Fabric, str, Row]]):
        self.rows = rows
        self.calls: dict[Call, dict[str, list[Row]]] = {}
        for fabric, mpi, row in rows:
            call = Call(*(getattr(row, each.name) for each in fields(Kind)), fabric, mpi)
            self.calls.setdefault(call, {}).setdefault(row.candidate, []).append(row)

    def medians_us(self, call: Call) -> dict[str, float]:
        """By candidate, fastest first; what was tuned and what was learned weigh by their windows."""
        medians = {name: exp(fmean([log(row.median_us) for row in rows], [row.windows for row in rows]))
                   for name, rows in self.calls[call].items()}
        return dict(sorted(medians.items(), key=lambda item: item[1]))


def profile_file(settings: Mapping[str, str]) -> Path | None:
    """That the setting `profile` names; None: off."""
    named = settings.get("profile", "auto")
    if named == "off":
        return None
    return state_folder() / "profile.db" if named == "auto" else Path(named)


def read(path: Path) -> Profile:
    if not path.is_file():
        raise Failure(f"there is no profile {path} yet: mutirao tune makes one, and so do jobs")
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            _check(connection, path)
            known = {values[0]: _fabric(values) for values in connection.execute(
                "SELECT id, hosts, sites, latencies_us, processor, transport FROM fabric")}
            columns = ", ".join(field.name for field in fields(Row))
            return Profile([(known[fabric], mpi, Row(*values)) for fabric, mpi, *values in
                            connection.execute(f"SELECT fabric, mpi, {columns} FROM measurement")])
        finally:
            connection.close()
    except (sqlite3.Error, KeyError, ValueError, TypeError) as error:
        raise Failure(f"the profile {path} cannot be read: {error}") from None


def _fabric(values: Sequence) -> Fabric:
    number, hosts, sites, latencies, processor, transport = values
    return Fabric(number, hosts, sites, tuple(map(float, filter(None, latencies.split(",")))),
                  processor, transport)


def _check(connection: sqlite3.Connection, path: Path) -> None:
    wanted = dict(re.findall(r"^PRAGMA (\w+) = (\d+);", SCHEMA.read_text(), re.MULTILINE))
    for pragma, value in wanted.items():
        found, = connection.execute(f"PRAGMA {pragma}").fetchone()
        if found != int(value):
            raise Failure(f"{path} is not a profile of this mutirao ({pragma} {found}, not {value})")


def find_fabric(path: Path, network: HostNetwork | None) -> int:
    """The number that these hosts have in the profile, or without a network this one; 0: it knows them
    not."""
    with _as_argument(network) as fabric:
        return int(_ask("find", str(path), *fabric))


def remember(path: Path, mpi: str, rows: Sequence[Row], network: HostNetwork | None) -> None:
    """Adds what was measured on these hosts, or without a network on this one."""
    with _as_argument(network) as fabric:
        _remember(path, mpi, rows, fabric)


def add(path: Path, measured: Iterable[tuple[Fabric, str, Row]]) -> int:
    """Adds another profile's measurements; those that are there already are not added again."""
    known = {(fabric.kind, mpi, row) for fabric, mpi, row in read(path).rows} if path.is_file() else ()
    groups: dict[tuple[Fabric, str], list[Row]] = {}
    for fabric, mpi, row in measured:
        if (fabric.kind, mpi, row) not in known:
            groups.setdefault((fabric, mpi), []).append(row)
    for (fabric, mpi), rows in groups.items():
        latencies = ",".join(map(repr, fabric.latencies_us))
        _remember(path, mpi, rows, [str(fabric.hosts), str(fabric.sites), latencies,
                                    fabric.processor, fabric.transport])
    return sum(map(len, groups.values()))


@contextmanager
def _as_argument(network: HostNetwork | None) -> Iterator[list[str]]:
    if network is None:
        yield []
        return
    with network_file(network) as file:
        yield [str(file)]


def _remember(path: Path, mpi: str, rows: Sequence[Row], fabric: list[str]) -> None:
    _ask("remember", str(path), mpi, *fabric,
         lines=("\t".join(map(str, astuple(row))) + "\n" for row in rows))


def _ask(*words: str, lines: Iterable[str] = ()) -> str:
    return tools.ask(PROGRAM, [tools.built(PROGRAM, "SQLite"), *words], input="".join(lines))
