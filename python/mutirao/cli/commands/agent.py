"""`mutirao agent`: a standing agent on this host, which jobs find warm."""

import argparse
from pathlib import Path

from mutirao.agent import agent
from mutirao.base.output import print_json, tell
from mutirao.cli.commands.top import once

# What is handed on to mutirao-agent run as it is.
_HANDED_ON = {
    "--port": ("P", "TCP and UDP; default: that of the host's line, or 7427"),
    "--series": ("FILE", "keep what is measured in an SQLite file"),
    "--threshold-percent": ("P", "announce every change by more than that; default: what the forecast's error does not"
                            " explain"),
    "--tree-period-ms": ("T", "between probes of a link that the tree uses; default: 250"),
    "--other-period-ms": ("T", "between probes of another link; default: 2500"),
    "--dead-after-ms": ("T", "a link that is silent for so long carries nothing; default: 5000"),
    "--bandwidth-period-ms": ("T", "between measurements of the bandwidth of a link, at least 300000; 0: none;"
                              " default: 600000"),
}


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("agent", help="run a standing agent on this host")
    actions = parser.add_subparsers(dest="action", metavar="action", required=True)
    named = argparse.ArgumentParser(add_help=False)
    named.add_argument("--name", metavar="NAME", help="of its shared memory, where several agents run on one machine")
    start_parser = actions.add_parser("start", parents=[common, named],
                                      help="start the agent of this host in the background")
    start_parser.add_argument("--hosts", type=Path, required=True, metavar="FILE",
                              help="one 'HOST [PORT]' a line, the same on all hosts")
    start_parser.add_argument("--key", type=Path, required=True, metavar="FILE",
                              help="the same on all hosts (mutirao agent key), of mode 600")
    start_parser.add_argument("--self", type=int, metavar="N", dest="own",
                              help="the line of this host, from 0; default: the line that names it")
    for option, (value, help_text) in _HANDED_ON.items():
        start_parser.add_argument(option, metavar=value, type=Path if value == "FILE" else str, help=help_text)
    start_parser.set_defaults(run=start)
    for name, function, help_text in (("stop", stop, "end the agent of this host"),
                                      ("status", status, "say what the agent of this host sees")):
        actions.add_parser(name, parents=[common, named], help=help_text).set_defaults(run=function)
    key_parser = actions.add_parser("key", parents=[common], help="make a key file of mode 600")
    key_parser.add_argument("file", type=Path, metavar="FILE")
    key_parser.set_defaults(run=key)


def start(arguments) -> int:
    own = agent.this_host(arguments.hosts) if arguments.own is None else arguments.own
    words = ["--hosts", str(arguments.hosts.resolve()), "--key", str(arguments.key.resolve()), "--self", str(own)]
    for option in ("--name", *_HANDED_ON):
        value = getattr(arguments, option[2:].replace("-", "_"))
        if value is not None:
            words += [option, str(value.resolve()) if isinstance(value, Path) else value]
    found = agent.start(words, arguments.name)
    tell(arguments.json, {"name": found["name"], "pid": found["pid"], "self": found["self"]},
         f"agent of host {found['self']} of {found['host_count']} runs, pid {found['pid']}")
    return 0


def stop(arguments) -> int:
    pid = agent.stop(arguments.name)
    tell(arguments.json, {"stopped": pid}, f"agent with pid {pid} has ended")
    return 0


def status(arguments) -> int:
    found = agent.status(arguments.name)
    if arguments.json:
        print_json(found)
    elif found["alive"]:
        print(f"pid {found['pid']}\n{once(found)}")
    else:
        print("no agent is running")
    return 0 if found["alive"] else 1


def key(arguments) -> int:
    agent.make_key(arguments.file)
    tell(arguments.json, {"file": str(arguments.file)}, f"{arguments.file}: copy it to all hosts, with mode 600")
    return 0
