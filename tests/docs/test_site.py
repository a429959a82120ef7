"""The site builds without warnings and without a network. Its pictures are those of their program."""

import json
import re
import shutil
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


@pytest.mark.slow
def test_the_search_knows_words_of_the_glossary_and_the_sidebar_names_papers(site):
    index = json.loads((site / "searchindex.js").read_text().removeprefix("Search.setIndex(").removesuffix(")"))
    assert {"barrier", "team", "hash"} <= index["indexentries"].keys()
    assert index["docnames"][index["indexentries"]["barrier"][0][0]] == "docs/glossary"
    sidebar = (site / "docs" / "faq.html").read_text().partition('class="sidebar-tree"')[2].partition("</aside>")[0]
    papers = sorted(path.stem for path in (pages.ROOT / "reports" / "papers").glob("*.toml"))
    assert len(papers) == 5 and all(f"reports/gallery/{paper}.html" in sidebar for paper in papers)


PROBE = """<script>addEventListener("load", () => {
  const root = document.documentElement
  parent.postMessage([location.pathname, innerWidth, root.scrollWidth - root.clientWidth], "*")
})</script></body>"""
COLLECT = """<pre></pre>{}<script>addEventListener("message", event => {{
  document.querySelector("pre").textContent += JSON.stringify(event.data) + "\\n"
}})</script>"""
SHOWN = ("docs/index", "docs/platforms", "docs/api", "core/lang/LANGUAGE", "reports/gallery/oneil2011")
WIDTHS = (390, 1320, 1366, 1440, 1920)


@pytest.mark.long  # on a busy host the browser leaves some frames out
def test_no_page_scrolls_sideways_at_usual_widths(site):
    """Five pages in frames of these widths. A screenshot of them is in the folder of the site."""
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("there is no chromium (Debian: chromium)")
    for name in SHOWN:
        page = site / f"{name}.html"
        page.with_name(f"{page.stem}-probe.html").write_text(page.read_text().replace("</body>", PROBE))
    frames = [
        f'<iframe src="{name}-probe.html" width="{width}" height="800"></iframe>' for name in SHOWN for width in WIDTHS
    ]
    (site / "frames.html").write_text(COLLECT.format("".join(frames)))
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=2000,20000", "--dump-dom"]
    options += [f"--user-data-dir={site.parent / 'profile'}", f"--screenshot={site.parent / 'pages.png'}"]
    command = [browser, *options, "--virtual-time-budget=30000", (site / "frames.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    found = [json.loads(line) for line in re.findall(r'^(?:.*<pre>)?(\[".*\])$', done.stdout, re.MULTILINE)]
    assert len(found) == len(frames), done.stderr[-2000:]
    assert [one for one in found if one[2] > 0] == []


@pytest.mark.parametrize("name", draw.PICTURES)
def test_a_picture_is_what_its_program_draws(name):
    assert (pages.ROOT / "docs" / "pictures" / f"{name}.svg").read_text() == draw.PICTURES[name]().svg
