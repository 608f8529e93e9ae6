"""`mutirao lab`: a wide-area network of emulated hosts on this machine."""

import argparse
import os
import statistics
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence

from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import print_json, tell, working
from mutirao.base.tables import text_table
from mutirao.lab.check import check_rates, check_round_trips
from mutirao.lab.control import lab_names
from mutirao.lab.lab import CONTROL_HOST, LINK_FIELDS, TCP_PROFILES, Counters, Lab, bring_up
from mutirao.lab.named_networks import load_network, load_preset, presets
from mutirao.lab.network import HostNetwork, Matrix

DEFAULT_NAME = "lab"
# What `check` lets pass, in the median.
MOST_ERROR_US = 300.0
MOST_RATE_ERROR = 0.1


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("lab", help="emulate a wide-area network on this machine")
    actions = parser.add_subparsers(dest="action", metavar="action", required=True)

    def add(name: str, function, help_text: str, **more) -> argparse.ArgumentParser:
        action = actions.add_parser(name, parents=[common], help=help_text, **more)
        action.set_defaults(run=function)
        return action

    only_lab = "default: the only lab that is up"
    action = add("up", up, "start a lab")
    action.add_argument("network", metavar="NETWORK",
                        help="a preset (mutirao lab presets), a .toml file like one, or a CSV file of round trips")
    action.add_argument("--hosts-per-site", type=int, metavar="K", help="default: the network's own")
    action.add_argument("--tcp", choices=TCP_PROFILES, default=TCP_PROFILES[0],
                        help="as a kernel has it, tuned for long distances, or as it has it but for BBR")
    action.add_argument("--name", default=DEFAULT_NAME, help="default: %(default)s")
    for name, function, help_text in (
            ("down", down, "end a lab and every program in it"),
            ("show", show, "hosts, matrix, traffic and changes"),
            ("check", check, "measure the round trips and the limited rates of all sites")):
        add(name, function, help_text).add_argument("name", nargs="?", help=only_lab)

    action = add("set", change, "change links between hosts or sites while programs run")
    action.add_argument("a", metavar="A", help="a host or a site")
    action.add_argument("b", metavar="B")
    action.add_argument("--latency-ms", type=float, metavar="X", help="one way")
    action.add_argument("--bandwidth-mbit", type=float, metavar="X", help="0: unlimited")
    action.add_argument("--loss", type=float, metavar="P", help="probability, 0 to 1")
    action.add_argument("--jitter-ms", type=float, metavar="X", help="up to so much is added")
    action.add_argument("--round-trip", action="store_true", help="the latency is that of a round trip")
    action.add_argument("--one-way-only", action="store_true", help="only from A to B")
    action.add_argument("--name", help=only_lab)

    action = add("uplink", change_uplink, "change what the hosts of a site share while programs run")
    action.add_argument("site", metavar="SITE")
    action.add_argument("mbit", metavar="MBIT", type=float,
                        help="Mbit/s towards all other sites, each way; 0: unlimited")
    action.add_argument("--name", help=only_lab)

    action = add("exec", execute, "run a program on a host",
                 usage="mutirao lab exec [--name NAME] HOST [--] PROGRAM ...")
    action.add_argument("--name", help=only_lab)
    action.add_argument("host", metavar="HOST", help=f"or {CONTROL_HOST}, which stands beside the first")
    action.add_argument("program", nargs=argparse.REMAINDER)
    add("presets", list_presets, "list the networks that come with mutirao")


def up(arguments) -> int:
    network = load_network(arguments.network, arguments.hosts_per_site)
    lab = bring_up(network, arguments.tcp, arguments.name)
    tell(arguments.json, _described(lab), _one_line(lab))
    return 0


def _one_line(lab: Lab) -> str:
    network, information = lab.network, lab.information
    parts = [f"{network.host_count} hosts in {len(network.site_names)} sites",
             f"{lab.tcp} TCP ({information['congestion_control'] or 'the system’s own control'})"]
    if uplinks := lab.current_network().uplinks:
        parts.append("uplinks in Mbit/s: " + ", ".join(f"{site} {mbit:g}" for site, mbit in uplinks.items()))
    if information["rootless"]:
        parts.append("in a user namespace")
    if not information["realtime"]:
        parts.append("without real-time scheduling, so less punctual")
    return f"lab '{lab.name}' is up: {', '.join(parts)}"


