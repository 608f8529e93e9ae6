"""What a study goes on without, each with the reason."""

from collections.abc import Callable
from dataclasses import dataclass, field

from mutirao.errors import Failure
from mutirao.progress import Steps


@dataclass
class LeftOut:
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
