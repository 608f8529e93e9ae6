"""What studies run, what that says, and what they tell of themselves: their settings, the command that repeats them,
and what they go on without."""

import functools
import json
import os
import subprocess
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from mutirao.base.errors import Failure, UsageError, unknown
from mutirao.base.output import note
from mutirao.base.paths import BUILD
from mutirao.base.tools import ask, built
from mutirao.lab.lab import Lab
from mutirao.run.processes import Finished, argv_ending_with_us, failure_of, new_mark, run_marked


def check_known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise unknown(what, name, known)


@dataclass
class LeftOut:
    """Each with the reason, and once: what a way lacks it lacks in every situation."""

    rows: list[dict] = field(default_factory=list)

    @contextmanager
    def tried(self, title: str) -> Iterator[None]:
        """What fails in here is left out."""
        try:
            yield
        except (Failure, UsageError) as error:
            self.add(title, str(error).splitlines()[0])

    def add(self, title: str, reason: str) -> None:
        row = {"title": title, "reason": reason}
        if row not in self.rows:
            self.rows.append(row)
        note(f"{title} left out: {reason}")

    def check(self, found: object) -> None:
        """Failure where nothing is left."""
        if not found:
            raise Failure("\n".join(["nothing could be measured:", *left_out_lines({"left_out": self.rows})]))


def left_out_lines(result: dict) -> list[str]:
    return [f"{row['title']} left out: {row['reason']}" for row in result.get("left_out", ())]


def ask_studies(*words: str, **options: str) -> dict:
    """What the program mutirao-studies says."""
    program = built(BUILD / "bin" / "mutirao-studies")
    return json.loads(ask(program, [program, *words], **options))


def run_program(command: Sequence[str], environment: dict[str, str], timeout_s: float, lab: Lab | None = None,
                host: str | None = None) -> Finished:
    """Where started() says."""
    mark = new_mark()
    start = functools.partial(started, lab, command, host, env={**os.environ, **environment, **mark})
    return run_marked(start, mark, capture=True, timeout_s=timeout_s)


def started(lab: Lab | None, command: Sequence[str], host: str | None = None, **popen_arguments) -> subprocess.Popen:
    """On a host of the lab, the first unless one is named; without a lab on this one."""
    return (lab.exec(host or lab.hosts[0].name, command, **popen_arguments) if lab else
            subprocess.Popen(argv_ending_with_us(command), **popen_arguments))


def told(finished: Finished, what: str, begin: str) -> dict:
    """The one line of JSON that a program printed and that begins so."""
    if finished.returncode != 0:
        raise failure_of(finished, what)
    try:
        [line] = [line for line in finished.lines if line.startswith(begin)]
        return json.loads(line)
    except ValueError:
        raise Failure(f"{what} did not tell its times") from None


def with_settings(result: dict) -> str:
    """The MPI library of a study, and the settings that it was asked to use."""
    return ", ".join([result["mpi_title"],
                      *(f"{name}={value}" for name, value in result["settings"].items())])


def command_of(result: dict, *more: str) -> str:
    """As it is typed for the same study."""
    return " ".join([f"./mutirao study {result['study']}",
                     *([f"--mpi {','.join(result['mpis'])}"] if result["mpis"] else []),
                     *(["--quick"] if result["quick"] else []),
                     *([f"--only {','.join(result['only'])}"] if result.get("only") else []),
                     *(f"--set {name}={value}" for name, value in result.get("settings", {}).items()), *more])
