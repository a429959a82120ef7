"""Recipes of packages and images: their lines are those of the documented installation, their versions pyproject's."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, BUILD = PYPROJECT["project"], PYPROJECT["build-system"]["requires"]
VERSION = PROJECT["version"]
yaml = pytest.importorskip("yaml")
IMAGE = (ROOT / "packaging" / "Containerfile").read_text()
APPTAINER = (ROOT / "packaging" / "apptainer.def").read_text()


def section(name):
    """The lines of a section of Apptainer's recipe."""
    return [line.strip() for line in APPTAINER.partition(f"%{name}\n")[2].partition("\n\n")[0].splitlines()]


def instructions(name):
    return [line.partition(" ")[2] for line in IMAGE.splitlines() if line.startswith(f"{name} ")]


def test_both_images_run_the_same_lines():
    left_out = " ".join(line for line in (ROOT / ".containerignore").read_text().split() if line != "**/__pycache__")
    first = ["EXTRAS={{ EXTRAS }}", f"cd {instructions('WORKDIR')[0]}", f"rm -rf {left_out}"]
    assert section("post") == [*first, *instructions("RUN")]
    assert section("environment") == [f"export {line}" for line in instructions("ENV")]
    assert section("files") == instructions("COPY")
    assert f"From: {instructions('ARG')[0].removeprefix('BASE=')}\n" in APPTAINER


def test_images_install_what_the_pages_say():
    (extras,) = section("arguments")
    assert extras in instructions("ARG")
    documented = f"pip install '.[{extras.removeprefix('EXTRAS=')}]'"
    assert documented in (ROOT / "README.md").read_text()
    assert documented in (ROOT / "docs" / "cluster-recipes.md").read_text()
    (line,) = (line for line in instructions("RUN") if "pip install" in line)
    assert line.endswith('".[${EXTRAS}]"')
    named = set(re.findall(r"EXTRAS=([a-z,]+)", IMAGE + APPTAINER))
    assert {extra for extras in named for extra in extras.split(",")} <= set(PROJECT["optional-dependencies"])


def test_the_recipe_for_conda_has_the_projects_requirements():
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "meta.yaml").read_text())
    assert recipe["package"] == {"name": PROJECT["name"], "version": VERSION}
    required = [re.sub(r"(?=[<>=])", " ", one, count=1) for one in PROJECT["dependencies"]]
    python = f"python {PROJECT['requires-python']}"
    assert recipe["requirements"]["run"] == sorted([*required, python])
    assert recipe["requirements"]["host"] == [*(one.replace(">", " >", 1) for one in BUILD), "pip", python]
    assert recipe["build"]["entry_points"] == [f"{name} = {call}" for name, call in PROJECT["scripts"].items()]


def test_the_recipe_for_spack_has_the_projects_requirements():
    recipe = (ROOT / "packaging" / "spack" / "package.py").read_text()
    assert f'version("{VERSION}")' in recipe
    named = dict(re.findall(r'depends_on\("(?:py-)?([\w-]+)@([\d.:]+)"', recipe))
    extras = [PROJECT["optional-dependencies"][extra] for extra in ("report", "mpi", "opencl")]
    wheels = [one for extra in extras for one in extra if "sys_platform" not in one]
    for one in (*PROJECT["dependencies"], *wheels, "python>=3.11,<3.15"):
        name, low, high = re.match(r"([\w-]+)>=([\d.]+)(?:,<([\d.]+))?", one).groups()
        first, colon, last = named[name].partition(":")
        *same, end = (last or first).split(".")
        above = None if colon and not last else ".".join([*same, str(int(end) + 1)])
        assert (first, above) == (low, high), name


def test_no_recipe_names_a_host_and_hooks_download_nothing():
    files = [path for path in (ROOT / "packaging").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    hooks = ROOT / ".pre-commit-config.yaml"
    for path in (*files, hooks, ROOT / "SECURITY.md", ROOT / "CODE_OF_CONDUCT.md"):
        assert not re.search(r"https?://|\b\w+\.(io|com|org|net)\b", path.read_text()), path
    assert [repo["repo"] for repo in yaml.safe_load(hooks.read_text())["repos"]] == ["local"]
