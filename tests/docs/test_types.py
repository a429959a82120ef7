"""Programs of the README, the pages and examples/ are right for mypy, which sees wrong ones."""

import shutil
import subprocess
import sys

import pytest

from docs import pages

pytestmark = pytest.mark.slow
EXAMPLES = sorted((pages.ROOT / "examples").glob("*.py"))
PROBLEM = (pages.ROOT / "examples" / "partition.py").read_text()
# A line of the program of partitions, another in its place, and the error.
FAULTS = [
    ("total += data.numbers[p]", "total += data.numbres[p]", '"Numbers" has no attribute "numbres"'),
    ("flipped(bits, p, move)", "flipped(bits, move, p)", 'incompatible type "Move"; expected "int"'),
    ("Numbers(self.numbers, n)", "Numbers(self.numbers)", 'Missing positional argument "n"'),
    ("value = difference", "value = 3", 'base class "Problem" defined the type as "Function | None"'),
    ("ok.main(Partition)", "print(ok.check(Partition()).coast)", '"Checked" has no attribute "coast"'),
]


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    pytest.importorskip("mypy")
    cache = tmp_path_factory.mktemp("cache")

    def run(folder):
        options = ["--config-file", "", "--check-untyped-defs", "--ignore-missing-imports", "--cache-dir", str(cache)]
        files = [path.name for path in folder.glob("*.py")]
        command = [sys.executable, "-m", "mypy", *options, *files]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200).stdout

    return run


def test_programs_of_pages_and_examples_have_no_error(mypy, tmp_path):
    for path in EXAMPLES:
        shutil.copy(path, tmp_path)
    blocks = [block for page in pages.pages() for block in pages.blocks(page) if block.language == "python"]
    for block in blocks:
        (tmp_path / f"{block.page.stem}_{block.line}.py").write_text(block.text)
    assert blocks and EXAMPLES
    said = mypy(tmp_path)
    assert said.startswith("Success"), said


def test_wrong_programs_have_errors(mypy, tmp_path):
    for number, (line, wrong, _) in enumerate(FAULTS):
        assert line in PROBLEM
        (tmp_path / f"wrong{number}.py").write_text(PROBLEM.replace(line, wrong))
    said = mypy(tmp_path)
    for number, (_, wrong, error) in enumerate(FAULTS):
        lines = [line for line in said.splitlines() if line.startswith(f"wrong{number}.py")]
        assert any(error in line for line in lines), (wrong, said)
