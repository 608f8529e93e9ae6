"""`mutirao show`: who sends what when, as text, JSON or a picture."""

from dataclasses import replace
from pathlib import Path

from mutirao import core_tool
from mutirao.errors import Failure, UsageError
from mutirao.network import HostNetwork
from mutirao.network_argument import load_network

FORMATS = ("text", "json", "svg")


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("show", parents=[common],
                                   help="show an algorithm's schedule on a network")
    parser.add_argument("algorithm", metavar="COLLECTIVE/ALGORITHM",
                        help="for example broadcast/tree or broadcast/chain:segment_bytes=4096")
    parser.add_argument("--ranks", type=int, metavar="N",
                        help="one per host; default: all hosts of the network, or 8")
    parser.add_argument("--network", metavar="NAME",
                        help="a preset (mutirao lab presets) or a CSV file of round trips;"
                        " default: all links alike")
    parser.add_argument("--root", type=int, default=0, metavar="R")
    parser.add_argument("--bytes", type=int, default=24, metavar="B", help="default: 24")
    parser.add_argument("--format", choices=FORMATS, help="default: text")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    if arguments.json and arguments.format not in (None, "json"):
        raise UsageError(f"--json and --format {arguments.format} contradict each other")
    form = "json" if arguments.json else arguments.format or "text"
    words = ["show", arguments.algorithm, "--root", str(arguments.root),
             "--bytes", str(arguments.bytes), "--format", form]
    if arguments.network is None:
        if arguments.ranks is not None:
            words += ["--ranks", str(arguments.ranks)]
        picture = core_tool.ask(*words)
    else:
        network = first_hosts(load_network(arguments.network), arguments.ranks)
        with core_tool.network_file(network) as path:
            picture = core_tool.ask(*words, "--network", str(path))
    if arguments.output is None:
        print(picture, end="")
        return 0
    try:
        arguments.output.write_text(picture)
    except OSError as error:
        raise Failure(f"cannot write {arguments.output}: {error.strerror}") from None
    return 0


def first_hosts(network: HostNetwork, ranks: int | None) -> HostNetwork:
    """The network of its first hosts, one per rank."""
    if ranks is None or ranks == network.host_count:
        return network
    if not 1 <= ranks <= network.host_count:
        raise UsageError(f"--ranks {ranks}: {network.name} has hosts for 1..{network.host_count}")

    def cut(matrix):
        return matrix and [row[:ranks] for row in matrix[:ranks]]

    return replace(network, hosts=network.hosts[:ranks], sites=network.sites[:ranks],
                   latency_us=cut(network.latency_us), bandwidth_mbit=cut(network.bandwidth_mbit))
