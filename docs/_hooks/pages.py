"""Two small things MkDocs does not do by itself: formulas without scripts, and the order of the sections."""

import html
import re

from latex2mathml.converter import convert

SECTIONS = ("Tutorials", "How-to", "Theory", "Papers", "Reference", "Development")

# what pymdownx.arithmatex (generic) leaves in a page
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def on_page_content(content, page, config, files):
    """Replace each formula by MathML, which browsers draw themselves."""
    content = DISPLAY.sub(lambda m: f'<div class="formula">{_mathml(m[1], "block")}</div>', content)
    return INLINE.sub(lambda m: _mathml(m[1], "inline"), content)


def _mathml(latex: str, display: str) -> str:
    return convert(html.unescape(latex).strip(), display=display)


def on_nav(nav, config, files):
    """Put the kinds of pages in the order in which a newcomer meets them; other pages keep their place."""
    for item in nav.items:
        if item.is_section:
            item.title = {"How to": "How-to"}.get(item.title, item.title)
    nav.items.sort(key=_place)
    return nav


def _place(item) -> int:
    if getattr(item, "is_homepage", False):
        return -1
    return SECTIONS.index(item.title) if item.is_section and item.title in SECTIONS else len(SECTIONS)
