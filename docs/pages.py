"""What the pages show: commands, programs, and what came out of them.

A block of `console` has commands after `$ ` and below each what it printed. `python docs/pages.py [PAGE ...]` runs them
and writes what comes out today into the pages; the tests run them too, and compare all but times and names of devices.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import sys
import tempfile
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`((?:python -m|python examples/|onekernel |make |mpirun )[^`]+)`")
PROMPT = "$ "
WRITTEN = re.compile(r"^\w+\.(jsonl|svg|csv)$")
"""Names of files that commands of the pages write."""
CHANGING = (
    (re.compile(r"\(compile [^)]*\)"), "(...)"),
    (re.compile(r"\bon (cpu|threads|joblib|opencl|cuda|python) \([^)]*\)"), r"on \1"),
    (re.compile(r"[\d.,]+ [kMGT]? ?\w+/s\b"), "RATE"),
    (re.compile(r"[\d.,]+ ?(s|ms|us|µs|min)\b"), "TIME"),
    (re.compile(r"\s+"), " "),
)
"""What differs from run to run and from machine to machine, and what stands for it in a comparison."""


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """The README and all pages of the site that are written by hand."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, without those that are directives of the site."""
    content = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(content):
        info = found["info"].strip()
        if not info.startswith("{"):
            yield Block(page, content.count("\n", 0, found.start()) + 1, info, found["text"])


def commands(block: Block) -> list[str]:
    """The commands of a block: a line each, without comments; of `console` blocks those after a prompt."""
    text = re.sub(r"\\\n\s*", " ", block.text)
    lines = [line for line in text.splitlines() if line.strip()]
    if block.language == "console":
        lines = [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]
    return [line for line in (re.sub(r"(^|\s+)#.*", "", line).strip() for line in lines) if line]


def inline_commands(page: Path) -> list[str]:
    """The commands that stand in a page's sentences."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(one.split()) for one in INLINE.findall(text)]


def printed(command: str) -> str:
    """What a command `python FILE ...` or `python -m MODULE ...` prints on standard output, run in this process.

    Files that it writes go to a folder that is removed again.

    Raises
    ------
    RuntimeError
        It ended with another exit code than 0; with what it printed.
    """
    program, *words = shlex.split(command)
    assert program == "python", command
    module = words[0] == "-m"
    name, arguments = (words[1], words[2:]) if module else (words[0], words[1:])
    folder = tempfile.TemporaryDirectory()
    arguments = [WRITTEN.sub(rf"{folder.name}/\g<0>", word) for word in arguments]
    main, argv, path, before = sys.modules["__main__"], sys.argv, [*sys.path], os.getcwd()
    out, err = io.StringIO(), io.StringIO()
    sys.modules["__main__"], sys.argv = types.ModuleType("__main__"), [name, *arguments]
    os.chdir(ROOT)
    if not module:
        sys.path.insert(0, str(Path(name).parent.resolve()))
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the module may have been imported before
            if module:
                runpy.run_module(name, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(name, run_name="__main__")
    except SystemExit as stop:
        code = stop.code
    finally:
        sys.modules["__main__"], sys.argv = main, argv
        sys.path[:] = path
        os.chdir(before)
        folder.cleanup()
    if code:
        raise RuntimeError(f"`{command}` ended with {code}: {out.getvalue()}{err.getvalue()}")
    return out.getvalue().replace(f"{ROOT}/", "")


def shown(block: Block) -> list[tuple[str, str]]:
    """The commands of a `console` block, each with what the page says that it printed."""
    parts = re.split(rf"^{re.escape(PROMPT)}(.*)\n", block.text, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def lasting(text: str) -> str:
    """What does not change from run to run."""
    for pattern, word in CHANGING:
        text = pattern.sub(word, text)
    return text.strip()


def renew(page: Path) -> None:
    """Run the `console` blocks of a page, and write what comes out into it unless times and devices alone differ."""
    content = page.read_text(encoding="utf-8")
    for block in blocks(page):
        if block.language == "console":
            os.environ["COLUMNS"] = "80"
            text = "".join(f"{PROMPT}{command}\n{printed(command)}" for command, _ in shown(block))
            if lasting(text) == lasting(block.text):
                continue
            content = content.replace(f"```console\n{block.text}```", f"```console\n{text}```")
    page.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for one in [Path(name) for name in sys.argv[1:]] or pages():
        renew(one.resolve())
