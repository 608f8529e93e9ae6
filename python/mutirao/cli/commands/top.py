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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from mutirao.agent.seen import AgentView, Link, SeenAgent, find_agent, read_view
from mutirao.base.errors import Failure, UsageError, check_range
from mutirao.base.output import print_json
from mutirao.base.tables import styled
from mutirao.base.units import duration, memory, spoken
from mutirao.base.user_files import read_json
from mutirao.catalogue.tree_text import draw_tree

BOLD, FAINT, BAD, CHANGED, TREE = "1", "2", "31", "33", "32"
SORTS = ("change", "tree", "latency", "error")
_SPARKS = "▁▂▃▄▅▆▇█"
_MOST_SPARKS = 24
_WITH_NAMES = 92  # and with names of forecasters from here on
_LEAST_TITLE, _MOST_TITLE = 9, 33  # of the columns for the hosts of a link
_WIDE = 120  # from here on the tree stands beside the links
_TICK_S = 0.2  # so soon it is seen that the window has another size


# --- a frame: a pure function of what the agent told, what it told before, and the size of the window ----


@dataclass(frozen=True)
class Piece:
    text: str
    style: str = ""


Line = list[Piece]


@dataclass
class Past:
    """What earlier frames showed: for rates, and for what changed since."""

    before: AgentView | None = None
    first: AgentView | None = None

    def add(self, view: AgentView) -> None:
        if self.first is None or self.first.started_s != view.started_s:
            self.first = view
        self.before = view


@dataclass(frozen=True)
class Shown:
    """How the reader wants it."""

    columns: int
    rows: int
    sort: str = SORTS[0]
    keys: bool = True  # whether there is a terminal whose keys do something
    paused: bool = False


