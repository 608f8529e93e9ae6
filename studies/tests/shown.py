"""What a study shows, on the terminal and as a page."""

from mutirao_studies.document import page_of, text_of
from pages import assert_stands_alone


def shown(document, *both, in_text=(), in_page=()):
    """The lines of the terminal, none too long for it, and the page, which stands alone; the words are there."""
    text, page = text_of(document), str(page_of(document))
    assert [line for line in text.splitlines() if len(line) > 80] == []
    read = " ".join(assert_stands_alone(page).text)
    for words in (*both, *in_text):
        assert words in text
    for words in (*both, *in_page):
        assert words in read
    return text.splitlines(), page
