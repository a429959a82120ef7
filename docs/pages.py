"""Commands, programs and outputs on the pages.

A `console` block has commands after `$ `, each followed by its output. `python docs/pages.py [PAGE ...]` runs the
commands and writes the new output into the pages. The tests run them too, and compare all but times. What is below
`<!-- reports/gallery/NAME.jsonl -->` comes from these records, see `from_records`.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import runpy
import shlex
import sys
import tempfile
import textwrap
import types
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

if TYPE_CHECKING:
    from reports.papers.measures import PaperRun
    from reports.papers.paper import Paper

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`((?:python -m|python examples/|onekernel |make |mpirun )[^`]+)`")
PROMPT = "$ "
WRITTEN = re.compile(r"^\w+\.(jsonl|svg|csv)$")
"""Names of files written by commands on the pages."""
CHANGING = (
    (re.compile(r"\(compile [^)]*\)"), "(...)"),
    (re.compile(r"[\d.,]+ [kMGT]? ?\w+/s\b"), "RATE"),
    (re.compile(r"[\d.,]+ ?(s|ms|us|µs|min)\b"), "TIME"),
    (re.compile(r"[\d,]+ moves tried"), "MOVES tried"),
    (re.compile(r"\s+"), " "),
)
"""Patterns of text that differs between runs, and its replacement before a comparison."""
GALLERY = ROOT / "reports" / "gallery"
COMPARED = re.compile(r"^(<!-- reports/gallery/readme\.jsonl -->\n```text\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
OVERVIEW = re.compile(
    r"^(<!-- reports/gallery/overview\.jsonl: (?P<names>[\w ]+?) -->\n\n)(?:[^|\n].*\n\n)?(?:\|.*\n)*", re.MULTILINE
)
WORKS = re.compile(r"^(<!-- reports/gallery: works -->\n\n)(?:\|.*\n)*", re.MULTILINE)
PAPER = re.compile(r"^(<!-- reports/gallery/(?P<name>\w+\d{4})\.jsonl -->\n\n)(?:[-\s] .+\n)*", re.MULTILINE)
CELLS = re.compile(
    r"^(<!-- reports/gallery/\*\.jsonl: seconds of one core and of a GPU\n(?P<rows>(?:.+\n)*?)-->\n\n)"
    r"(?:\|.*\n)*(?:\n?(?:The GPU is faster in|Intervals allow both answers in): (?:.+\n)*)?",
    re.MULTILINE,
)
QUOTED = re.compile(
    r"[\d.,]+ [mµ]?s(?P<comment><!-- reports/gallery/(?P<place>\w+\d{4}, [^,]+, [^:]+): (?P<column>[\w-]+) -->)"
)
DISAGREEMENTS = re.compile(r"^(<!-- reports/papers: disagreements -->\n\n)(?:[-\s] .+\n)*", re.MULTILINE)
"""Parts of a page that come from records."""
DEVICE = "your processor"
"""Name of the processor on the pages, on every machine."""


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Return the README and all hand-written pages of the site."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page, except directives of the site."""
    content = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(content):
        info = found["info"].strip()
        if not info.startswith("{"):
            yield Block(page, content.count("\n", 0, found.start()) + 1, info, found["text"])


def commands(block: Block) -> list[str]:
    """Return the commands of a block, without comments. In `console` blocks these are the lines after a prompt."""
    text = re.sub(r"\\\n\s*", " ", block.text)
    lines = [line for line in text.splitlines() if line.strip()]
    if block.language == "console":
        lines = [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]
    return [line for line in (re.sub(r"(^|\s+)#.*", "", line).strip() for line in lines) if line]


