"""`mutirao top`: what a host's agent sees of the network, live in the terminal: links, forecasts, the tree, recent
changes, costs."""

import math
import os
import select
import shutil
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import starmap
from pathlib import Path

from mutirao.agent.seen import Dump, Link, View, find_agent
from mutirao.base.errors import Failure, UsageError, check_range, what_is_odd
from mutirao.base.output import print_json
from mutirao.base.tables import BOLD, BOUND, FAINT, styled, table_lines
from mutirao.base.units import duration, spoken
from mutirao.base.user_files import read_json
from mutirao.catalogue.tree_text import draw_tree

BAD, CHANGED, TREE = BOUND, "33", "32"
_SPARKS = "▁▂▃▄▅▆▇█"
_MOST_SPARKS = 24
_MOST_TITLE = 33  # of a link, by its hosts' names
# What a narrow window cuts off comes last.
_COLUMNS = ("link", "", "now", "change", "forecast", "error", "recent", "forecaster")
_OF_ANOTHER_VERSION = (AttributeError, IndexError, KeyError, TypeError, ValueError)
_TICK_S = 0.2  # so soon it is seen that the window has another size

Line = tuple[str, str]  # with its style

# --- a frame: a pure function of what the agent tells, what it told first, and the size of the window --------


def frame(dump: Dump, first: View | None, columns: int, rows: int) -> list[Line]:
    """As many lines as there are rows, none longer than the window is wide. Failure where the agent is of another
    version."""
    try:
        lines = _frame(View(dump), first, rows)
    except _OF_ANOTHER_VERSION as error:
        raise Failure(f"that is not what an agent of this version tells: {what_is_odd(error)}") from None
    # What could move the cursor is replaced.
    return [("".join(letter if letter.isprintable() else "?" for letter in text[:columns]), style)
            for text, style in lines]