def _described(lab: Lab) -> dict:
    hosts = [{"name": host.name, "address": host.address, "site": site}
             for host, site in zip(lab.hosts, lab.network.sites, strict=True)]
    return {"name": lab.name, "network": lab.network.name, "source": lab.network.source,
            "tcp": lab.tcp, "control_path": str(lab.control_path), "hosts": hosts,
            "control": {"name": lab.control.name, "address": lab.control.address},
            **{key: lab.information[key]
               for key in ("rootless", "realtime", "congestion_control")}}


def down(arguments) -> int:
    lab = Lab.attach(arguments.name)
    lab.down()
    tell(arguments.json, {"name": lab.name, "up": lab_names()}, f"lab '{lab.name}' is down")
    return 0


def show(arguments) -> int:
    lab = Lab.attach(arguments.name)
    now, counters = lab.current_network(), lab.counters()
    changed = changes(lab)
    if arguments.json:
        print_json({**_described(lab), **lab.settings(), "counters": vars(counters),
                    "changes": changed})
        return 0
    print(_one_line(lab))
    print(f"source of the matrix: {lab.network.source}\n")
    print(text_table(("site", "hosts", "addresses"),
                     [(site, f"{now.hosts[inside[0]]} - {now.hosts[inside[-1]]}",
                       f"{lab.hosts[inside[0]].address} - {lab.hosts[inside[-1]].address}")
                      for site in now.site_names if (inside := now.hosts_of(site))]))
    print(f"\n{_round_trips(now)}\n\n{_traffic(now, counters)}")
    print(f"the router sent packets {counters.late_mean_us / 1000:.3f} ms late in the mean,"
          f" {counters.late_max_us / 1000:.3f} at most, and missed {counters.overruns}")
    print("\nchanges: " + ("none" if not changed else ""))
    for row in changed:
        print(f"  {row['from']} -> {row['to']}: {row['what']} {row['before']:g} -> {row['now']:g}"
              f" ({row['links']} links)")
    return 0


def _round_trips(network: HostNetwork) -> str:
    """A range where the hosts of two sites differ."""
    def cell(pairs: list[tuple[int, int]]) -> str:
        values = sorted(network.round_trip_us(a, b) / 1000 for a, b in pairs)
        if not values:
            return "-"
        low, high = f"{values[0]:.1f}", f"{values[-1]:.1f}"
        return low if low == high else f"{low}-{high}"

    return _by_site("round trip now, ms", network, cell)


def _traffic(network: HostNetwork, counters: Counters) -> str:
    """Packets from row to column, and how many of them were dropped."""
    def cell(pairs: list[tuple[int, int]]) -> str:
        packets = sum(counters.packets[a][b] for a, b in pairs)
        dropped = sum(counters.dropped[a][b] for a, b in pairs)
        return str(packets) if dropped == 0 else f"{packets} ({dropped} lost)"

    return _by_site("traffic since it is up", network, cell)


def _by_site(title: str, network: HostNetwork, cell: Callable[[list[tuple[int, int]]], str]) -> str:
    sites = {site: network.hosts_of(site) for site in network.site_names}
    rows = [[name, *(cell([(a, b) for a in from_hosts for b in to_hosts if a != b])
                     for to_hosts in sites.values())]
            for name, from_hosts in sites.items()]
    return text_table(["", *sites], rows, title)


def changes(lab: Lab) -> list[dict]:
    """How the links differ from those asked for when the lab came up, gathered by sites."""
    network, now = lab.network, lab.settings()
    count = network.host_count
    nothing: Matrix = [[0.0] * count] * count
    before = {"latency_us": network.latency_us, "bandwidth_mbit": network.bandwidth_mbit or nothing}
    found: Counter = Counter()
    for field, (title, unit, _) in LINK_FIELDS.items():
        asked = before.get(field, nothing)
        for a in range(count):
            for b in range(count):
                old, new = asked[a][b], now[field][a][b]
                if a != b and abs(old - new) > 1e-6:
                    found[network.sites[a], network.sites[b], title,
                          round(old / unit, 6), round(new / unit, 6)] += 1
    uplinks = [{"from": site, "to": "others", "what": "uplink in Mbit/s",
                "before": network.uplinks.get(site, 0), "now": mbit, "links": 1}
               for site, mbit in zip(network.site_names, now["uplink_mbit"], strict=True)
               if mbit != network.uplinks.get(site, 0)]
    return uplinks + [{"from": a, "to": b, "what": title, "before": old, "now": new, "links": links}
            for (a, b, title, old, new), links in found.items()]


