"""Names of modules and files, and counts, in pages, docstrings and data agree with the source tree."""

import pkgutil
import re
import tomllib

import pytest

from docs import pages
from drivers.experiments.presets.bench import CASES
from drivers.workload.registry import ORDER

ROOT = pages.ROOT
PACKAGES = "core|backends|cluster|drivers|reports|tests|docs|examples"
MODULE = re.compile(rf"`((?:{PACKAGES})(?:\.\w+)+)(?<!\.py)`")
PATH = re.compile(rf"`((?:{PACKAGES})/(?!out/)[\w./-]+\.(?:py|toml|md|c))\b")
NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
VALUES = dict(zip(NUMBERS, range(1, 13), strict=True))
COUNTED = re.compile(rf"\b({'|'.join(NUMBERS)}|\d+) workloads\b", re.IGNORECASE)
EXAMPLE = re.compile(r"\(\.\./examples/(\w+\.py)\)")


def sources():
    for package in PACKAGES.split("|"):
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in (".py", ".toml", ".md", ".j2") and "_build" not in path.parts:
                yield path
    yield from (
        ROOT / name for name in ("README.md", "CONTRIBUTING.md", "onekernel/__init__.py", "pyproject.toml", "Makefile")
    )


def is_there(name):
    """True for the dotted name of a module or package, or of a definition in one."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize(
    ("named", "exists"),
    [(MODULE, is_there), (PATH, lambda name: "NAME" in name or (ROOT / name).is_file())],
    ids=["modules", "files"],
)
def test_modules_and_files_that_are_named_exist(named, exists):
    texts = ((path.relative_to(ROOT), path.read_text(encoding="utf-8")) for path in sources())
    assert [f"{path}: {name}" for path, text in texts for name in named.findall(text) if not exists(name)] == []


def test_numbers_of_workloads_are_those_of_the_programs():
    titles = [(row["on"], one["title"]) for row in CASES if row["family"] == "ranks" for one in row["for"]]
    named = {(on, re.split(r"\W", title)[0]) for on, title in titles}
    assert named == {(on, name) for on in ("ranks of cores", "ranks of GPUs") for name in ORDER}
    others = ("Makefile", "drivers/overview.py", "drivers/experiments/presets/bench.py")
    paths = [*pages.pages(), *(ROOT / name for name in others)]
    said = {
        (str(path.relative_to(ROOT)), VALUES.get(count.lower()) or int(count))
        for path in paths
        for count in COUNTED.findall(path.read_text(encoding="utf-8"))
    }
    assert {path for path, _ in said} >= {"README.md", "docs/first-run.md", "Makefile", "drivers/overview.py"}
    assert {one for one in said if one[1] != len(ORDER)} == set()


def test_the_readme_begins_with_the_two_commands_that_set_everything_up_and_their_minutes():
    block, _, rest = (ROOT / "README.md").read_text(encoding="utf-8").partition("```\n")[2].partition("```\n")
    assert "overview.svg" in rest
    lines = block.splitlines()
    assert [line.split("#")[0].split() for line in lines] == [["make", "compare"], ["make", "test"]]
    assert all("minute" in line for line in lines)


def test_the_page_of_examples_has_every_program_and_says_where_it_is_explained():
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    programs = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert set(EXAMPLE.findall(page)) == programs
    explained = dict(re.findall(r"`(\w+\.py)`(?:(?!`\w+\.py`)[^()])*\[[^\]]*\]\(([\w-]+\.md)\)", page))
    assert explained
    for program, where in explained.items():
        assert f"examples/{program}" in (ROOT / "docs" / where).read_text(encoding="utf-8"), program


def test_the_page_of_the_api_has_every_name():
    import onekernel
    from core import lang

    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    own = [name for name in onekernel.__all__ if name not in lang.__all__]
    assert [name for name in own if not re.search(rf"\bonekernel\.{name}\b|function:: {name}\b|`{name}`", page)] == []


def test_the_citation_has_the_version_and_the_licence_of_the_distribution():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = dict(re.findall(r"^([\w-]+): (.+)$", citation, re.MULTILINE))
    wanted = {"cff-version": "1.2.0", "version": project["version"], "license": project["license"]}
    assert wanted.items() <= stated.items()
    assert f"## [{project['version']}] - {stated['date-released']}\n" in (ROOT / "CHANGELOG.md").read_text()
    assert [{"name": name} for name in re.findall(r'^  - name: "(.+)"$', citation, re.MULTILINE)] == project["authors"]
