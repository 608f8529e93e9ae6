"""Jobs one after the other, as long measurements need them: launchers fail now and then, so each is tried twice; what
cannot be measured is said once, and left out from then on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mutirao.base.errors import Failure
from mutirao.base.progress import Steps, steps
from mutirao.lab.lab import Lab
from mutirao.measure.measure import Contender, Measurement, Workload, check_taken_part, measure, tried_twice
from mutirao.measure.words import Place


@dataclass
class Campaign:
    ranks: int
    lab: Lab | None
    progress: Steps  # a step is a point of a workload
    timeout_s: float | None = None  # of a job
    failures: list[dict] = field(default_factory=list)

    def measure(self, contender: Contender, workload: Workload, when: str = "", forced: bool = False,
                needed: bool = False) -> Measurement | None:
        """None: it cannot be measured; what is needed fails instead. `forced`: nothing else may have run."""
        end = self.progress.done + workload.points
        try:
            if any(_names(contender).items() <= failure.items() for failure in self.failures):
                return None
            self.progress.begin(", ".join(filter(None, (contender.title, when))))
            done = tried_twice(lambda: self._measure(contender, workload, forced))
        except Failure as failure:
            if needed:
                raise
            self.progress.say(f"left out: {failure}")
            self.failures.append({**_names(contender), "reason": str(failure).removeprefix(f"{contender.title}: ")})
            return None
        finally:
            self.progress.advance(end - self.progress.done)
        if done.overruns:
            self.progress.say(f"the lab's router was too slow for {done.overruns} packets: measure again on a machine"
                              " with less to do")
        return done

    def _measure(self, contender: Contender, workload: Workload, forced: bool) -> Measurement:
        done = measure(contender, (workload,), self.ranks, self.lab, lambda _point: self.progress.advance(),
                       self.timeout_s)
        if forced:
            check_taken_part(done)
        return done


@contextmanager
def campaign_in(place: Place, points: int, timeout_s: float | None = None) -> Iterator[Campaign]:
    with place.up() as lab, steps(points) as progress:
        yield Campaign(place.ranks, lab, progress, timeout_s)


def _names(contender: Contender) -> dict[str, str]:
    return {"collective": contender.collective, "mpi": contender.mpi.name, "name": contender.name}