def inline_commands(page: Path) -> list[str]:
    """Return the commands in a page's sentences."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(one.split()) for one in INLINE.findall(text)]


def printed(command: str) -> str:
    """Run `python FILE ...`, `python -m MODULE ...` or `onekernel ...` in this process and return its standard output.

    Files that it writes go to a temporary folder. The processor's name is `DEVICE`.

    Raises
    ------
    RuntimeError
        The exit code is not 0. The message has the output.
    """
    from backends import kept

    program, *words = shlex.split(command)
    assert program in ("python", "onekernel"), command
    words = ["-m", program, *words] if program == "onekernel" else words
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
    kept.close_idle()  # those made before have the processor's true name
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
            mock.patch("backends.cpu_info.processor_name", lambda: DEVICE),
        ):
            warnings.simplefilter("ignore", RuntimeWarning)  # the module may have been imported before
            if module:
                runpy.run_module(name, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(name, run_name="__main__")
    except SystemExit as stop:
        code = stop.code
    finally:
        kept.close_idle()
        sys.modules["__main__"], sys.argv = main, argv
        sys.path[:] = path
        os.chdir(before)
        folder.cleanup()
    if code:
        raise RuntimeError(f"`{command}` ended with {code}: {out.getvalue()}{err.getvalue()}")
    return out.getvalue().replace(f"{ROOT}/", "")


def shown(block: Block) -> list[tuple[str, str]]:
    """Return the commands of a `console` block with their outputs on the page."""
    parts = re.split(rf"^{re.escape(PROMPT)}(.*)\n", block.text, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def lasting(text: str) -> str:
    """Replace the text that changes between runs."""
    for pattern, word in CHANGING:
        text = pattern.sub(word, text)
    return text.strip()


def outdated(gallery: Path) -> dict[Path, str]:
    """Return new texts of the pages that quote the gallery otherwise than its records say; none for another folder."""
    texts = {page: page.read_text(encoding="utf-8") for page in pages()} if gallery.resolve() == GALLERY else {}
    new = {page: from_records(text) for page, text in texts.items() if "<!-- reports/gallery" in text}
    return {page: text for page, text in new.items() if text != texts[page]}


def from_records(text: str) -> str:
    """Return a page's text with the comparison and the rows of the overview that the gallery's records say.

    A text block below `<!-- reports/gallery/readme.jsonl -->` has what `onekernel compare` prints below the proof.
    Below `<!-- reports/gallery/overview.jsonl: NAME ... -->` are the machine and the rows of these workloads on the
    first host. Below `<!-- reports/gallery/PAPER.jsonl -->` are the lines of `paper_lines`, below a list of cells is
    the table of `cell_table`, below `<!-- reports/gallery: works -->` the one of `works_of_gallery`, and below
    `<!-- reports/papers: disagreements -->` the lines of `disagreement_lines`. A time right before
    `<!-- reports/gallery/PAPER, EXHIBIT, ROW: COLUMN -->` is that of a cell. Without records nothing changes.
    """
    from reports.pages import comparison, overview
    from reports.rates import rate_sections
    from reports.records.files import load_existing
    from reports.text.formatting import machine

    paper_runs.cache_clear()  # records may have changed
    if records := load_existing(GALLERY / "readme.jsonl"):
        _, printed = "\n".join(comparison.lines(rate_sections(records))).split("\n\n", 1)
        text = COMPARED.sub(lambda found: f"{found[1]}{printed.strip()}\n", text)
    if records := load_existing(GALLERY / "overview.jsonl"):
        sections = overview.hosts(overview.overview_sections(records))[0]
        table, where = overview.overview_table(sections), machine(sections[0].proof.environment)

        def rows(found: re.Match[str]) -> str:
            kept = [row for row in table.rows if row[0].partition(",")[0] in found["names"].split()]
            return f"{found[1]}{where}:\n\n{replace(table, rows=kept)}\n"

        text = OVERVIEW.sub(rows, text)
    for pattern, name, made in ((PAPER, "name", paper_lines), (CELLS, "rows", cell_table)):
        for found in [*pattern.finditer(text)]:
            if new := "".join(made(found[name])):
                text = text.replace(found[0], found[1] + new)
    text = QUOTED.sub(quoted_cell, text)
    text = DISAGREEMENTS.sub(lambda found: found[1] + "".join(disagreement_lines()), text)
    return WORKS.sub(lambda found: found[1] + works_of_gallery(), text) if WORKS.search(text) else text


def works_of_gallery() -> str:
    """Return a table of works of the gallery: file, work, backends that did it, and the hash.

    Of each workload of a file it is the first work that one core and most backends did.
    """
    from reports.records.files import group_by, load
    from reports.text.tables import TextTable

    chosen = {}
    for path in sorted(GALLERY.glob("*.jsonl")):
        for same in group_by(load(path), lambda one: [one.workload, one.instance_sha256, one.parameters, one.seed]):
            backends = sorted({one.backend for one in same})
            asked = [
                f"{name} {value}" for name, value in same[0].details["options"].items() if name in same[0].parameters
            ]
            work = ", ".join([f"{same[0].workload} {same[0].instance}", *asked])
            place, is_of_core = (path.stem, same[0].workload), any(one.device_kind == "core" for one in same)
            if is_of_core and len(backends) > len(chosen.get(place, ("", ()))[1]):
                chosen[place] = work, backends, same[0].hash
    rows = [(file, *work) for (file, _), work in chosen.items()]
    columns = {
        "records": lambda row: row[0],
        "work": lambda row: row[1],
        "by": lambda row: ", ".join(row[2]),
        "hash": lambda row: f"`{row[3]}`",
    }
    return f"{TextTable.of('', rows, columns)}\n"


@functools.cache
def paper_runs(name: str) -> tuple[Paper, list[PaperRun]]:
    """Return a paper, and its runs in the gallery."""
    from reports.papers.cells import runs_of
    from reports.papers.files import load
    from reports.records.files import load_existing

    return (paper := load(name)), runs_of(paper, load_existing(GALLERY / f"{name}.jsonl"))


def paper_lines(name: str) -> Iterator[str]:
    """Yield the items of a list: the machine, claims that were tested with answers, the others by their verdicts."""
    from reports.pages.paper import caption, conclusion, measured_on
    from reports.papers.cells import exhibit_frame
    from reports.papers.verdicts import FAILS, HOLDS, UNDECIDED, verdict

    paper, runs = paper_runs(name)
    if not runs:
        return
    captions: dict[str, list[str]] = {}
    yield item(f"Measured on {measured_on(runs)}.")
    verdicts = [(one, verdict(one, exhibit_frame(paper, one, runs))) for one in paper.exhibits]
    for exhibit, found in sorted(verdicts, key=lambda one: one[1].verdict != HOLDS):
        name = caption(exhibit)
        if found.verdict in (HOLDS, FAILS, UNDECIDED):
            yield item(f"{name}: *{exhibit.claim.rstrip('.')}.* {conclusion(found)}")
        else:
            captions.setdefault(found.verdict, []).append(name[:1].lower() + name[1:])
    for found_verdict, names in captions.items():
        yield item(f"{found_verdict[:1].upper()}{found_verdict[1:]}: {'; '.join(names)}.")


def disagreement_lines() -> Iterator[str]:
    """Yield the items of a list: sentences of the papers that their own tables or a count contradict."""
    from reports.papers.files import load, names

    for paper in map(load, names()):
        for one in paper.disagreements:
            yield item(f"**{paper.title.partition(':')[0]}, {one.where}**: {one.says}. Found: {one.finding}.")


def item(text: str) -> str:
    """Return an item of a list in lines of a page's width; no line begins with an operator of a formula."""
    text = re.sub(r" ([-*]) ", "\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", text)
    lines = textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)
    return "- " + "\n  ".join(lines) + "\n"


