"""The site builds without warnings and without a network. Its pictures are those of their program."""

import subprocess
import sys

import pytest

from docs import pages
from docs.pictures import draw


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx", reason="the site's tools are not installed: pip install 'onekernel[docs]'")
    pytest.importorskip("furo")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-b", "html"]
    command += ["-d", str(folder / "kept"), "-c", "docs", ".", str(folder / "site")]
    built = subprocess.run(command, cwd=pages.ROOT, capture_output=True, text=True)
    assert (built.returncode, built.stderr) == (0, "")
    return folder / "site"


@pytest.mark.slow
def test_every_page_is_built_and_asks_for_nothing_elsewhere(site):
    """Styles, scripts, fonts and pictures come from the site."""
    for page in (pages.ROOT / "docs").glob("**/*.md"):
        assert (site / page.relative_to(pages.ROOT)).with_suffix(".html").is_file()
    for other in ("core/lang/LANGUAGE", "reports/gallery/oneil2011", "CONTRIBUTING", "docs/notebooks/speed-up"):
        assert (site / f"{other}.html").is_file()
    assert "docs/index.html" in (site / "index.html").read_text()
    for page in site.glob("docs/*.html"):
        text = page.read_text(encoding="utf-8")
        for attribute in ('src="http', 'src="//', 'rel="stylesheet" href="http', "@import"):
            assert attribute not in text, (page, attribute)
    text = (site / "docs" / "api.html").read_text(encoding="utf-8")  # with the docstrings
    for name in ("minimize</span>", "compare</span>", "Problem</span>", "TabuSearch</span>", "Parameters"):
        assert name in text, name


@pytest.mark.parametrize("name", draw.PICTURES)
def test_a_picture_is_what_its_program_draws(name):
    assert (pages.ROOT / "docs" / "pictures" / f"{name}.svg").read_text() == draw.PICTURES[name]().svg
