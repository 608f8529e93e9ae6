"""HTML pages as tests read them."""

import re
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}
LOADING = ("src", "href", "srcset", "data", "poster", "action", "xlink:href")


class Checker(HTMLParser):
    """Every element is closed where it must be; collects text, ids and what would be loaded."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.ids, self.loads, self.tags = [], [], [], [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in LOADING:
                self.loads.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "pre"):
            self.text.append(data)


def checked(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


def assert_stands_alone(page):
    """Nothing is loaded from elsewhere, and nothing runs."""
    checker = checked(page)
    assert checker.loads == []
    assert not checker.tags & {"script", "link", "iframe", "object", "img"}
    assert "@import" not in page
    assert re.findall(r"url\((?!#)", page) == []
    return checker
