"""Durations of tests: `make durations` writes `durations.json`, from which `test_durations.py` checks the tiers."""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

FILE = Path(__file__).with_suffix(".json")
NAMED_FROM_S = 0.5
TIERS = ("quick", "slow", "long")
COLLECTED = pytest.StashKey[dict[str, str]]()


def tier(item):
    """Tier of a test by its marks: `make test` runs "quick", `make test-all` also "slow", `make test-long` all."""
    return next((name for name in ("long", "slow") if item.get_closest_marker(name)), "quick")


class Durations:
    """A plugin of pytest that writes the duration of each test of a run, its fixtures included.

    The file has for each tier the sum of each module's tests in seconds, over all workers, and each test of
    `NAMED_FROM_S` or more. Tiers that did not run keep their figures.
    """

    def __init__(self, file=FILE):
        self.file, self.tests = file, {}

    def pytest_runtest_setup(self, item):
        item.user_properties.append(("tier", tier(item)))

    def pytest_runtest_logreport(self, report):
        # Behind an "@" is the group of tests that one worker runs.
        at = report.nodeid.rfind("@")
        test = report.nodeid[:at] if at > report.nodeid.rfind("]") else report.nodeid
        _, before = self.tests.get(test, (None, 0.0))
        self.tests[test] = dict(report.user_properties).get("tier", "quick"), before + report.duration

    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workeroutput"):
            return
        kept = json.loads(self.file.read_text()) if self.file.exists() else {}
        content = kept | {
            name: table(self.tests, name) for name in TIERS if any(name == one for one, _ in self.tests.values())
        }
        content["cores"] = len(os.sched_getaffinity(0))
        self.file.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


def table(tests, name):
    """Figures of one tier, in seconds: ``{"modules": {path: sum}, "tests": {test: seconds}}``."""
    modules = defaultdict(float)
    for test, (of, seconds) in tests.items():
        if of == name:
            modules[test.partition("::")[0]] += seconds
    named = {test: seconds for test, (of, seconds) in tests.items() if of == name and seconds >= NAMED_FROM_S}
    return {"modules": rounded(modules), "tests": rounded(named)}


def rounded(seconds):
    return {name: round(value, 2) for name, value in seconds.items()}
