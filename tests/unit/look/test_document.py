"""The frame of a page: complete HTML, with what is given in its place."""

from html.parser import HTMLParser

import closedchain as cc
from closedchain.look.document import document


class Reader(HTMLParser):
    """Tags in order, and those that are open."""

    def __init__(self):
        super().__init__()
        self.tags, self.open = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_is_complete():
    text = document(
        "four-bar &amp; more", "p { color: red; }", ["<p>one</p>", "<p>two</p>"], ["<script>go();</script>"]
    )
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert reader.tags == ["html", "head", "meta", "meta", "title", "style", "body", "h1", "p", "p", "p", "script"]
    assert text.startswith("<!DOCTYPE html>\n") and text.endswith("</html>\n")
    assert text.count("four-bar &amp; more") == 2 and f"closedchain {cc.__version__}" in text
