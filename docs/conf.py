"""The site: `make docs` builds it into docs/_build/html. Its source folder is the repository: links work in both.

Pages are Markdown. The gallery's reports, the kernel language and CONTRIBUTING are pages where they lie, not copies.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

project = "onekernel"
copyright = "the onekernel authors, MIT licence"  # noqa: A001
root_doc = "docs/index"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = [
    "docs/*.md",
    "docs/design/*.md",
    "docs/notebooks/*.ipynb",
    "reports/gallery/*.md",
    "core/lang/LANGUAGE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]
exclude_patterns = [".*", "docs/_build", "**/__pycache__", "build", "dist", "tests", "reports/out"]

myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3
# Notebooks are run by the tests, and shown as they lie in the repository.
nb_execution_mode = "off"

# Docstrings write code between single backticks.
default_role = "code"
highlight_language = "text"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "onekernel"
html_extra_path = ["_root"]
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False

PICTURE = re.compile(
    r'<a href="(?P<page>[^"]+)"><img src="(?P<file>[^"]+)" width="(?P<width>\d+)" alt="(?P<alt>[^"]*)"></a>'
)
"""A picture that leads to a page, of a width that Markdown of the repository's viewers cannot say."""


def picture(found: re.Match[str]) -> str:
    """The same picture in MyST, which copies the file and finds the page."""
    return f"[![{found['alt']}]({found['file']}){{width={found['width']}px}}]({found['page']})"


def mend(app: object, name: str, source: list[str]) -> None:
    """Let Sphinx see the pictures that a page has in HTML."""
    source[0] = PICTURE.sub(picture, source[0])


def setup(app: object) -> None:
    """Called by Sphinx."""
    app.connect("source-read", mend)
