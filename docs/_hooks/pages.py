"""What MkDocs does not do by itself: formulas without scripts, the order of the sections, and attached methods."""

import html
import re

from latex2mathml.converter import convert

from closedchain.verbs import VERBS, function

SECTIONS = ("Tutorials", "How-to", "Theory", "Papers", "Reference", "Development")

# what pymdownx.arithmatex (generic) leaves in a page
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def on_page_markdown(markdown, page, config, files):
    """After each class of the reference, tell the methods that `closedchain.verbs` attaches to it."""
    if page.file.src_uri != "reference/api.md":
        return markdown
    known = set(re.findall(r"^::: (\S+)", markdown, re.MULTILINE))
    return re.sub(
        r"^::: \S+\.(\w+)\n    options: .*\n", lambda m: m[0] + _attached(m[1], known), markdown, flags=re.MULTILINE
    )


def _attached(kind: str, known: set[str]) -> str:
    """Methods of a class: described here, or with a link to where they are described."""
    links, blocks = [], []
    for _, method, target in (x for x in VERBS if x[0] == kind and not x[1].startswith("_")):
        name = "closedchain." + target.replace(":", ".")
        if name in known:
            said = (function(target).__doc__ or "").strip().partition("\n")[0]
            links.append(f"| [`{kind}.{method}`](#{name}) | {said} |")
        else:
            known.add(name)
            options = f'heading: "{kind}.{method}", toc_label: "{method}", heading_level: 4, show_source: false'
            blocks.append(f"::: {name}\n    options: {{ {options} }}\n")
    table = ["| method | what it does |", "|---|---|", *links, ""] if links else []
    return "\n".join(["", *table, *blocks, ""]) if links or blocks else ""


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
