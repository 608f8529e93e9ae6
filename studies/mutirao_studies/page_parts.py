"""What the pages of studies are made of beside what all pages are, and how they reach the disk."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from mutirao.base.errors import UsageError
from mutirao.base.tables import Table
from mutirao.base.user_files import why
from mutirao.pages.html import Page, listed, section, soft, wide_table, written


def write_files(page: Page, folder: Path) -> list[Path]:
    """The page of a study and its raw values, named after it."""
    path = folder / f"{page.values['study']}.html"
    return [written(path, str(page)),
            written(path.with_suffix(".json"), json.dumps(page.values, indent=2) + "\n")]


def how_made(result: dict, *more: str) -> str:
    """As HTML; `more`: what else there is to say of how it was measured."""
    machine = result["machine"]
    return escape("; ".join([
        f"mutirao {result['mutirao']}, {result['made']}, {machine['processors']} processors,"
        f" {machine['system']}", *filter(None, more), f"it took {result['seconds']} s"]))


def left_out_lines(result: dict) -> list[str]:
    return [f"{row['title']} left out: {row['reason']}" for row in result["left_out"]]


def beside_paper(citation: str, differences: Sequence[str], *more: str) -> str:
    """The section that says what keeps a paper's numbers and ours apart; `more` is HTML."""
    return section("What can be compared, and what cannot", f"<p>{escape(citation)}</p>",
                   listed(differences), *more)


def titled_table(shown: Table) -> str:
    """One of the terminal's."""
    title = soft(shown.title.replace("\n", " ")) if shown.title else ""
    return title + wide_table(shown.columns, shown.rows)


def make_folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is no folder")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be made: {why(error)}") from None
