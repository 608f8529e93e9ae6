"""The static part of paper 000 in the lab: 24 hosts in six sites, broadcasts of 24 bytes.

Six arms run the same MPI program: two MPI libraries by themselves, and mutirao with the paper's
three algorithms and with its own choice. Each arm is one job; all jobs run in one lab. The demo is
the least of it that shows the point: one MPI library, by itself and with mutirao's choice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mutirao.base.progress import steps
from mutirao.catalogue import core_tool
from mutirao.lab.lab import bring_up
from mutirao.lab.named_networks import load_preset
from mutirao.lab.network import HostNetwork
from mutirao.measure.circumstances import Circumstances
from mutirao.measure.measure import Contender, Measurement, Workload, measure
from mutirao.run.mpis import KNOWN, find_mpi, found_mpis
from mutirao_studies.account import LeftOut

NETWORK = "six-sites"
LENGTH_BYTES = 24
ROOT = 12
MPIS = ("openmpi-5", "mpich-5")
REPEAT, QUICK_REPEAT = 3, 1
_MOST_SECONDS_OF_AN_ARM = 300.0


@dataclass(frozen=True, eq=False)
class Arm:
    """What is compared; natively without settings."""

    key: str
    title: str
    settings: Mapping[str, str] = field(default_factory=dict)
    in_paper: str | None = None  # the paper's name for it


MUTIRAO_ARMS = (
    Arm("mpich-like", "MPICH-like", {"broadcast": "binomial"}, "MPICH-like"),
    Arm("magpie-like", "MagPIe-like", {"broadcast": "two_level"}, "MagPIe-like"),
    Arm("mst", "MST", {"broadcast": "tree:kind=mst"}, "AGM"),
    Arm("choice", "mutirao's choice", {"broadcast": "auto"}),
)
Planned = list[tuple[Arm, Contender]]


@dataclass(frozen=True)
class Scope:
    """How much of the study is run."""

    study: str
    arms: Sequence[Arm]  # of mutirao
    roots: Sequence[int]
    consecutive: Sequence[int]  # broadcasts, from ROOT


WHOLE = Scope(NETWORK, MUTIRAO_ARMS, (0, 4, 8, 12, 16, 20), (1, 4, 8, 16))
DEMO = Scope("demo", MUTIRAO_ARMS[-1:], (0, 8, 12), (1,))


def run_study(mpi_names: Sequence[str] = MPIS, quick: bool = False, scope: Scope = WHOLE) -> dict:
    """Everything measured and drawn, as plain data. Failure if no arm could be measured."""
    network = load_preset(NETWORK)
    repeat = QUICK_REPEAT if quick else REPEAT
    roots = list(scope.roots)
    workloads = (Workload((LENGTH_BYTES,), (ROOT,), scope.consecutive, repeat),
                 Workload((LENGTH_BYTES,), [root for root in roots if root != ROOT], (1,), repeat))
    circumstances = Circumstances(scope.study, quick, mpi_names)
    left_out = LeftOut()
    arms = plan(mpi_names, scope.arms, left_out)
    measured = _measure_all(network, arms, workloads, left_out) if arms else []
    left_out.check(measured)
    described = [describe_arm(arm, measurement) for arm, measurement in measured]
    return {
        **circumstances.to_dict(),
        "network": describe_network(network), "length_bytes": LENGTH_BYTES, "root": ROOT,
        "consecutive": list(scope.consecutive), "roots": roots, "repeat": repeat,
        "arms": described, "left_out": left_out.rows, "shapes": shapes(network, described),
    }


def plan(mpi_names: Sequence[str], mutirao_arms: Sequence[Arm], left_out: LeftOut) -> Planned:
    """Natively every MPI library named runs; the first of them that is built carries mutirao's arms."""
    arms: Planned = []
    carriers = []
    for name in mpi_names:
        known = next(row for row in KNOWN if row.name == name)
        if name not in [mpi.name for mpi in found_mpis()]:
            left_out.add(f"{known.title} {known.major}, native", f"MPI {name} is not installed ({known.get})")
            continue
        mpi = find_mpi(name)
        arms.append((Arm(f"native-{name}", f"{known.title} {known.major}, native"),
                     Contender("native", mpi)))
        carriers += [mpi] if mpi.built else []
    for arm in mutirao_arms:
        if carriers:
            arms.append((arm, Contender(arm.title, carriers[0], arm.settings)))
        else:
            left_out.add(arm.title, "mutirao is built for none of these MPIs: run make build")
    return arms


def _measure_all(network: HostNetwork, arms: Planned, workloads: Sequence[Workload],
                 left_out: LeftOut) -> list[tuple[Arm, Measurement]]:
    each_arm = sum(workload.points for workload in workloads)
    measured = []
    with bring_up(network) as lab, steps(len(arms) * each_arm) as progress:
        for done, (arm, contender) in enumerate(arms, start=1):
            progress.begin(f"{arm.title} on {contender.mpi.title}")
            with left_out.tried(arm.title):
                measured.append((arm, measure(contender, workloads, network.host_count, lab,
                                               lambda _point: progress.advance(), _MOST_SECONDS_OF_AN_ARM)))
            progress.advance(done * each_arm - progress.done)
    return measured


def describe_arm(arm: Arm, measurement: Measurement) -> dict:
    described = measurement.to_dict()
    for point in described["points"]:
        point["ran"] = measurement.chosen(point["length_bytes"], point["root"])
    communicator = measurement.communicator
    return {**described, "key": arm.key, "title": arm.title, "in_paper": arm.in_paper,
            "start": communicator and {**measurement.report["start"], "sites": communicator["sites"]}}


def describe_network(network: HostNetwork) -> dict:
    """As the paper's Table 1: between the sites, and who is in them."""
    firsts = [network.hosts_of(site)[0] for site in network.site_names]
    return {"name": network.name, "source": network.source, "tcp": "plain",
            "spanning_tree": [[edge["parent"], edge["child"]] for edge in core_tool.tree(network, "mst", ROOT)["edges"]],
            "latency_us": network.latency_us,
            "site_of": [network.site_names.index(site) for site in network.sites],
            "sites": network.site_names,
            "round_trip_ms": [[network.round_trip_us(a, b) / 1000 if a != b else 0.0
                               for b in firsts] for a in firsts],
            "bound_ms": {str(root): network.bound_from(root) / 1000 for root in firsts}}


def shapes(network: HostNetwork, arms: Sequence[dict]) -> list[dict]:
    """What each of mutirao's arms does on the network as asked for: who sends to whom, and when, as the core predicts
    it."""
    drawn = []
    with core_tool.network_file(network) as path:
        for arm in arms:
            ran = next((point["ran"] for point in arm["points"] if point["root"] == ROOT), None)
            if ran not in (None, "native"):
                drawn.append({"title": arm["title"], "algorithm": ran, "schedule": core_tool.ask_json(
                    "show", f"broadcast/{ran}", "--network", str(path), "--root", str(ROOT),
                    "--bytes", str(LENGTH_BYTES))})
    return drawn
