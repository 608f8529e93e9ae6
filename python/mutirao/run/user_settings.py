"""The library's settings as the user gives them: environment, mutirao.toml, --set. The later wins.

Each setting is checked by itself, so that an error line can name its place, and then all together.
"""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from mutirao.base.errors import UsageError
from mutirao.base.user_files import check_writable, read_text
from mutirao.catalogue import core_tool
from mutirao.run.launch import PREFIX

# What sites and their module files set for any package; no settings. The library passes over them, too
# (src/mpi/base/runtime.cpp).
OF_A_SITE = ("HOME", "ROOT", "DIR", "VERSION", "LAUNCH", "RENDEZVOUS")
_FILE = Path("mutirao.toml")  # of the current folder
_FILES = ("report", "series", "profile")
_NO_FILES = (("profile", "auto"), ("profile", "off"))


def gather_settings(assignments: Sequence[str]) -> dict[str, str]:
    """All settings given, checked, by name."""
    return {name: value for name, (value, _) in settings_given(assignments).items()}


def settings_given(assignments: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The same with their places: "environment", the file, or "command line"."""
    given = {}
    for values, place, where in (
        (_from_environment(), "environment", lambda name: f"environment {PREFIX}{name.upper()}: "),
        (_from_file(_FILE), str(_FILE), lambda name: f"{_FILE}, {name}: "),
        (_from_assignments(assignments), "command line", lambda name: ""),
    ):
        for name, value in values.items():
            try:
                core_tool.check_settings({name: value})
            except UsageError as error:
                raise UsageError(f"{where(name)}{error}") from None
            given[name] = value, place
    core_tool.check_settings({name: value for name, (value, _) in given.items()}, tell=False)
    return given


def add_settings(parser, but: str = "") -> None:
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="assignments",
                        help=f"a setting (mutirao show settings lists them){but}")


def with_files(settings: Mapping[str, str]) -> dict[str, str]:
    """With whole paths, since ranks may start in another folder; of files that can be written, before a job runs that
    would do so only at its end."""
    files = {name: os.path.abspath(settings[name]) for name in _FILES
             if settings.get(name) and (name, settings[name]) not in _NO_FILES}
    for name, file in files.items():
        check_writable(name, Path(file))
    return {**settings, **files}


def checked_settings(assignments: Sequence[str]) -> dict[str, str]:
    """Those of --set alone, by name."""
    given = _from_assignments(assignments)
    core_tool.check_settings(given)
    return given


def _from_environment() -> dict[str, str]:
    return {name.removeprefix(PREFIX).lower(): value for name, value in os.environ.items()
            if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in OF_A_SITE}


def _from_file(file: Path) -> dict[str, str]:
    if not file.exists():
        return {}
    try:
        values = tomllib.loads(read_text(file))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(_said_of_toml(file, str(error))) from None
    return {name: _as_text(name, value, file) for name, value in values.items()}


def _said_of_toml(file: Path, error: str) -> str:
    """Words without quotes are what people get wrong."""
    place = re.search(r"line (\d+)", error)
    line = file.read_text().splitlines()[int(place[1]) - 1].strip() if place else ""
    found = re.fullmatch(r"(\w+)\s*=\s*([^\s\"'\[{#][^\"'#]*?)\s*(#.*)?", line)
    if found:
        return f'{file}, line {place[1]}: text stands in quotes: {found[1]} = "{found[2]}"'
    return f"{file}: {error}"


def _as_text(name: str, value: object, file: Path) -> str:
    """TOML's own booleans and numbers, as the settings spell them."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (int, str)):
        return str(value)
    raise UsageError(f"{file}, {name}: a setting is a string, a whole number, true or false")


def _from_assignments(assignments: Sequence[str]) -> dict[str, str]:
    values = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise UsageError(f"--set takes NAME=VALUE, not '{assignment}'")
        if name.startswith(PREFIX):
            raise UsageError(f"--set {name}: {PREFIX} is for the environment; did you mean"
                             f" {name.removeprefix(PREFIX).lower()}?")
        values[name] = value
    return values