def frame(view: AgentView, past: Past, shown: Shown) -> list[Line]:
    """As many lines as there are rows, none longer than the window is wide."""
    head = [*_head(view, past), []]
    keys = f"q quit   s sort: {shown.sort} first   space {'go on' if shown.paused else 'pause'}"
    foot = [[Piece(keys, FAINT)]] if shown.keys else []
    left = max(0, shown.rows - len(head) - len(foot))
    tree = _tree(view)
    beside_tree = shown.columns >= _WIDE
    wanted = len(_within_reach(view)) + 1
    wanted = max(wanted, len(tree) + 1) if beside_tree else wanted + len(tree) + 2
    events = min(len(view.events) + 2, max(3, left // 4, left - wanted))
    if beside_tree:
        right = [[Piece("spanning tree", BOLD)], *tree][:left - events]
        width = shown.columns - max(map(_width, right), default=0)
        links = _links(view, past, Shown(width - 2, left - events, shown.sort))
        body = beside(links, right, width)
    else:
        trees = min(len(tree) + 2, (left - events) // 2)
        body = _links(view, past, Shown(shown.columns, left - events - trees, shown.sort))
        body += [[], [Piece("spanning tree", BOLD)], *tree][:max(0, trees)]
    body += _events(view, events)
    return [cut(line, shown.columns) for line in [*head, *body[:left], *foot]]


def beside(left: Sequence[Line], right: Sequence[Line], width: int) -> list[Line]:
    both = [(cut(line, width - 2), other) for line, other in zip_longest(left, right, fillvalue=[])]
    return [[*line, Piece(" " * (width - _width(line))), *other] for line, other in both]


def cut(line: Line, columns: int) -> Line:
    """What does not fit is left out; what could move the cursor is replaced."""
    pieces, left = [], columns
    for piece in line:
        text = "".join(letter if letter.isprintable() else "?" for letter in piece.text[:left])
        pieces.append(Piece(text, piece.style))
        left -= len(text)
    return pieces


def _width(line: Line) -> int:
    return sum(len(piece.text) for piece in line)


def _head(view: AgentView, past: Past) -> Iterator[Line]:
    up = view.time_s - view.started_s
    tree = f"tree version {view.version}" if view.tree else "no tree yet"
    clock = time.strftime("%H:%M:%S", time.localtime(view.time_s))
    line = [Piece("mutirao  ", BOLD), Piece(f"{clock}  host {view.name(view.self_host)} of"
                                                f" {view.host_count}, up {spoken(up)}, {tree}"
                                                f"  {view.segment}")]
    if view.gone:
        line.append(Piece("  the agent has ended", BAD))
    yield line
    yield [Piece(_costs(view, past))]
    up = sum(link.channel_up for link in view.links.values())
    yield [Piece(f"channels: {up} of {view.host_count - 1} up; probes: {view.counted('probes_sent')}"
                 f" sent, {view.counted('probes_late')} late")]
    yield [Piece(f"frames: {view.counted('frames_accepted')} accepted,"
                 f" {view.counted('rejected_')} rejected")]
    if view.series_stopped:
        yield [Piece(f"the series has stopped: {view.series_stopped}", BAD)]
    if view.sensors:
        yield [Piece("this host: " + ", ".join(_sensor(*each) for each in view.sensors))]


def _costs(view: AgentView, past: Past) -> str:
    """Since the frame before; in the first one since the agent began."""
    seconds, processor_s = view.time_s - view.started_s, view.processor_s
    sent, received = (view.counted(*_bytes(way)) for way in ("sent", "received"))
    before = past.before
    if before and before.started_s == view.started_s and before.time_s < view.time_s:
        seconds, processor_s = view.time_s - before.time_s, processor_s - before.processor_s
        sent -= before.counted(*_bytes("sent"))
        received -= before.counted(*_bytes("received"))
    if seconds <= 0:
        return f"agent: {memory(view.resident_bytes)}"
    return (f"agent: {processor_s / seconds:.2%} of a core, {memory(view.resident_bytes)},"
            f" {sent * 8 / seconds / 1000:.1f} kbit/s sent,"
            f" {received * 8 / seconds / 1000:.1f} received")


def _bytes(way: str) -> tuple[str, str]:
    return f"udp_bytes_{way}", f"tcp_bytes_{way}"


def _sensor(name: str, value: float) -> str:
    """The unit is the end of the name."""
    title = name.rpartition("_")[0].replace("_", " ")
    if name.endswith("_bytes"):
        return f"{title} {memory(value)}"
    if name.endswith("_share"):
        return f"{title} {value:.0%}"
    return f"{name} {value:.3g}"


def change_of(view: AgentView, past: Past, link: Link) -> float | None:
    """Relative to the first frame, in percent; infinite where a link stopped or began to carry."""
    if past.first is None or past.first.host_count != view.host_count:
        return None
    first, now = past.first.link_us(link), view.link_us(link)
    if first == now:
        return 0.0
    return math.inf if math.inf in (first, now) or first == 0 else 100 * (now / first - 1)


def ranked(view: AgentView, past: Past, sort: str) -> list[Link]:
    """The most interesting first; ties by what else is interesting."""
    tree = set(view.tree)

    def error(link: Link) -> float:
        own = view.own(link)
        return own.latency.error if own and own.latency else -1.0

    keys = {"tree": lambda link: link in tree, "latency": view.link_us, "error": error,
            "change": lambda link: abs(change_of(view, past, link) or 0.0)}
    order = [sort, *(name for name in ("tree", "change", "latency") if name != sort)]
    return sorted(_within_reach(view), key=lambda link: (*(-keys[name](link) for name in order),
                                                         link))


def _within_reach(view: AgentView) -> list[Link]:
    """A host that nobody reaches is named once, not by each of its links."""
    inside = {host for link in view.tree for host in link}
    links = [link for link in view.all_links() if inside.issuperset(link)]
    return links or view.all_links()


def _links(view: AgentView, past: Past, shown: Shown) -> list[Line]:
    if shown.rows < 2:
        return []
    links = ranked(view, past, shown.sort)[:shown.rows - 1]
    width = max((len(_title(view, link)) + 2 for link in links), default=0)
    width = max(_LEAST_TITLE, min(width, _MOST_TITLE))
    names = shown.columns >= _WITH_NAMES + width - _LEAST_TITLE
    title = f"{'link':<{width}}{'':<5}{'now':>9} {'change':>8}  {'forecast':>9} {'error':>8}"
    title += f"  {'forecaster':<22}" if names else ""
    tree = set(view.tree)
    return [[Piece(f"{title}  recent", BOLD)],
            *([Piece(_title(view, link)[:width - 1].ljust(width), TREE if link in tree else ""),
               *_link(view, past, link, link in tree, names)] for link in links)]


def _title(view: AgentView, link: Link) -> str:
    return f"{view.name(link[0])}-{view.name(link[1])}"


def _link(view: AgentView, past: Past, link: Link, in_tree: bool, names: bool) -> Line:
    now, change, own = view.link_us(link), change_of(view, past, link), view.own(link)
    forecast = own.latency if own else None
    shown_change = "" if not change else "changed" if math.isinf(change) else f"{change:+.0f}%"
    line = [Piece(("tree" if in_tree else "").ljust(5), TREE),
            Piece(f"{'dead' if math.isinf(now) else duration(now):>9}", BAD if math.isinf(now)
                  else ""),
            Piece(f" {shown_change:>8}", CHANGED)]
    told = (duration(forecast.value), duration(forecast.error)) if forecast else ("", "")
    line.append(Piece(f"  {told[0]:>9} {told[1]:>8}"))
    if names:
        name = forecast.forecaster if forecast else _measured_by(view, link)
        line.append(Piece(f"  {name:<22}", "" if forecast else FAINT))
    line.append(Piece("  " + sparkline(own.recent_us if own else ())))
    return line


def _measured_by(view: AgentView, link: Link) -> str:
    """The lower host of a link measures it."""
    return "no forecast yet" if link[0] == view.self_host else f"measured by host {view.name(link[0])}"


def sparkline(values: Sequence[float]) -> str:
    """The newest at the right; a cross is a value that never came."""
    values = values[-_MOST_SPARKS:]
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    wide = max(high - low, high * 0.02)  # so that noise looks calm
    return "".join("x" if not math.isfinite(value) else
                   _SPARKS[min(7, int((value - low) / wide * 8))] if wide else _SPARKS[0]
                   for value in values)


def _tree(view: AgentView) -> list[Line]:
    if not view.tree:
        return [[Piece("none yet", FAINT)]]
    latency = [[None if math.isinf(value) else value for value in row] for row in view.latency_us]
    lines = [[Piece(text)] for text in draw_tree(view.tree, latency, lambda host: f"host {view.name(host)}")]
    inside = {host for link in view.tree for host in link}
    missing = [host for host in range(view.host_count) if host not in inside]
    if missing:
        lines.insert(0, [Piece(f"out of reach: {', '.join(map(view.name, missing))}", BAD)])
    return lines


def _events(view: AgentView, rows: int) -> list[Line]:
    if rows < 2:
        return []
    lines = [[], [Piece("recent changes", BOLD)]]
    newest = list(view.events)[::-1][:rows - 2]
    for when, text in newest:
        ago = spoken(max(0.0, view.time_s - when))
        lines.append([Piece(f"{ago + ' ago':>14}  ", FAINT), Piece(text)])
    return lines


# --- the command --------------------------------------------------------------------------------------


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("top", parents=[common],
                                   help="watch links, forecasts, the tree and changes live")
    parser.add_argument("agent", nargs="?", metavar="NAME",
                        help="of an agent on this host or in a lab; default: the only one here, or one of a lab"
                        " that is up")
    parser.add_argument("--interval", type=float, default=1.0, metavar="S", help="default: 1 s")
    parser.add_argument("--once", action="store_true", help="one frame, also without a terminal")
    parser.add_argument("--sort", choices=SORTS, default=SORTS[0],
                        help="what comes first among the links; default: %(default)s")
    parser.add_argument("--file", type=Path, metavar="JSON", help="look at a kept dump instead"
                        " (mutirao top --json)")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    check_range("--interval", arguments.interval, 0.1, 3600)
    if arguments.file and arguments.agent:
        raise UsageError("either an agent or --file, not both")
    source = KeptDump(arguments.file) if arguments.file else find_agent(arguments.agent)
    if arguments.json:
        print_json(source.dump())
        return 0
    view = source.view()  # what is wrong with it is said on the ordinary screen
    if not arguments.once and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("top needs a terminal; --once prints one frame without")
    if arguments.once:
        print(once(view, arguments.sort))
        return 0
    try:
        with full_screen():
            watch(source, arguments.sort, arguments.interval)
    except KeyboardInterrupt:
        pass  # another way to quit
    return 0


def once(view: AgentView, sort: str = SORTS[0]) -> str:
    shown = Shown(*shutil.get_terminal_size((100, 60)), sort, keys=False)
    return "\n".join(_text(line).rstrip() for line in frame(view, Past(), shown))


@dataclass(frozen=True)
class KeptDump:
    """In the place of an agent."""

    file: Path

    def dump(self) -> dict:
        return read_json(self.file)

    def view(self) -> AgentView:
        try:
            return read_view(self.dump())
        except Failure as failure:
            raise UsageError(f"{self.file}: {failure}") from None


def _text(line: Line) -> str:
    return "".join(styled(piece.text, piece.style) for piece in line)


def draw(lines: list[Line]) -> None:
    """Over what was there, so that nothing flickers."""
    text = "\033[K\r\n".join(map(_text, lines))
    sys.stdout.write(f"\033[H{text}\033[K\033[J")
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


def watch(source: SeenAgent | KeptDump, sort: str, interval_s: float) -> None:
    past, paused, key, drawn = Past(), False, "", []
    view = source.view()
    next_look = time.monotonic() + interval_s
    while key not in ("q", "Q"):
        if key == "s":
            sort = SORTS[(SORTS.index(sort) + 1) % len(SORTS)]
        elif key == " ":
            paused = not paused
        if time.monotonic() >= next_look:
            next_look = time.monotonic() + interval_s
            if not paused:
                past.add(view)
                view = source.view()
        lines = frame(view, past, Shown(*shutil.get_terminal_size(), sort, paused=paused))
        if lines != drawn or key:
            draw(lines)
        drawn = lines
        key = key_within(min(_TICK_S, next_look - time.monotonic()))
