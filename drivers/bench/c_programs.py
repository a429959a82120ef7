"""C programs that do a workload's work on one core: reference programs, compiled with gcc when the user asks."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from core.errors import UserError

SOURCES = Path(__file__).with_name("reference_programs")
FLAGS = ("-O3", "-march=native")


class Compiler:
    """Compiles reference programs into a folder that is gone afterwards; a context manager.

    Parameters
    ----------
    wanted
        Whether the user asked for reference programs.

    Attributes
    ----------
    obstacle : str
        Why there are none, in words; empty where there are.

    """

    def __init__(self, wanted: bool) -> None:
        self.path = shutil.which("gcc")
        self.obstacle = ""
        if not wanted:
            self.obstacle = "no reference programs in C: --reference-programs compiles them with gcc"
        elif self.path is None:
            self.obstacle = "no reference programs in C: they need gcc, which is not here"
        self.programs: dict[tuple[str, ...], Path] = {}
        self.folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Compiler:
        return self

    def __exit__(self, *error: object) -> None:
        if self.folder is not None:
            self.folder.cleanup()

    @property
    def room(self) -> Path:
        """The folder, which is also for the files that programs read."""
        if self.folder is None:
            self.folder = tempfile.TemporaryDirectory(prefix="onekernel-bench-")
        return Path(self.folder.name)

    def program(self, source: str, form: Sequence[str] = ()) -> Path:
        """The program of a file in `SOURCES`, compiled once, with further arguments of gcc.

        Raises
        ------
        UserError
            This gcc does not compile it.

        """
        key = (source, *form)
        if key not in self.programs:
            program = self.room / f"{Path(source).stem}_{len(self.programs)}"
            command = [str(self.path), *FLAGS, *form, str(SOURCES / source), "-o", str(program)]
            compiled = subprocess.run(command, capture_output=True, text=True)
            if compiled.returncode:
                raise UserError(f"gcc does not compile {source}: {' '.join(compiled.stderr.split())[:200]}")
            self.programs[key] = program
        return self.programs[key]

    @property
    def version(self) -> str:
        """The compiler and how it is called, for records."""
        said = subprocess.run([str(self.path), "-dumpfullversion"], check=True, capture_output=True, text=True).stdout
        return f"gcc {said.strip()} {' '.join(FLAGS)}"


def run_program(program: Path, *arguments: object) -> dict[str, str]:
    """Run a program; the values that it prints behind their names.

    Raises
    ------
    subprocess.CalledProcessError
        It refused its arguments; ``stderr`` says why.

    """
    command = [str(program), *map(str, arguments)]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return dict(zip(words[::2], words[1::2], strict=True))
