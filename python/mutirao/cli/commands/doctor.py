"""`mutirao doctor`: what is installed, which MPIs, can the lab run, what to do about the rest; and building what is
missing."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mutirao import __version__
from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import tell
from mutirao.base.paths import CORE_TOOL, ENVIRONMENTS, INSTALLED, LIBRARIES, PRELOAD, ROOT, preloadable
from mutirao.base.tables import text_table
from mutirao.base.units import counted
from mutirao.catalogue import core_tool
from mutirao.lab.lab import Lab
from mutirao.lab.network import HostNetwork
from mutirao.measure import profile
from mutirao.run.mpis import KNOWN, KnownMpi, find_mpi, found_mpis


@dataclass
class Finding:
    what: str
    state: str  # "ok", "missing", "not built" or "fails"
    detail: str = ""
    remedy: str = ""
    needed: bool = False  # without it mutirao cannot be used


def _finding(what: str, good: bool, detail: str, remedy: str, otherwise: str = "missing", needed: bool = False
             ) -> Finding:
    return Finding(what, "ok" if good else otherwise, detail, "" if good else remedy, needed)


IDLE_WINDOWS = Path("/proc/sys/net/ipv4/tcp_slow_start_after_idle")


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("doctor", parents=[common],
                                   help="say what is installed, what is missing, what to do; build it")
    parser.add_argument("--build", nargs="?", action="append", metavar="MPI",
                        help="build in the clone what any MPI library found still lacks; with MPI, a compiler wrapper"
                        " or folder, also for that one, from now on")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    if arguments.build:
        return _build_all([name for name in arguments.build if name], arguments.json)
    findings = [*_python(), *_build(), *_mpis(), _profile(), *_tcp(), _lab()]
    usable = (all(finding.state == "ok" for finding in findings if finding.needed)
              and any(mpi.built for mpi in found_mpis()))
    verdict = "mutirao can be used here." if usable else "mutirao cannot be used yet: see what to do."
    table = text_table(("", "state", "what was found", "what to do"),
                       [(finding.what, finding.state, finding.detail, finding.remedy) for finding in findings])
    tell(arguments.json, {
        "version": __version__, "usable": usable, "findings": [asdict(finding) for finding in findings],
        "mpis": [{"name": mpi.name, "title": mpi.title, "built": mpi.built, "launcher": str(mpi.launcher),
                  "preload": str(PRELOAD)} for mpi in found_mpis()]},
        f"{table}\n\n{verdict}")
    return 0 if usable else 1


def _build_all(names: Sequence[str], as_json: bool) -> int:
    script = ROOT / "scripts" / "build.sh"
    if not script.is_file():
        raise Failure("this mutirao is installed: build in its source folder, by doctor --build and make install")
    # What lies in this folder is no name of an MPI library.
    paths = [f"./{name}" if "/" not in name and Path(name).exists() else name for name in names]
    wrappers = [word for path in paths for word in ("--mpicc", str(find_mpi(path).wrapper))]
    return subprocess.run([script, *wrappers], stdout=sys.stderr if as_json else None, check=False).returncode


def _python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield _finding("Python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer", needed=True)
    if INSTALLED:
        return
    prepared = (ENVIRONMENTS / "cli" / "stamp").is_file()
    yield _finding("environment", prepared, ".env/cli" if prepared else "", "run make setup")


def _build() -> Iterator[Finding]:
    built = CORE_TOOL.is_file()
    yield _finding("mutirao-core", built, _catalogue_size() if built else "", "run make build", "not built",
                   needed=True)
    if not preloadable(LIBRARIES):
        yield Finding("place", "fails", str(LIBRARIES), "move mutirao: LD_PRELOAD allows no spaces and no colons in a"
                      " path", needed=True)


def _catalogue_size() -> str:
    try:
        return f"{len(core_tool.algorithms())} algorithms"
    except (Failure, UsageError) as error:
        return str(error)


def _mpis() -> Iterator[Finding]:
    found = found_mpis()
    for mpi in found:
        build = f"mutirao doctor --build {mpi.wrapper}" if CORE_TOOL.is_file() else "run make build"
        yield _finding(mpi.name, mpi.built, f"{mpi.title}, {mpi.library}", build, "not built")
    if INSTALLED:
        return
    for known in KNOWN:
        if not any(_stands_for(mpi.known, known) for mpi in found):
            yield Finding(known.name, "missing", known.title, known.get)


def _stands_for(found: KnownMpi, wanted: KnownMpi) -> bool:
    """Wherever it comes from; and the same packages bring one or the other, depending on the distribution."""
    same = (found.title, found.major) == (wanted.title, wanted.major)
    return same or (found.wrapper == wanted.wrapper and not wanted.environment)


def _profile() -> Finding:
    """Profiles need SQLite where mutirao is built; without them every job begins anew."""
    if not profile.PROGRAM.is_file():
        return Finding("profiles", "not built", "", "run make build; they need libsqlite3-dev")
    path = profile.profile_file({})
    if path is None or not path.is_file():
        return Finding("profiles", "ok", "none yet")
    try:
        return Finding("profiles", "ok", f"{path}, {counted(len(profile.read(path).rows), 'measurement')}")
    except Failure as failure:
        return Finding("profiles", "fails", str(failure), "move it away")


def _tcp() -> Iterator[Finding]:
    """Between sites a window that has closed in a pause opens by as many round trips again (RFC 2861)."""
    if IDLE_WINDOWS.is_file():
        closes = IDLE_WINDOWS.read_text().strip() != "0"
        yield Finding("TCP", "ok", "windows close in pauses" if closes else "windows stay open in pauses",
                      "between sites, on every host: sysctl -w net.ipv4.tcp_slow_start_after_idle=0" if closes else "")


def _lab() -> Finding:
    """Brings a smallest lab up and takes it down again: nothing else tells for sure."""
    network = HostNetwork.from_sites(["a", "b"], [[0, 1], [1, 0]], name="doctor")
    try:
        with Lab.up(network):
            how = "as root" if os.geteuid() == 0 else "without root, in a user namespace"
            return Finding("WAN lab", "ok", f"runs {how}")
    except (Failure, UsageError) as error:
        return Finding("WAN lab", "fails", str(error), "mutirao run and the rest work without it")
