"""What `mutirao compare` says of programs whose difference is known, and whose runs scatter."""

import json
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from mutirao.base.errors import Failure
from mutirao.base.paths import ROOT
from mutirao.base.progress import steps
from mutirao_studies.bars.bar import MPIS, Bar, Finding, at_least, at_most

PROGRAM = ROOT / "bench" / "noisy.py"
DIFFERENCE, DEVIATION, RUNS = 0.05, 0.02, 8
FOUND, OF_DIFFERENT, FALSE, OF_ALIKE = 9, 10, 1, 20
_SECONDS = 1.5
_AT_A_TIME = 3  # they sleep
_MOST_SECONDS = 300


def bars(_commit_hash: str) -> list[Bar]:
    return [Bar("compare", f"what compare says of runs that scatter by {DEVIATION:.0%}", 6, _compared)]


def _compared() -> list[Finding]:
    asked = [DIFFERENCE] * OF_DIFFERENT + [0.0] * OF_ALIKE
    with steps(len(asked)) as progress, ThreadPoolExecutor(_AT_A_TIME) as pool:
        verdicts = []
        progress.begin(f"comparisons of {2 * RUNS} runs each")
        for verdict in pool.map(_verdict, asked):
            verdicts.append(verdict)
            progress.advance()
    return findings(verdicts[:OF_DIFFERENT], verdicts[OF_DIFFERENT:])


def findings(of_different: Iterable[str], of_alike: Iterable[str]) -> list[Finding]:
    found, wrong = sum(word == "faster" for word in of_different), sum(word != "as fast as" for word in of_alike)
    return [at_least(FOUND, f"a difference of {DIFFERENCE:.0%} found, of {OF_DIFFERENT} comparisons,", found),
            at_most(FALSE, f"a difference that is none, of {OF_ALIKE},", wrong)]


def _verdict(difference: float) -> str:
    argv = [str(ROOT / "mutirao"), "compare", "--json", "-n", "1", "--mpi", MPIS[0], "--runs", str(RUNS), "--",
            sys.executable, str(PROGRAM), str(_SECONDS), str(DEVIATION), str(difference)]
    finished = subprocess.run(argv, capture_output=True, text=True, timeout=_MOST_SECONDS, check=False)
    if finished.returncode != 0:
        raise Failure(f"mutirao compare: {finished.stderr.strip()}")
    return json.loads(finished.stdout)["verdict"]