def _frame(view: View, first: View | None, rows: int) -> list[Line]:
    """Of what has no room the tree may keep a third, and the events a quarter."""
    head, tree, links = list(_head(view)), list(_tree(view)), _links(view, first)
    left = max(0, rows - len(head))
    tree = tree[:max(left // 3, left - len(links) - len(view.status["events"]) - 2)]
    events = list(_events(view))[:max(left // 4, left - len(links) - len(tree))]
    body = [*links[:max(0, left - len(tree) - len(events))], *tree, *events]
    return [*head, *body[:left]]


def _head(view: View) -> Iterator[Line]:
    status = view.status
    up = spoken(status["time_s"] - status["started_s"])
    tree = f"tree version {view.network['version']}" if view.tree else "no tree yet"
    clock = time.strftime("%H:%M:%S", time.localtime(status["time_s"]))
    yield (f"mutirao  {clock}  host {view.name(view.dump['self'])} of {view.host_count}, up {up}, {tree}"
           f"  {view.dump['name']}"), BOLD
    if not view.dump["alive"]:
        yield "the agent has ended", BAD
    yield _costs(view), ""
    channels = sum(link["channel_up"] for link in status["links"])
    yield (f"channels: {channels} of {view.host_count - 1} up; probes: {view.counted('probes_sent')} sent,"
           f" {view.counted('probes_late')} late"), ""
    yield f"frames: {view.counted('frames_accepted')} accepted, {view.counted('rejected_')} rejected", ""
    if status["series_stopped"]:
        yield f"the series has stopped: {status['series_stopped']}", BAD
    yield "", ""


def _costs(view: View) -> str:
    """Since the agent began."""
    status = view.status
    resident = f"{status['resident_bytes'] / (1 << 20):.1f} MiB"
    seconds = status["time_s"] - status["started_s"]
    if seconds <= 0:
        return f"agent: {resident}"
    sent, received = (view.counted(f"udp_bytes_{way}", f"tcp_bytes_{way}") * 8 / seconds / 1000
                      for way in ("sent", "received"))
    return (f"agent: {status['processor_s'] / seconds:.2%} of a core, {resident}, {sent:.1f} kbit/s sent,"
            f" {received:.1f} received")


def change_of(view: View, first: View | None, link: Link) -> float:
    """Relative to the first frame, in percent; infinite where a link stopped or began to carry."""
    if first is None or first.host_count != view.host_count:
        return 0.0
    before, now = first.link_us(link), view.link_us(link)
    if before == now:
        return 0.0
    return math.inf if math.inf in (before, now) or before == 0 else 100 * (now / before - 1)


def ranked(view: View, first: View | None) -> list[Link]:
    """What changed most comes first, then the tree, then the longest."""
    return sorted(view.links_within_reach(), key=lambda link: (
        -abs(change_of(view, first, link)), link not in view.tree, -view.link_us(link), link))


def _links(view: View, first: View | None) -> list[Line]:
    cells, styles = [], {}
    for number, link in enumerate(ranked(view, first)):
        change, now_us = change_of(view, first, link), view.link_us(link)
        cells.append(_cells(view, link, change))
        styles[number] = (BAD if math.isinf(now_us) else CHANGED if change else TREE if link in view.tree else "")
    return list(table_lines(_COLUMNS, cells, styles))


def _cells(view: View, link: Link, change: float) -> list[str]:
    now_us, own = view.link_us(link), view.own(link)
    forecast = own["latency_us"] if own else None
    told = ([duration(forecast[name]) for name in ("value", "error")] if forecast else ["", ""])
    # The lower host of a link measures it.
    by = (forecast["forecaster"] if forecast else
          "no forecast yet" if link[0] == view.dump["self"] else f"measured by host {view.name(link[0])}")
    return ["-".join(map(view.name, link))[:_MOST_TITLE], "tree" if link in view.tree else "",
            "dead" if math.isinf(now_us) else duration(now_us),
            "" if not change else "changed" if math.isinf(change) else f"{change:+.0f}%", *told,
            sparkline(own["recent_us"] if own else ()), by]


def sparkline(values: Sequence[float | None]) -> str:
    """The newest at the right; a cross is a value that never came."""
    values = values[-_MOST_SPARKS:]
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    wide = max(high - low, high * 0.02) or 1  # so that noise looks calm
    return "".join("x" if value is None else _SPARKS[min(7, int((value - low) / wide * 8))] for value in values)


def _tree(view: View) -> Iterator[Line]:
    yield "", ""
    yield "spanning tree", BOLD
    if not view.tree:
        yield "none yet", FAINT
        return
    inside = {host for link in view.tree for host in link}
    if missing := [view.name(host) for host in range(view.host_count) if host not in inside]:
        yield f"out of reach: {', '.join(missing)}", BAD
    for line in draw_tree(view.tree, view.network["latency_us"], lambda host: f"host {view.name(host)}"):
        yield line, ""


def _events(view: View) -> Iterator[Line]:
    """The newest first."""
    yield "", ""
    yield "recent changes", BOLD
    for event in reversed(view.status["events"]):
        ago = spoken(max(0.0, view.status["time_s"] - event["time_s"]))
        yield f"{ago + ' ago':>14}  {event['text']}", ""


# --- the command --------------------------------------------------------------------------------------


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("top", parents=[common],
                                   help="watch links, forecasts, the tree and changes live")
    parser.add_argument("agent", nargs="?", metavar="NAME",
                        help="of an agent on this host or in a lab; default: the only one here, or one of a lab"
                        " that is up")
    parser.add_argument("--interval", type=float, default=1.0, metavar="S", help="default: 1 s")
    parser.add_argument("--once", action="store_true", help="one frame, also without a terminal")
    parser.add_argument("--file", type=Path, metavar="JSON", help="look at a kept dump instead"
                        " (mutirao top --json)")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    check_range("--interval", arguments.interval, 0.1, 3600)
    if arguments.file and arguments.agent:
        raise UsageError("either an agent or --file, not both")
    look = _at_kept(arguments.file) if arguments.file else find_agent(arguments.agent)
    if arguments.json:
        print_json(look())
        return 0
    text = once(look())  # what is wrong with it is said on the ordinary screen
    if not arguments.once and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("top needs a terminal; --once prints one frame without")
    if arguments.once:
        print(text)
        return 0
    with suppress(KeyboardInterrupt), full_screen():  # another way to quit
        watch(look, arguments.interval)
    return 0


def _at_kept(file: Path) -> Callable[[], Dump]:
    dump = read_json(file)
    try:
        _frame(View(dump), None, rows=60)
    except Failure as failure:
        raise UsageError(f"{file}: {failure}") from None
    except _OF_ANOTHER_VERSION as error:
        raise UsageError(f"{file} is not a dump of mutirao top --json: {what_is_odd(error)}") from None
    return lambda: dump


def once(dump: Dump) -> str:
    return _text(frame(dump, None, *shutil.get_terminal_size((100, 60))), "\n")


def _text(lines: Sequence[Line], end: str) -> str:
    return end.join(starmap(styled, lines))


def draw(lines: Sequence[Line]) -> None:
    """Over what was there, so that nothing flickers."""
    sys.stdout.write("\033[H" + _text(lines, "\033[K\r\n") + "\033[K\033[J")
    sys.stdout.flush()


def key_within(seconds: float) -> str:
    """The next key, that comes without Enter; nothing after so long."""
    ready, _, _ = select.select([sys.stdin.fileno()], [], [], max(0.0, seconds))
    # The end of input ends it, too.
    return (os.read(sys.stdin.fileno(), 64).decode(errors="replace")[:1] or "q") if ready else ""


@contextmanager
def full_screen() -> Iterator[None]:
    """Whatever happens, the terminal is as it was afterwards."""
    before = termios.tcgetattr(sys.stdin)
    # Suspended, it would leave the shell a terminal without echo.
    old_suspend = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        tty.setcbreak(sys.stdin)
        sys.stdout.write("\033[?1049h\033[?25l\033[2J")
        yield
    finally:
        sys.stdout.write("\033[?25h\033[?1049l")
        sys.stdout.flush()
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        signal.signal(signal.SIGTSTP, old_suspend)


def watch(look: Callable[[], Dump], interval_s: float) -> None:
    key, drawn = "", []
    dump = look()
    first = View(dump)
    next_look = time.monotonic() + interval_s
    while key not in ("q", "Q"):
        if time.monotonic() >= next_look:
            next_look = time.monotonic() + interval_s
            dump = look()
            if (now := View(dump)).status["started_s"] != first.status["started_s"]:  # another agent by the same name
                first = now
        columns, rows = shutil.get_terminal_size()
        lines = [*frame(dump, first, columns, rows - 1), ("q quit"[:columns], FAINT)]
        if lines != drawn:
            draw(lines)
        drawn = lines
        key = key_within(min(_TICK_S, next_look - time.monotonic()))