def cells_of(place: str) -> dict[str, dict[str, Any]]:
    """Return the cells of `PAPER, EXHIBIT, ROW` by their columns' keys; times have their `seconds`."""
    from reports.papers.cells import exhibit_frame

    name, exhibit_name, row = place.split(", ", 2)
    paper, runs = paper_runs(name)
    exhibit = paper.chosen(*exhibit_name.split(" "))[0]
    cells = exhibit_frame(paper, exhibit, runs)
    found = cells[cells["row"] == row].set_index("column").to_dict("index")
    for key, cell in found.items():
        cell["seconds"] = cell["value"] * (1e-3 if exhibit.column(str(key)).measure == "milliseconds" else 1.0)
    return {str(key): cell for key, cell in found.items()}


def quoted_cell(found: re.Match[str]) -> str:
    """Return the time of a cell; without a record of ours, the text that was there."""
    from reports.text.formatting import seconds

    cell = cells_of(found["place"]).get(found["column"])
    return found[0] if cell is None or cell["source"] == "paper" else f"{seconds(cell['seconds'])}{found['comment']}"


def cell_table(rows: str) -> str:
    """Return a table of seconds of one core and of a GPU, from `TITLE: PAPER, EXHIBIT, ROW: CORE, GPU` in each line.

    CORE and GPU are keys of columns, of another exhibit as in `table 1/device`. A row without records of both, or
    without a GPU's, is left out. Works that the GPU does faster are a sentence below the table, and so are those with
    intervals that allow both answers.
    """
    from reports.text.formatting import number, seconds
    from reports.text.tables import TextTable

    lines: list[tuple[float, bool, bool, list[str]]] = []
    for row in rows.splitlines():
        title, place, keys = row.split(": ")
        name, exhibit_name, instance = place.split(", ", 2)
        columns = [f"{exhibit_name}/{key}".split("/")[-2:] for key in keys.split(", ")]
        core, gpu = (cells_of(f"{name}, {exhibit}, {instance}").get(key) for exhibit, key in columns)
        if core and gpu and gpu["device_kind"] == "gpu":
            times = [float(one["seconds"]) for one in (core, gpu)]
            only, ratio = "" if "/" in keys else f" --{exhibit_name}", times[0] / times[1]
            command = f"`onekernel reproduce {name}{only}`"
            line = [title, *map(seconds, times), str(gpu["device"]), number(ratio), command]
            lines.append((ratio, core["low"] / gpu["high"] > 1, core["high"] / gpu["low"] < 1, line))
    headings = ("work", ">one core", ">GPU", "device", ">GPU ×", "command")
    slower = [line for _, _, is_slower, line in sorted(lines) if is_slower]
    faster = [f"{line[0]} (×{line[4]})" for _, is_faster, _, line in lines if is_faster]
    neither = [line[0] for _, is_faster, is_slower, line in lines if not is_faster and not is_slower]
    below = f"The GPU is faster in: {'; '.join(faster)}. " * bool(faster)
    below += f"Intervals allow both answers in: {'; '.join(neither)}." * bool(neither)
    wrapped = textwrap.fill(below, 118) + "\n" if below else ""
    return "\n".join(filter(None, [f"{TextTable('', headings, slower)}\n" if slower else "", wrapped]))


def renew(page: Path) -> None:
    """Run the `console` blocks of a page. Write the output into it unless only times differ."""
    content = from_records(page.read_text(encoding="utf-8"))
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
