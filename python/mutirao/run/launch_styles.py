"""How each MPI library's launcher is told what all of them can do, on this host and in the lab."""

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
    """How one launcher is told what all of them can do. In the lab words and variables name what LabPlace holds."""

    local_words: str
    lab_words: str
    hostfile_line: str  # of {host} and {slots}
    lab_variables: str
    hostfile: str  # the option that names one

    def local(self, ranks: int) -> list[str]:
        return [*self.local_words.split(), "-n", str(ranks)]

    def lab(self, ranks: int, place: LabPlace) -> list[str]:
        return [*_filled(self.lab_words, place), "-n", str(ranks)]

    def lab_environment(self, place: LabPlace) -> dict[str, str]:
        return dict(each.split("=", 1) for each in _filled(self.lab_variables, place))


def _filled(words: str, place: LabPlace) -> list[str]:
    return [word.format(**vars(place)) for word in words.split()]


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


def is_open_mpi(style: LaunchStyle) -> bool:
    return style in (OPEN_MPI_4, OPEN_MPI_5)
