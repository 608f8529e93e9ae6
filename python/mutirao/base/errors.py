"""The two ways a command ends badly, and how a wrong name is answered.

Everything a person can type wrong ends in one line that names it and the nearest valid names
(exit code 2); everything that goes wrong while working ends in one line too (exit code 1).
"""

import difflib
import math
from collections.abc import Iterable


class UsageError(Exception):
    """What was asked for does not exist or is out of range: exit code 2."""


class Failure(Exception):
    """What was asked for is valid but could not be done: exit code 1."""


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """The end of an error line: "; did you mean A or B?", or nothing where no name is near."""
    by_folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(wanted.casefold(), by_folded, n=2, cutoff=0.5)
    if not near:
        return ""
    return f"; did you mean {' or '.join(by_folded[name] for name in near)}?"


def unknown(what: str, wanted: str, names: Iterable[str], beside: str = "") -> UsageError:
    """A name that is none of those known; `beside` says what else would do."""
    names = list(names)
    return UsageError(f"unknown {what} '{wanted}'{did_you_mean(wanted, names)}"
                      f" (known: {', '.join(names)}{beside})")


def what_is_odd(error: Exception) -> str:
    """Of a file, by the error of who read it as another kind."""
    return f"it has no {error}" if isinstance(error, KeyError) else "what is in it is of another kind"


def check_range(what: str, value: float | None, least: float, most: float = math.inf) -> None:
    """None: nothing was asked for."""
    if value is not None and not least <= value <= most:
        wanted = f"at least {least:g}" if most == math.inf else f"from {least:g} to {most:.10g}"
        raise UsageError(f"{what} must be {wanted}, not {value:g}")
