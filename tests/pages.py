"""HTML pages as tests read them."""

import re
from typing import NamedTuple
from xml.etree import ElementTree

_VOID = re.compile(r"<((?:meta|br|hr|img|input|link)\b[^<>]*?)/?>")
_LOADING = ("src", "href", "srcset", "data", "poster", "action", "{http://www.w3.org/1999/xlink}href")


class Page(NamedTuple):
    """Text, ids and what would be loaded."""

    text: list[str]
    ids: list[str]
    loads: list[str]
    tags: set[str]


def checked(page):
    """Every element is closed where it must be: but for HTML's void ones it is XML."""
    tree = ElementTree.fromstring(_VOID.sub(r"<\1/>", page.removeprefix("<!DOCTYPE html>")))
    elements = [(element.tag.rpartition("}")[2], element) for element in tree.iter()]
    for name, element in elements:
        if name in ("style", "pre"):
            element.text = ""
    attributes = [attribute for _, element in elements for attribute in element.items()]
    return Page(list(tree.itertext()), [value for name, value in attributes if name == "id"],
                [value for name, value in attributes if name in _LOADING and not value.startswith("data:")],
                {name for name, _ in elements})


def assert_stands_alone(page):
    """Nothing is loaded from elsewhere, and nothing runs."""
    found = checked(page)
    assert found.loads == []
    assert not found.tags & {"script", "link", "iframe", "object"}
    assert "@import" not in page
    assert re.findall(r"url\((?!#)", page) == []
    return found
