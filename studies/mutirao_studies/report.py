"""The studies of the four papers as one HTML page that stands alone: each study's own page, one after another."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from mutirao import __version__
from mutirao.base.user_files import write_file
from mutirao.pages.html import warnings, whole_page
from mutirao_studies.document import STYLE

FILE = "report.html"
_HEADING = "Four papers, measured anew"
# Of each paper what its studies ask, in the order in which they run.
PAPERS = {"000": "broadcast and spanning trees between sites", "001": "which allgather is picked",
          "002": "what the layer below costs", "003": "is it the language?"}


@dataclass(frozen=True)
class Part:
    """A study's page, or why there is none."""

    study: str
    paper: str
    page: Path | None
    reason: str = ""


def write_report(parts: Sequence[Part], made: str, folder: Path) -> Path:
    missing = [f"{part.study} left out: {part.reason}" for part in parts if part.page is None]
    whole = [part for part in parts if part.page is not None]
    contents = "\n".join(f"<li>paper {paper}, {escape(asks)}: {links}</li>" for paper, asks in PAPERS.items()
                         if (links := _links(part for part in whole if part.paper == paper)))
    bodies = "\n".join(f'<article id="{escape(part.study)}">{_body(part.page)}</article>'
                       for part in whole)
    return write_file(folder / FILE, whole_page(_HEADING, f"""<header>
<h1>{_HEADING}</h1>
<p class="soft">mutirao {escape(__version__)}, {escape(made)}. Each part has its command, its machine and versions,
what differs from the paper's set-up, and all that was measured.</p>
</header>
{warnings(missing)}<nav><ul>
{contents}
</ul></nav>
{bodies}
""", STYLE))


def _links(parts: Iterable[Part]) -> str:
    return ", ".join(f'<a href="#{escape(part.study)}">{escape(part.study)}</a>' for part in parts)


def _body(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("<body>")[2].rpartition("</body>")[0]
