"""Separate virtual environments of packages, in the user's cache.

So no requirement of a package can conflict with the suite's or with another package's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import IO

from backends.cache import unusable
from core.errors import UserError
from core.instances.folders import cache_folder

NUMPY = "numpy>=1.26,<3"
"""Requirement of `drivers.peers.child`, which imports no other package besides the solver's."""

PIP = ("pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1")


@dataclass(frozen=True)
class PeerEnvironment:
    """The environment of a package, shared by all solvers in it.

    Parameters
    ----------
    requirement : str
        Package and versions, as pip takes them.
    """

    requirement: str

    @property
    def package(self) -> str:
        return re.split(r"[^\w.-]", self.requirement)[0]

    @property
    def folder(self) -> Path:
        return cache_folder().absolute() / "peers" / self.package

    def find(self) -> tuple[str, str] | None:
        """Return the interpreter and the package's version; None if a version that is required is not installed."""
        python, complete = self.folder / "bin" / "python", self.folder / self.requirement
        if unusable(str(self.folder.parent)) or not (python.exists() and complete.exists()):
            return None
        places = [str(folder) for folder in self.folder.glob("lib/python*/site-packages")]
        return next(((str(python), one.version) for one in distributions(name=self.package, path=places)), None)

    def install(self) -> bool:
        """Install the package by pip; return False if it is installed already.

        Of a failed installation nothing is left; one that was killed starts over. Raises `UserError` with the last
        error of pip.
        """
        from filelock import lock_descriptor  # no child process has it

        if not hasattr(os, "fork"):
            raise UserError(f"{self.requirement}: environments of other solvers need a Unix system")
        if obstacle := unusable(str(self.folder.parent)):
            raise UserError(f"{obstacle}: expected a folder for {self.package}; set ONEKERNEL_CACHE to a private one")
        with self.folder.with_suffix(".lock").open("w") as lock:
            lock_descriptor(lock.fileno())
            if self.find():
                return False
            try:
                self._run(lock, sys.executable, "venv", "--clear", str(self.folder))
                self._run(lock, str(self.folder / "bin" / "python"), *PIP, self.requirement, NUMPY)
                (self.folder / self.requirement).touch()  # last, so that an environment with this file is complete
            except BaseException:
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
        return True

    def _run(self, lock: IO[str], python: str, *module: str) -> None:
        """Run a module in isolation. It holds the lock too, since it may outlive this process."""
        done = subprocess.run([python, "-I", "-m", *module], capture_output=True, text=True, pass_fds=[lock.fileno()])
        if done.returncode:
            lines = re.findall("^ERROR: (.*)", done.stderr, re.MULTILINE) or (done.stderr or done.stdout).splitlines()
            unreached = "; pip did not reach the package index" if "connection broken" in done.stderr else ""
            raise UserError(f"{self.requirement}: not installed: {lines[-1] if lines else done.returncode}{unreached}")
