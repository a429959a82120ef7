"""The wheel: its content, and that all of it works outside a checkout, beside files with the packages' names."""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("core", "backends", "cluster", "drivers", "reports")
LEFT_OUT = (ROOT / "reports" / "out", ROOT / "reports" / "gallery")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed; pip install 'onekernel[test]'")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_packages_with_their_data_the_command_and_nothing_else(wheel):
    files = (path for package in (*PACKAGES, "onekernel") for path in (ROOT / package).rglob("*") if path.is_file())
    kept = {
        str(path.relative_to(ROOT))
        for path in files
        if "__pycache__" not in path.parts and not any(path.is_relative_to(folder) for folder in LEFT_OUT)
    }
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
        (entries,) = (name for name in packed.namelist() if name.endswith("entry_points.txt"))
        assert packed.read(entries).decode().split() == ["[console_scripts]", "onekernel", "=", "drivers.console:main"]
    assert names == kept
    assert {
        "reports/pages/templates/compare.md.j2",
        "reports/papers/oneil2011.toml",
        "drivers/options/common.toml",
        "core/instances/tsplib.tsv",
        "cluster/emulation/wire.c",
    } <= names
    assert {f"{package}/py.typed" for package in (*PACKAGES, "onekernel")} <= names


@pytest.fixture
def installed(wheel, tmp_path, environment):
    """Run programs in a user's folder with the wheel, and other packages from this environment."""
    site, folder = tmp_path / "site", tmp_path / "mine"
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile", "--target", site, wheel]
    subprocess.run([sys.executable, *map(str, install)], check=True, timeout=120)
    folder.mkdir()
    for name in PACKAGES:
        (folder / f"{name}.py").write_text(f"raise SystemExit('somebody imported the user's {name}.py')\n")
    shutil.copy(ROOT / "tests" / "lightest.py", folder)

    def run(*command):
        words = {"onekernel": [sys.executable, str(site / "bin" / "onekernel")], "python": [sys.executable]}
        how = {"env": environment | {"PYTHONPATH": str(site)}, "capture_output": True, "text": True, "timeout": 200}
        return subprocess.run([*words[command[0]], *command[1:]], cwd=folder, **how)

    return run


@pytest.mark.slow
def test_an_installed_wheel_works_in_any_folder(installed, tmp_path):
    paths = installed("python", "-c", "import onekernel, core; print(onekernel.__file__, core.__file__)").stdout.split()
    assert [os.path.commonpath([path, tmp_path / "site"]) for path in paths] == [str(tmp_path / "site")] * 2
    assert "cpu" in installed("onekernel", "devices").stdout
    for message, line in (
        (f"onekernel {importlib.metadata.version('onekernel')}\n", "onekernel --version"),
        ("confirmed by the scorer", "onekernel ihc --climbers 10"),
        ("lcs", "onekernel overview --busy --seconds-each 0 --workloads lcs --backends cpu --ranks"),
        ("oneil2011", "onekernel reproduce --list"),
        ("all right", "python lightest.py --check --n 8"),
        ("confirmed by the scorer", "python lightest.py --backend joblib --record runs.jsonl"),
        ("made by: python lightest.py compare", "python lightest.py compare --backends cpu --repeats 1 --ranks 2"),
        ("lightest", "onekernel report csv runs.jsonl"),
    ):
        done = installed(*line.split())
        assert done.returncode == 0 and message in done.stdout, (line, done.stdout, done.stderr)
        assert "failed" not in done.stdout, (line, done.stdout, done.stderr)
