"""Links of the README and the pages have existing targets."""

import re
from urllib.parse import unquote

import pytest

from docs import pages

LINK = re.compile(r"!?\[[^\]]*\]\((?P<to>[^)\s]+)\)|src=\"(?P<picture>[^\"]+)\"|href=\"(?P<page>[^\"]+)\"")
DIRECTIVE = re.compile(r"^```\{(?:image|literalinclude|include)\} (?P<to>\S+)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
OUTSIDE = re.compile(r"^(https?|mailto):")
FOLDERS = ("docs/design", "reports/gallery")
OTHERS = [page for folder in FOLDERS for page in sorted((pages.ROOT / folder).glob("*.md"))]
PAGES = [*pages.pages(), pages.ROOT / "CONTRIBUTING.md", *OTHERS]


def targets(page):
    text = page.read_text(encoding="utf-8")
    places = [one["to"] for one in DIRECTIVE.finditer(text)]
    places += [one["to"] or one["picture"] or one["page"] for one in LINK.finditer(FENCE.sub("", text))]
    return [place for place in places if not OUTSIDE.match(place)]


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(pages.ROOT)) for page in PAGES])
def test_no_link_is_dead(page):
    for target in targets(page):
        name, _, anchor = target.partition("#")
        path = page.parent / unquote(name) if name else page
        assert path.exists(), f"{page.relative_to(pages.ROOT)} links to {target}"
        if anchor:
            assert anchor in anchors(path), f"{page.relative_to(pages.ROOT)} links to {target}"
