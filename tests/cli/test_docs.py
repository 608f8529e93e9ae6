"""The generated pages are what the tables say today."""

import pytest

from mutirao.core_tool import ask
from mutirao.paths import ROOT


@pytest.mark.parametrize("table,page", [("settings", "settings"), ("algorithms", "catalogue")])
def test_page_is_current(table, page):
    assert (ROOT / "docs" / f"{page}.md").read_text() == ask("markdown", table), (
        f"run: build/bin/mutirao-core markdown {table} > docs/{page}.md")
