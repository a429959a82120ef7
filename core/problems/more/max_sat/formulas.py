"""Clauses with weights, of which as many as possible are to be satisfied (MAX-SAT): files and a generator.

The text format is that of the second DIMACS challenge (1993), ``p cnf``, with the weights of the MAX-SAT evaluations
(2006 to 2021), ``p wcnf``. SATLIB's files (Hoos and Stutzle 2000) end with an additional line, which is left out.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence

import numpy as np

from core.arguments import frozen
from core.problems.instances.errors import InstanceError, errors_at
from core.problems.instances.files import instance_name
from core.problems.instances.limits import LARGEST_COST
from core.problems.instances.random_words import random_words
from core.problems.instances.readers import InstanceFormat, InstanceReader
from core.problems.instances.specifications import SEED, Quantity, parse_specification
from core.problems.instances.tokens import lines_of, parse_integer, quoted

MOST_VARIABLES = 65_535
"""Largest number of variables: the most bits of a solution."""
MOST_CLAUSES = 10_000_000

_SIZE = Quantity("variables", 1, MOST_VARIABLES)
_OPTIONS = (Quantity("ratio", 0, 1000, "4.2", decimals=6), Quantity("length", 1, 100, "3"), SEED)

_HEADER = re.compile(r"p\s+(w?cnf)\s+([0-9]{1,19})\s+([0-9]{1,19})(?:\s+[0-9]{1,19})?")


class SatInstance:
    """Clauses of any length over Boolean variables; an unsatisfied clause costs its weight.

    Parameters
    ----------
    variables : int, 1 to 65,535
    clauses : sequence of sequences of int
        The literals of each clause: v for variable v, counted from 1, and -v for its negation. A repeated
        literal counts once, and a clause with both v and -v is dropped, since it is always satisfied.
    weights : sequence of int, optional
        Weights of the clauses, from 1 on; by default all are 1.
    source : str
        Origin of the instance.

    Attributes
    ----------
    literals : ndarray, int32
        Those of all clauses one after another: 2 v for variable v, here counted from 0, and 2 v + 1 for its negation.
    starts : ndarray, shape (number of clauses + 1,), int32
        Begin of each clause among them, then the end of the last one.
    weights : ndarray, shape (number of clauses,), int32
    sha256 : str
        Digest of the content: equal for files that differ in white space, comments or name only.

    Raises
    ------
    InstanceError
        A literal of no variable, a clause without literals, no clauses, or weights beyond 31 bits.
    """

    def __init__(
        self,
        name: str,
        variables: int,
        clauses: Sequence[Sequence[int]],
        weights: Sequence[int] | None = None,
        source: str = "given by the caller",
    ) -> None:
        self.name, self.source = name, source
        if not 1 <= variables <= MOST_VARIABLES:
            raise InstanceError(name, None, f"{variables} variables", f"1 to {MOST_VARIABLES}")
        self.variables = variables
        if weights is not None and len(weights) != len(clauses):
            raise InstanceError(name, None, f"{len(weights)} weights for {len(clauses)} clauses", "one for each")
        literals: list[int] = []
        starts, costs = [0], []
        for place, clause in enumerate(clauses):
            once = dict.fromkeys(map(int, clause))
            self._check(clause, once)
            if not any(-literal in once for literal in once):
                literals.extend(2 * abs(literal) - 2 + (literal < 0) for literal in once)
                starts.append(len(literals))
                costs.append(1 if weights is None else int(weights[place]))
        if not costs:
            raise InstanceError(name, None, "no clause that can be violated", "at least one")
        if min(costs) < 1 or sum(costs) > LARGEST_COST:
            fault = f"weights from {min(costs)} on that sum up to {sum(costs)}"
            raise InstanceError(name, None, fault, f"1 or more, and at most {LARGEST_COST}, as costs have 32 bits")
        self.literals, self.starts, self.weights = (frozen(each, np.int32) for each in (literals, starts, costs))
        content = hashlib.sha256(f"MAX-SAT {variables} {len(costs)}\n".encode())
        for array in (self.literals, self.starts, self.weights):
            content.update(array.astype("<i4").tobytes())
        self.sha256 = content.hexdigest()

    def __repr__(self) -> str:
        return f"SatInstance({self.name!r}, variables={self.variables}, clauses={len(self.weights)})"

    def _check(self, clause: Sequence[int], once: dict[int, None]) -> None:
        if not once:
            raise InstanceError(self.name, None, "a clause without literals", "at least one literal in each")
        for literal in once:
            if not 1 <= abs(literal) <= self.variables:
                expected = f"1 to {self.variables}, or the same with a minus sign"
                raise InstanceError(self.name, None, f"literal {literal} in {quoted(str(list(clause)))}", expected)


def clauses_by_variable(instance: SatInstance) -> tuple[np.ndarray, np.ndarray]:
    """Return the clauses of each variable.

    ``clauses``, int32, has 2 c for clause c, or 2 c + 1 if the variable is negated, of all variables one after another;
    ``firsts``, int32 of shape (variables + 1,), has the begin of each variable's clauses, then the end of the last
    ones.
    """
    by_variable = np.argsort(instance.literals >> 1, kind="stable")
    owners = np.repeat(np.arange(len(instance.weights), dtype=np.int32), np.diff(instance.starts))
    uses = np.bincount(instance.literals >> 1, minlength=instance.variables)
    clauses = 2 * owners[by_variable] + (instance.literals[by_variable] & 1)
    return clauses, np.concatenate([[0], np.cumsum(uses)]).astype(np.int32)


def variables_by_variable(instance: SatInstance) -> tuple[np.ndarray, np.ndarray]:
    """Return the variables that share a clause with each variable, itself included, and where those of each begin."""
    n, of_literals = instance.variables, (instance.literals >> 1).astype(np.int64)
    sizes = np.diff(instance.starts)
    partners = np.repeat(sizes, sizes)
    ends = np.cumsum(partners, dtype=np.int64)
    places = np.arange(ends[-1]) - np.repeat(ends - partners, partners)
    others = of_literals[np.repeat(np.repeat(instance.starts[:-1], sizes), partners) + places]
    pairs = np.unique(np.concatenate([np.repeat(of_literals, partners) * n + others, np.arange(n) * (n + 1)]))
    starts = np.searchsorted(pairs, np.arange(n + 1) * n)
    return frozen(pairs % n, np.int32), frozen(starts, np.int32)


def generate(spec: str) -> SatInstance:
    """Return the random formula of a specification random:VARIABLES[:ratio=DECIMAL][:length=INTEGER][:seed=INTEGER].

    Each clause has ``length`` (3) different variables, each negated or not with probability 1/2; there are ``ratio``
    (4.2) times as many clauses as variables, rounded down. All in integers, so that a specification always gives the
    same formula. Raises `InstanceError` if it is malformed or out of range.
    """
    name, (n, ratio, k, seed) = parse_specification(spec, [_SIZE], _OPTIONS)
    m = int(ratio * n)
    if k > n:
        raise InstanceError(spec, None, f"clauses of {k} different variables", f"at most {n}, as there are no more")
    words = random_words(seed, 0, m * k).reshape(m, k)
    chosen = np.empty((m, 0), np.int64)
    for column in range(k):
        # the number of one of those that this clause does not have yet
        drawn = ((words[:, column] >> np.uint64(32)) * np.uint64(n - column) >> np.uint64(32)).astype(np.int64)
        for earlier in np.sort(chosen, axis=1).T:
            drawn += drawn >= earlier
        chosen = np.column_stack([chosen, drawn])
    negated = (words & np.uint64(1)).astype(np.int64)
    clauses = (chosen + 1) * (1 - 2 * negated)
    return SatInstance(name, n, clauses.tolist(), source="generated from its name")


def parse(text: str, path: str | os.PathLike = "text") -> SatInstance:
    """Return the instance of a DIMACS text: "p cnf VARIABLES CLAUSES", then each clause's literals and a 0.

    In "p wcnf VARIABLES CLAUSES [TOP]" each clause begins with its weight; a clause that must be satisfied has the
    weight TOP there, and in the instance. Lines that begin with c are comments; a line that begins with % ends the
    text. ``path`` names the text in errors, and the instance. Raises `InstanceError` with path, line, the value found
    and the value expected.
    """
    rows = _rows(text)
    line, header = next(rows, (1, ""))
    matched = _HEADER.fullmatch(header)
    if matched is None:
        expected = "'p cnf VARIABLES CLAUSES' or 'p wcnf VARIABLES CLAUSES [TOP]'"
        raise InstanceError(path, line, quoted(header) if header else "an empty file", expected)
    n = parse_integer(path, line, matched[2], "number of variables", 1, MOST_VARIABLES)
    m = parse_integer(path, line, matched[3], "number of clauses", 1, MOST_CLAUSES)
    clauses: list[list[int]] = []
    weights: list[int] = []
    weighted = matched[1] == "wcnf"
    clause: list[int] = []
    weight = 0 if weighted else 1  # 0: it is yet to be read
    for line, row in rows:
        for token in row.split():
            if len(clauses) == m:
                raise InstanceError(path, line, f"{quoted(token)} after them", f"{m} clauses")
            if not weight:
                weight = parse_integer(path, line, token, "weight", 1, LARGEST_COST)
                continue
            literal = parse_integer(path, line, token, "literal", -n, n)
            if literal:
                clause.append(literal)
                continue
            if not clause:
                raise InstanceError(path, line, "a clause without literals", "at least one literal in each")
            clauses.append(clause)
            weights.append(weight)
            clause, weight = [], 0 if weighted else 1
    if len(clauses) < m:
        within = " and a part of one" if clause or weighted and weight else ""
        raise InstanceError(path, line, f"the end after {len(clauses)} clauses{within}", f"{m} clauses, each up to a 0")
    name = instance_name(path, r"\.w?cnf")
    with errors_at(path):
        return SatInstance(name, n, clauses, weights, f"file {os.fspath(path)}")


def _rows(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines without comments and empty ones, up to the first that begins with %."""
    for line, row in enumerate(lines_of(text), 1):
        row = row.strip()
        if row.startswith("%"):
            return
        if row and not row.startswith("c"):
            yield line, row


READER = InstanceReader(
    InstanceFormat("a DIMACS file", (".cnf", ".wcnf", ".cnf.gz", ".wcnf.gz"), parse),
    expected="a file, the name of an instance, or a generator such as random:50:ratio=4.2:seed=1",
    subfolders=("", "satlib"),
    specification=re.compile("random:.*", re.DOTALL),
    generate=generate,
)
"""Files such as uf20-01; "random:50:ratio=4.2:seed=1"."""
load = READER.load
