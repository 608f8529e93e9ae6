"""The WAN lab as a Python object: real hosts in name only, real TCP, and a network of one's choice.

A lab is one router process (lab/router) that keeps a network namespace per host and delays every
packet between them. It holds everything by file descriptors, so when it ends, by whatever cause,
nothing is left; the programs in its hosts are killed by the agents that started them.

    with Lab.up(load_preset("six-sites")) as lab:
        lab.exec("h00", ["ping", "-c1", lab.hosts[23].address]).wait()

Names for programs inside begin with MUTILAB_, so that they never meet mutirao's own settings.
"""

import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from mutirao.base.errors import Failure, UsageError, check_range, did_you_mean, unknown
from mutirao.base.output import working
from mutirao.base.paths import BUILD
from mutirao.lab.control import Connection, control_path_of, lab_names, router_answers
from mutirao.lab.network import HostNetwork, Matrix

TCP_PROFILES = ("plain", "tuned", "bbr")
CONTROL_HOST = "control"
INTERFACE = "wan0"
_MOST_MBIT = 1e6
# Of what a link has: its title with the unit that people use, how many of the router's that holds, and the most.
LINK_FIELDS = {"latency_us": ("latency in ms", 1000.0, 60_000.0),
               "bandwidth_mbit": ("bandwidth in Mbit/s", 1.0, _MOST_MBIT),
               "loss": ("loss", 1.0, 1.0), "jitter_us": ("jitter in ms", 1000.0, 60_000.0)}

# A measurement may beat the physical bound by its own uncertainty, not by more.
BOUND_TOLERANCE = 0.005


@dataclass(frozen=True)
class LabHost:
    name: str
    address: str


@dataclass(frozen=True)
class Counters:
    """What crossed the lab since it is up; matrices from row host to column host."""

    packets: list[list[int]]  # taken from the row host; a segmented send counts as one
    bytes: list[list[int]]
    dropped: list[list[int]]  # by asked loss or by a full queue
    overruns: int  # packets that the router itself was too slow to take: the run is spoiled
    late_max_us: float  # worst time by which a packet left after it was due
    late_mean_us: float

    @property
    def total_packets(self) -> int:
        return sum(map(sum, self.packets))

    def packets_among(self, hosts: int) -> int:
        """Without what the launcher sends to and from the control host."""
        return sum(sum(row[:hosts]) for row in self.packets[:hosts])


def lab_file(relative: str) -> Path:
    """A built part of the lab."""
    path = BUILD / relative
    if not path.exists():
        raise Failure(f"the lab is not built ({path} is missing): run make build")
    return path


