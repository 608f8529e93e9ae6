"""`mutirao top`: what a host's agent sees of the network, live in the terminal."""

import os
import select
import shutil
import signal
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mutirao.agent.seen import AgentView, find_agent, read_view
from mutirao.base.errors import Failure, UsageError, check_range
from mutirao.base.output import print_json
from mutirao.base.tables import styled
from mutirao.base.user_files import read_json
from mutirao.explain.top_frame import SORTS, Line, Past, Shown, frame



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
    source = Source(arguments.agent, arguments.file)
    if arguments.json:
        print_json(source.dump())
        return 0
    view = source.view()  # what is wrong with it is said on the ordinary screen
    if not arguments.once and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("top needs a terminal; --once prints one frame without")
    past = Past()
    if arguments.once:
        past.add(view)
        size = shutil.get_terminal_size((100, 60))
        shown = Shown(size.columns, size.lines, arguments.sort, keys=False)
        print("\n".join(_text(line).rstrip() for line in frame(view, past, shown)))
        return 0
    try:
        with full_screen() as terminal:
            watch(source, terminal, past, arguments.sort, arguments.interval)
    except KeyboardInterrupt:
        pass  # another way to quit
    return 0


class Source:
    """Where frames come from."""

    def __init__(self, agent: str | None, file: Path | None):
        if file and agent:
            raise UsageError("either an agent or --file, not both")
        self._file = file
        self._agent = None if file else find_agent(agent)

    def dump(self) -> dict:
        return self._agent.dump() if self._agent else read_json(self._file)

    def view(self) -> AgentView:
        if self._agent:
            return self._agent.view()
        try:
            return read_view(self.dump())
        except Failure as failure:
            raise UsageError(f"{self._file}: {failure}") from None


def _text(line: Line) -> str:
    return "".join(styled(piece.text, piece.style) for piece in line)


class Terminal:
    """The whole screen, and keys that come without Enter."""

    def __init__(self, wakened: int):
        self._wakened = wakened

    def draw(self, lines: list[Line]) -> None:
        """Over what was there, so that nothing flickers."""
        text = "\033[K\r\n".join(map(_text, lines))
        sys.stdout.write(f"\033[H{text}\033[K\033[J")
        sys.stdout.flush()

    def key(self, seconds: float) -> str | None:
        """The next key; nothing after so long, or when the window got another size."""
        ready, _, _ = select.select([sys.stdin.fileno(), self._wakened], [], [], max(0.0, seconds))
        if self._wakened in ready:
            os.read(self._wakened, 4096)
        if sys.stdin.fileno() not in ready:
            return None
        typed = os.read(sys.stdin.fileno(), 64).decode(errors="replace")
        return typed[:1] or "q"  # the end of input ends it, too


@contextmanager
def full_screen() -> Iterator[Terminal]:
    """Whatever happens, the terminal is as it was afterwards."""
    before = termios.tcgetattr(sys.stdin)
    wakened, wake = os.pipe()
    os.set_blocking(wake, False)
    old_wake = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    old_resized = signal.signal(signal.SIGWINCH, lambda *_: None)
    # Suspended, it would leave the shell a terminal without echo.
    old_suspend = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        tty.setcbreak(sys.stdin)
        sys.stdout.write("\033[?1049h\033[?25l\033[2J")
        yield Terminal(wakened)
    finally:
        sys.stdout.write("\033[?25h\033[?1049l")
        sys.stdout.flush()
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        signal.signal(signal.SIGTSTP, old_suspend)
        signal.signal(signal.SIGWINCH, old_resized)
        signal.set_wakeup_fd(old_wake)
        os.close(wakened)
        os.close(wake)


def watch(source: Source, terminal: Terminal, past: Past, sort: str, interval_s: float) -> None:
    paused = False
    view = source.view()
    next_look = time.monotonic() + interval_s
    while True:
        size = shutil.get_terminal_size()
        terminal.draw(frame(view, past, Shown(size.columns, size.lines, sort, paused=paused)))
        key = terminal.key(next_look - time.monotonic())
        if key in ("q", "Q"):
            return
        if key == "s":
            sort = SORTS[(SORTS.index(sort) + 1) % len(SORTS)]
        elif key == " ":
            paused = not paused
        if time.monotonic() >= next_look:
            next_look = time.monotonic() + interval_s
            if not paused:
                past.add(view)
                view = source.view()
