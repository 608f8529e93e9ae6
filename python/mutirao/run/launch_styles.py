"""How each MPI library's launcher is told what all of them can do, on this host and in the lab."""

from collections.abc import Mapping
from dataclasses import dataclass


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
