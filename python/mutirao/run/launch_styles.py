"""How each MPI library's launcher is told what all of them can do, on this host and in the lab."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


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
    hostfile: str  # the option that names one


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


OPEN_MPI_5 = LaunchStyle(_open_mpi_local, _open_mpi_5_lab, "{host} slots={slots}", _nothing,
                         "--hostfile")
OPEN_MPI_4 = LaunchStyle(_open_mpi_local, _open_mpi_4_lab, "{host} slots={slots}", _nothing,
                         "--hostfile")
HYDRA_OFI = LaunchStyle(_hydra_local, _hydra_lab, "{host}:{slots}", _libfabric_tcp, "-f")
HYDRA_SYSTEM = LaunchStyle(_hydra_local, _hydra_lab, "{host}:{slots}", _ucx_or_libfabric_tcp, "-f")
HYDRA_INTEL = LaunchStyle(_hydra_local, _intel_lab, "{host}:{slots}", _intel_tcp, "-f")


def is_open_mpi(style: LaunchStyle) -> bool:
    return style in (OPEN_MPI_4, OPEN_MPI_5)
