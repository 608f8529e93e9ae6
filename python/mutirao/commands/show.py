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
                        help="default: as many as fit all hosts of the network, or 8")
    parser.add_argument("--ranks-per-host", type=int, default=1, metavar="K",
                        help="consecutive ranks that share a host; default: 1")
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
             "--bytes", str(arguments.bytes), "--format", form,
             "--ranks-per-host", str(arguments.ranks_per_host)]
    if arguments.ranks is not None:
        words += ["--ranks", str(arguments.ranks)]
    if arguments.network is None:
        picture = core_tool.ask(*words)
    else:
        network = first_hosts(load_network(arguments.network), arguments.ranks,
                              arguments.ranks_per_host)
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


def first_hosts(network: HostNetwork, ranks: int | None, per_host: int) -> HostNetwork:
    """The network of as many of its first hosts as the ranks need."""
    if per_host < 1:
        raise UsageError(f"--ranks-per-host {per_host}: it must be at least 1")
    if ranks is None:
        return network
    most = network.host_count * per_host
    if not 1 <= ranks <= most:
        raise UsageError(f"--ranks {ranks}: {network.name} has hosts for 1..{most}")
    hosts = -(-ranks // per_host)

    def cut(matrix):
        return matrix and [row[:hosts] for row in matrix[:hosts]]

    return replace(network, hosts=network.hosts[:hosts], sites=network.sites[:hosts],
                   latency_us=cut(network.latency_us), bandwidth_mbit=cut(network.bandwidth_mbit))
