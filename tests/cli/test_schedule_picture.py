"""The picture of a schedule, by what can be counted and measured in it."""

import re
from xml.etree import ElementTree

import pytest

from mutirao.catalogue.schedule_picture import hops_of, picture, worth_drawing

SVG = "{http://www.w3.org/2000/svg}"


def shown(messages, done_us, title="broadcast/flat", host_of=None, stuck=False):
    return {"title": title, "ranks": len(done_us), "host_of": host_of or list(range(len(done_us))),
            "rank_complete_us": done_us, "predicted_us": None if stuck else max(done_us),
            "messages": [{"from": a, "to": b, "start_us": start, "arrive_us": end, "length_bytes": 8}
                         for a, b, start, end in messages]}


def drawn(*given, **more):
    return ElementTree.fromstring(picture(shown(*given, **more)))


def texts(tree):
    return [element.text for element in tree.iter(f"{SVG}text")]


def lengths(tree):
    """Of the arrows, in px."""
    lines = [group.find(f"{SVG}line") for group in tree.iter(f"{SVG}g")]
    return [float(line.get("x2")) - float(line.get("x1")) for line in lines]


FLAT = [(0, 1, 0, 1000), (0, 3, 0, 1000), (0, 2, 0, 4000)]


def test_an_arrow_for_each_message_at_its_time():
    tree = drawn(FLAT, [4000, 1000, 4000, 1000])
    first, second, slow = lengths(tree)
    assert slow == pytest.approx(4 * first, abs=1) and second == pytest.approx(first, abs=0.2)
    titles = [group.find(f"{SVG}title").text for group in tree.iter(f"{SVG}g")]
    assert "0 to 2: 8 B, 0.000 to 4.000 ms" in titles


def test_hops_are_counted_and_the_root_is_marked():
    binomial = [(0, 4, 0, 1), (0, 2, 0, 1), (4, 6, 1, 2), (0, 1, 1, 2), (6, 7, 2, 3)]
    tree = drawn(binomial, [3.0] * 8)
    assert [text for text in texts(tree) if text.endswith(("hop", "hops"))] == ["1 hop", "2 hops", "3 hops"]
    assert texts(tree).count("root") == 1
    exchange = [(0, 1, 0, 1), (1, 0, 0, 1)]
    assert "root" not in texts(drawn(exchange, [1.0, 1.0]))


def test_hops_grow_only_by_what_had_arrived():
    messages = shown([(0, 1, 0, 10), (1, 2, 5, 15), (1, 3, 10, 20)], [0] * 4)["messages"]
    assert hops_of(messages, 4) == [1, 1, 2]


def test_ranks_stand_by_their_hosts():
    tree = drawn([(0, rank, 0, 1) for rank in range(1, 5)], [1.0] * 5, host_of=[0, 1, 0, 1, 0])
    labels = {float(element.get("y")): element.text for element in tree.iter(f"{SVG}text")
              if re.fullmatch(r"(host \d, )?\d", element.text) and element.get("text-anchor") == "end"}
    assert [labels[y] for y in sorted(labels)] == ["host 0, 0", "2", "4", "host 1, 1", "3"]


def test_a_title_is_only_text():
    assert "a < b & \"c\"" in texts(drawn(FLAT, [1.0] * 4, title="a < b & \"c\""))


def test_only_what_stays_readable_is_drawn():
    chain = [(rank, rank + 1, part, part + rank + 1) for part in range(1000) for rank in range(4)]
    tree = drawn(sorted(chain, key=lambda each: each[3]), [1003.0] * 5)
    assert len(lengths(tree)) == 8  # the first and the last of each pair
    assert any("4000 messages" in text and "drawn: 8 messages" in text for text in texts(tree))
    wide = shown([(0, rank, 0, rank) for rank in range(1, 3000)], [1.0] * 3000)["messages"]
    assert 1000 <= len(worth_drawing(wide)) <= 2000


def test_what_never_happens_is_said():
    tree = drawn(FLAT[:2], [None, 1000, None, 1000], stuck=True)
    assert texts(tree).count("never") == 2 and any("stuck" in text for text in texts(tree))


def test_nothing_is_still_a_picture():
    assert lengths(drawn([], [0.0])) == []
    assert "nan" not in picture(shown([], [0.0]))


def test_two_pictures_share_a_page():
    """Their arrow heads have names of their own."""
    one, other = (set(re.findall(r'id="([^"]+)"', picture(shown(FLAT, [1.0] * 4, title=title)))) for title in "ab")
    assert one and not one & other