def check(arguments) -> int:
    lab = Lab.attach(arguments.name)
    with working("measuring all pairs of sites"):
        pairs, rates = check_round_trips(lab), check_rates(lab)
    error_us, rate_error = (statistics.median([row[name] for row in rows] or [0.0])
                            for rows, name in ((pairs, "error_us"), (rates, "error")))
    tell(arguments.json, {"pairs": pairs, "median_error_us": error_us, "most_us": MOST_ERROR_US, "rates": rates,
                          "median_rate_error": rate_error, "most_rate_error": MOST_RATE_ERROR},
         _check_text(pairs, error_us, rates, rate_error))
    return 0 if error_us <= MOST_ERROR_US and rate_error <= MOST_RATE_ERROR else 1


def _check_text(pairs: Sequence[dict], error_us: float, rates: Sequence[dict], rate_error: float) -> str:
    trips = text_table(("from", "to", "asked ms", "measured ms", "error ms"), [
        (pair["from_site"], pair["to_site"],
         *(f"{pair[each] / 1000:.3f}" for each in ("asked_us", "measured_us", "error_us"))) for pair in pairs])
    text = f"{trips}\nmedian error {error_us / 1000:.3f} ms (at most {MOST_ERROR_US / 1000:g} asked)"
    if not rates:
        return text
    limited = text_table(("from", "to", "asked Mbit/s", "measured Mbit/s"), [
        (rate["from_site"], rate["to_site"], f"{rate['asked_mbit']:g}", f"{rate['measured_mbit']:.2f}")
        for rate in rates])
    return f"{text}\n\n{limited}\nmedian error {rate_error:.1%} (at most {MOST_RATE_ERROR:.0%} asked)"


def change(arguments) -> int:
    latency_ms = arguments.latency_ms
    if arguments.round_trip:
        if latency_ms is None:
            raise UsageError("--round-trip is about --latency-ms, which is not given")
        latency_ms /= 2
    lab = Lab.attach(arguments.name)
    links = lab.set_pair(arguments.a, arguments.b, latency_ms, arguments.bandwidth_mbit,
                         arguments.loss, arguments.jitter_ms, arguments.one_way_only)
    tell(arguments.json, {"links": links}, f"changed {links} links of lab '{lab.name}'")
    return 0


def change_uplink(arguments) -> int:
    lab = Lab.attach(arguments.name)
    lab.set_uplink(arguments.site, arguments.mbit)
    tell(arguments.json, {"site": arguments.site, "uplink_mbit": arguments.mbit},
         f"changed the uplink of {arguments.site} in lab '{lab.name}'")
    return 0


def execute(arguments) -> int:
    argv = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    if not argv:
        raise UsageError("lab exec: no program given")
    lab = Lab.attach(arguments.name)
    if arguments.json:
        with lab.exec(arguments.host, argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                      text=True, errors="replace") as process:
            output, errors = process.communicate()
        print_json({"host": arguments.host, "returncode": process.returncode,
                    "stdout": output, "stderr": errors})
        return process.returncode
    # In this process's place, so that the terminal and its signals are the program's own.
    command = lab.command(arguments.host, argv)
    try:
        os.execve(command[0], command, {**os.environ, **lab.environment()})
    except OSError as error:
        raise Failure(f"{command[0]}: {error.strerror}") from None


def list_presets(arguments) -> int:
    rows = []
    for name, values in sorted(presets().items()):
        network = load_preset(name)
        rows.append({"name": name, "hosts": network.host_count, "sites": network.site_names,
                     "title": values["title"], "source": network.source,
                     "uplink_mbit": network.uplinks,
                     "diameter_ms": network.diameter / 1000})
    tell(arguments.json, rows, text_table(
        ("preset", "hosts", "sites", "longest way, ms", "what it is"),
        [(row["name"], row["hosts"], len(row["sites"]), f"{row['diameter_ms']:.1f}", row["title"]) for row in rows]))
    return 0
