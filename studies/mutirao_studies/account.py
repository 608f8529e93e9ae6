"""What a study tells of itself: its settings, the command that repeats it, and what it goes on without."""

from collections.abc import Callable
from dataclasses import dataclass, field

from mutirao.base.errors import Failure
from mutirao.base.progress import Steps


@dataclass
class LeftOut:
    """Each with the reason."""

    rows: list[dict] = field(default_factory=list)

    def tried(self, title: str, progress: Steps, work: Callable[[], list[dict]]) -> list[dict]:
        try:
            return work()
        except Failure as error:
            self.add(title, str(error).splitlines()[0], progress)
            return []

    def add(self, title: str, reason: str, progress: Steps) -> None:
        self.rows.append({"title": title, "reason": reason})
        progress.say(f"{title} skipped: {reason}")


def with_settings(result: dict) -> str:
    """The MPI library of a study, and the settings that it was asked to use."""
    return ", ".join([result["mpi_title"],
                      *(f"{name}={value}" for name, value in result["settings"].items())])


def command_of(result: dict) -> str:
    """As it is typed for the same study."""
    return " ".join([f"./mutirao study {result['study']} --mpi {','.join(result['mpis'])}",
                     *(["--quick"] if result["quick"] else []),
                     *(f"--set {name}={value}" for name, value in result.get("settings", {}).items())])