class Lab:
    """A running lab; `up` starts one, `attach` finds one. As a context manager it is taken down."""

    def __init__(self, name: str, control_path: Path, process: subprocess.Popen | None = None):
        self.name = name
        self.control_path = control_path
        self._process = process
        self._connection = Connection(control_path)
        described = json.loads(self._connection.ask("describe"))
        self.network = HostNetwork(**described["network"])  # as asked for at first
        self.tcp: str = described["tcp"]
        information = json.loads(self._connection.ask("info"))
        addresses = information["addresses"]
        self.information: dict = information
        self.hosts = [LabHost(host, address)
                      for host, address in zip(self.network.hosts, addresses, strict=False)]
        self.control = LabHost(CONTROL_HOST, addresses[-1])
        self.agent = lab_file("bin/mutirao-lab-agent")
        self.calm_library = lab_file("lib/libmutirao-calm.so")

    @classmethod
    def up(cls, network: HostNetwork, tcp: str = "plain", name: str | None = None) -> "Lab":
        """Starts a lab. Without a name it lives as long as this process at most, else until `down`."""
        lasting = name is not None
        name = name or _unused_name()
        path = control_path_of(name)
        if router_answers(path):
            raise UsageError(f"lab '{name}' is already up (mutirao lab down {name} ends it)")
        process = _start_router(network.hosts, path, tcp, lasting)
        try:
            with closing(Connection(path)) as connection:
                _load(connection, network, tcp)
            return cls(name, path, process)
        except BaseException:
            process.kill()
            process.wait()
            path.unlink(missing_ok=True)
            raise

    @classmethod
    def attach(cls, name: str | None = None) -> "Lab":
        """A lab that is up: the named one, or the only one."""
        names = lab_names()
        if name is None:
            if not names:
                raise Failure("no lab is up (mutirao lab up starts one)")
            if len(names) > 1:
                raise UsageError(f"several labs are up, name one: {', '.join(names)}")
            name = names[0]
        if name not in names:
            raise UsageError(f"no lab '{name}' is up{did_you_mean(name, names)}"
                             + (f" (up: {', '.join(names)})" if names else ""))
        return cls(name, control_path_of(name))

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.down()

    def down(self) -> None:
        """Ends the lab and every program in it; harmless when it is already gone."""
        with suppress(Failure):  # if it died before, nothing is left of it
            self._connection.ask("shutdown")
        self._connection.close()
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process.wait()
        self.control_path.unlink(missing_ok=True)

    def environment(self) -> dict[str, str]:
        """What a program (mpirun, a shim) must have in its environment to find this lab."""
        return {"MUTILAB_CONTROL": str(self.control_path)}

    def command(self, host: str, argv: Sequence[str]) -> list[str]:
        """The command line that runs `argv` on `host`; needs `environment()`."""
        if host not in (CONTROL_HOST, *self.network.hosts):
            raise unknown("host", host, [*self.network.hosts, CONTROL_HOST])
        return [str(self.agent), host, f"exec {shlex.join(argv)}"]

    def exec(self, host: str, argv: Sequence[str], **popen_arguments) -> subprocess.Popen:
        """Starts `argv` on a host. Exit code as ssh's; ending the Popen ends all it started."""
        environment = dict(popen_arguments.pop("env", None) or os.environ)
        environment.update(self.environment())
        return subprocess.Popen(self.command(host, argv), env=environment, **popen_arguments)

    def hosts_named(self, name: str) -> list[int]:
        """The hosts that a host's or a site's name stands for."""
        network = self.network
        if name in network.hosts:
            return [network.hosts.index(name)]
        if name in network.sites:
            return network.hosts_of(name)
        raise unknown("host or site", name, [*network.site_names, *network.hosts])

    def set_pair(self, a: str, b: str, latency_ms: float | None = None,
                 bandwidth_mbit: float | None = None, loss: float | None = None,
                 jitter_ms: float | None = None, one_way_only: bool = False) -> int:
        """Changes the links from `a` to `b` (hosts or sites), and back unless one way only.

        One-way latency; bandwidth 0 is unlimited; loss is a probability; jitter adds up to that
        much. What is None stays. All changes become visible at once; returns their number.
        """
        values = zip(LINK_FIELDS, (latency_ms, bandwidth_mbit, loss, jitter_ms), strict=True)
        asked = {field: value for field, value in values if value is not None}
        if not asked:
            raise UsageError("nothing to set: give a latency, bandwidth, loss or jitter")
        for field, value in asked.items():
            title, _, most = LINK_FIELDS[field]
            check_range(title, value, 0, most)
        settings = ",".join(f"{field}={value * LINK_FIELDS[field][1]:.10g}" for field, value in asked.items())
        pairs = {(x, y) for x in self.hosts_named(a) for y in self.hosts_named(b) if x != y}
        if not one_way_only:
            pairs |= {(y, x) for x, y in pairs}
        if not pairs:
            raise UsageError(f"no link between '{a}' and '{b}'")
        words = " ".join(f"{x}:{y}" for x, y in sorted(pairs))
        self._connection.ask(f"pairs {settings} {words}")
        return len(pairs)

    def set_latencies(self, latency_us: Matrix) -> None:
        """Replaces all one-way latencies at once."""
        self._connection.ask(f"matrix latency_us {_flat(latency_us)}")

    def settings(self) -> dict[str, Any]:
        """As it is now: latency_us, bandwidth_mbit, loss, jitter_us, and uplink_mbit by site."""
        return json.loads(self._connection.ask("settings"))

    def set_uplink(self, site: str, mbit: float) -> None:
        """What the hosts of a site share towards all others, each way; 0 is unlimited."""
        names = self.network.site_names
        if site not in names:
            raise unknown("site", site, names)
        check_range("an uplink in Mbit/s", mbit, 0, _MOST_MBIT)
        self._connection.ask(f"uplink {names.index(site)} {mbit:.10g}")

    def current_network(self) -> HostNetwork:
        """The network with the changes made since it is up."""
        now = self.settings()
        return HostNetwork(self.network.hosts, self.network.sites, now["latency_us"],
                           now["bandwidth_mbit"], self.network.name, self.network.source,
                           now["uplink_mbit"])

    def counters(self) -> Counters:
        return Counters(**json.loads(self._connection.ask("counters")))


def bring_up(network: HostNetwork, tcp: str = TCP_PROFILES[0], name: str | None = None) -> Lab:
    """And show meanwhile that it takes its time."""
    with working(f"bringing up {network.host_count} hosts"):
        return Lab.up(network, tcp, name)


def verify_run(bound_us: float, measured_us: float, packets_before: int,
               packets_after: int) -> None:
    """Refuses a result that cannot have come from the lab's network.

    MPI libraries know many ways round a network (shared memory, copying between processes);
    a run that took one must never be reported as a measurement.
    """
    if packets_after <= packets_before:
        raise Failure("refused: no packet crossed the lab during this run, so its MPI went round"
                      " the network (force it to TCP)")
    if measured_us < bound_us * (1 - BOUND_TOLERANCE):
        raise Failure(f"refused: {measured_us / 1000:.3f} ms is less than the physical bound of"
                      f" {bound_us / 1000:.3f} ms, so part of this run went round the lab")


def _unused_name() -> str:
    taken = lab_names()
    return next(name for number in count() if (name := f"run-{os.getpid()}-{number}") not in taken)


def _start_router(hosts: Sequence[str], path: Path, tcp: str, lasting: bool) -> subprocess.Popen:
    command = [str(lab_file("bin/mutirao-lab-router")), "lasting" if lasting else "until-stdin-closes", str(path), tcp,
               *hosts, CONTROL_HOST]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL if lasting else subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, start_new_session=True)
    with process.stdout:
        answer = process.stdout.readline().strip()
    if answer != "ready":
        process.kill()
        process.wait()
        raise Failure(answer or "the lab's router ended at once")
    return process


def _load(connection: Connection, network: HostNetwork, tcp: str) -> None:
    connection.ask(f"matrix latency_us {_flat(network.latency_us)}")
    if network.bandwidth_mbit is not None:
        connection.ask(f"matrix bandwidth_mbit {_flat(network.bandwidth_mbit)}")
    names = network.site_names
    connection.ask("sites " + " ".join(str(names.index(site)) for site in network.sites))
    for number, mbit in enumerate(network.uplink_mbit or ()):
        connection.ask(f"uplink {number} {mbit:.10g}")
    connection.ask("describe " + json.dumps({"network": asdict(network), "tcp": tcp}))


def _flat(matrix: Matrix) -> str:
    return " ".join(f"{value:.10g}" for row in matrix for value in row)
