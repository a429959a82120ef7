"""Random kernels for teams of many lanes, as source text: bundles, shared arrays, barriers, atomics and collectives.

They have no races by construction. An array is in one mode from one barrier to the next: every lane reads and writes
separate slots, or all lanes read, or all lanes apply atomics, in any order with the same result. Only values that are
the same for all lanes of a team (`uniform`) decide which barriers are reached. No value is an error of the language:
unsigned numbers wrap around, divisors are odd, indices are remainders.
"""

from __future__ import annotations

from contextlib import contextmanager

from tests.core.lang.lane_values import FLOATS, NUMBERS, SIGNED, STORED, UNSIGNED, Place, Values

TEAM_SIZES = (2, 3, 4, 5, 7, 8, 16, 32)
FIELD_NAMES = ("cells", "min", "lane", "T_", "a_b", "count", "team_size", "weights", "row", "scratch", "value", "i")
MOST_LOCALS, MOST_SHARED = 64, 4 * 80
"""Numbers that every lane, and elements of shared arrays that every team, writes at its end."""

HEADER = """
from core.lang import *
from core.lang.library import team_argmin, team_max, team_min, team_sum, random_below
T = Generic("T")
D = Generic("D")
SIZES = (3, 5, 2)

@function
def element(a: Array[T], i: i32) -> T:
    return a[i]

@function
def first(a: Array[T]) -> T:
    return a[0]

@function
def put(a: Array[T], i: i32, value: T):
    a[i] = value

@function
def neighbour(value: T, scratch: Array[T], by: i32) -> T:
    scratch[lane()] = value
    barrier()
    found = scratch[(lane() + by) % team_size()]
    barrier()
    return found

@function
def prefix(value: T, scratch: Array[T]) -> T:
    total = value
    scratch[lane()] = total
    barrier()
    step = 1
    while step < team_size():
        more = T(0)
        if lane() >= step:
            more = scratch[lane() - step]
        barrier()
        total = T(total + more)
        scratch[lane()] = total
        barrier()
        step *= 2
    return total

@function
def mixed_in(a: Array[T], i: i32, value: T):
    seen = atomic_cas(a, i, T(0), T(0))
    while True:
        before = atomic_cas(a, i, seen, seen ^ value)
        if before == seen:
            break
        seen = before
"""


def indented(lines):
    return [f"    {line}" for line in lines]


def into(kind):
    return "real" if kind in FLOATS else "whole"


def stored(value, kind):
    return f"f64({value})" if kind in FLOATS else f"u64({value})"


class Lanes(Values):
    """One kernel as it is being drawn from a seed.

    ``phases`` is their number in the kernel's body, and blocks of one phase or two may be inside. `source` is a
    module's text, `teams` and `team_size` are the shape of the launch, `rows` is the number of rows in the bundle
    `Walk`.
    """

    def __init__(self, seed: int, phases: int = 6) -> None:
        super().__init__(seed)
        self.seed = seed
        self.teams, self.team_size = self.draw.randint(1, 3), self.pick(*TEAM_SIZES)
        self.rows = 2 * self.teams + self.draw.randint(0, 2)
        self.width = self.draw.randint(1, 2 * self.team_size + 3)
        self.fixed: set[str] = set()
        classes = self.bundles()
        self.shared = [
            Place("s.a", self.pick(*UNSIGNED), "team_size()"),
            Place("s.b", self.pick(*NUMBERS), "9"),
            Place("c", self.pick(*STORED), "2 * team_size() + 1"),
            Place("d", self.pick(*SIGNED), "3"),
        ]
        self.source = HEADER + classes + "\n".join(self.kernel(phases)) + "\n"

    # --- what a kernel is given ---

    def bundles(self) -> str:
        """The classes of a launch: numbers and tables (`Facts`), rows of a team each (`Walk`)."""
        number, bound, table, *rows = self.draw.sample(FIELD_NAMES, 6)
        self.number_kind, self.table_kind = self.pick(*NUMBERS), self.pick(*STORED)
        self.row_kinds = [self.pick(*STORED), self.pick(*NUMBERS), self.pick(*UNSIGNED)]
        self.row_names = rows
        self.same |= {f"facts.inner.{number}": self.number_kind, f"facts.{bound}": "i32"}
        self.table, self.constants = Place(f"facts.{table}", self.table_kind, "11"), Place("constants", "u32", "16")
        texts, lengths = (f"one.{rows[0]}", f"one.{rows[1]}", f"one.inner.{rows[2]}"), ("one.n", "one.n", "4")
        self.row_places = [*map(Place, texts, self.row_kinds, lengths)]
        constant = self.pick("Const[i32]", "i32")
        return f"""
@bundle
class Inner:
    {number}: {self.number_kind}
    flag: boolean

@bundle
class Facts:
    {bound}: {constant}
    {table}: Array[{self.table_kind}]
    inner: Inner

@bundle
class Part:
    {rows[2]}: Array[{self.row_kinds[2]}] = Row(4)

@bundle
class Base:
    {rows[0]}: Array[{self.row_kinds[0]}] = Row("n")
    n: i32

@bundle
class Walk(Base):
    {rows[1]}: Array[{self.row_kinds[1]}] = Row("n")
    inner: Part

@bundle
class Shared:
    a: Array[T]
    b: Array[D]
    width: i32

@function
def of_row(one: Base, i: i32) -> {self.row_kinds[0]}:
    return one.{rows[0]}[i]

@function
def of_facts(facts: D, i: i32) -> {self.table_kind}:
    return facts.{table}[(i & 1023) % 11]

@function
def into_row(one: Walk, i: i32, value: {self.row_kinds[1]}):
    one.{rows[1]}[i] = value

"""

    def kernel(self, phases: int) -> list[str]:
        a, b, c, d = self.shared
        table = self.pick("Array[u32]", "Table(u32, 'shared', 16)", "Table(u32, 'readonly')")
        lines = [
            "@kernel",
            f"def run(rows: Rows[Walk], facts: Facts, constants: {table}, teams: i32, given: u64,",
            "        added: Array[u64], least: Array[i32], most: Array[u32], mixed: Array[u64], ticket: Array[i32],",
            "        whole: Array[u64], real: Array[f64]):",
            f"    s = Shared(shared_array(team_size(), {a.kind}), shared_array({b.length}, {b.kind}), 9)",
            f"    c = shared_array({c.length}, {c.kind})",
            f"    d = shared_array({d.length}, {d.kind})",
            *(f"    scratch_{kind} = shared_array(team_size(), {kind})" for kind in NUMBERS),
            "    one = rows[team_rank()]",
        ]
        for place in self.shared:
            lines.append(f"    for i in range(lane(), {place.length}, team_size()):")
            lines.append(f"        {place.text}[i] = {place.kind}(i + 1)")
        lines += [*indented(self.phases(phases, 2 if phases > 4 else 1)), "    barrier()"]
        names = [name for name in self.same | self.own if "." not in name]
        for k, name in enumerate(names[-MOST_LOCALS:]):
            kind = (self.same | self.own)[name]
            lines.append(
                f"    {into(kind)}[(team_rank() * team_size() + lane()) * {MOST_LOCALS} + {k}] = {stored(name, kind)}"
            )
        for k, place in enumerate(self.shared):
            at = f"(team_count() * team_size()) * {MOST_LOCALS} + team_rank() * {MOST_SHARED} + {k} * {MOST_SHARED // 4} + i"
            lines.append(f"    for i in range(lane(), {place.length}, team_size()):")
            lines.append(f"        {into(place.kind)}[{at}] = {stored(f'{place.text}[i]', place.kind)}")
        return lines

    # --- statements of a whole team ---

    @contextmanager
    def inside(self):
        same, own = dict(self.same), dict(self.own)
        yield
        self.same, self.own = same, own

    def phases(self, count: int, depth: int) -> list[str]:
        lines = []
        for _ in range(count):
            lines += ["barrier()", *self.phase(depth)]
        return lines

    def phase(self, depth: int) -> list[str]:
        """Statements between two barriers, and before them the mode of each array."""
        for place in [*self.shared, *self.row_places]:
            atomics = () if place.kind not in (*SIGNED, *UNSIGNED) else ("add", "min", "max")
            atomics += ("mix",) if place.kind in UNSIGNED else ()
            self.modes[place] = (
                self.pick(*atomics) if atomics and self.draw.random() < 0.3 else self.pick("own", "read", "read")
            )
        blocks = (self.branches, self.counted, self.repeated, self.other_row) if depth else ()
        return self.pick(self.lanes, self.lanes, self.lanes, self.collective, self.collective, *blocks)(depth)

    def lanes(self, depth: int) -> list[str]:
        return [line for _ in range(self.draw.randint(1, 4)) for line in self.statement(2)]

    def other_row(self, depth: int) -> list[str]:
        return [self.pick("one = rows[team_rank()]", "one = rows[team_rank() + team_count()]"), *self.phases(1, 0)]

    def branches(self, depth: int) -> list[str]:
        self.read_only()
        test = self.name("test")
        lines = [f"{test} = {self.truth(2, True)}"]
        for head in (f"if {test}:", "else:"):
            with self.inside():
                lines += [head, *indented(self.phases(self.draw.randint(1, 2), depth - 1))]
        return lines

    def counted(self, depth: int) -> list[str]:
        steps = self.pick("range(2)", "range(3)", "unroll(len(SIZES))", "set_bits(given & 0x8000000000000011)")
        with self.inside():
            name = self.counter(self.same)
            return [f"for {name} in {steps}:", *indented(self.phases(1, depth - 1))]

    def repeated(self, depth: int) -> list[str]:
        with self.inside():
            name = self.counter(self.same)
            body = [f"{name} += 1", *self.phases(1, depth - 1), "barrier()"]
            self.read_only()
            body += [f"if {self.truth(1, True)}:", "    break"]
            return [f"{name} = 0", f"while {name} < {self.pick(2, 3)}:", *indented(body)]

    def counter(self, known: dict[str, str]) -> str:
        name = self.name("k")
        known[name] = "i32"
        self.fixed.add(name)
        return name

    def read_only(self):
        self.modes = dict.fromkeys(self.modes, "read")

    def collective(self, depth: int) -> list[str]:
        self.read_only()
        word, name, more = self.pick("sum", "min", "max", "argmin", "neighbour", "prefix"), self.name(), ""
        kind = self.pick(*NUMBERS) if word in ("min", "max", "neighbour") else self.pick(*UNSIGNED, *FLOATS)
        value = self.value("i32" if word == "argmin" else kind, 2)
        if word == "argmin":
            kind, more = "u64", "u32(lane() * 3 % 5), "
        by = f", {self.draw.randint(0, 9)}" if word == "neighbour" else ""
        (self.own if word in ("neighbour", "prefix") else self.same)[name] = kind
        self.fixed.add(name)
        function = word if word in ("neighbour", "prefix") else f"team_{word}"
        return [f"{name} = {function}({value}, {more}scratch_{kind}{by})"]

    # --- statements of one lane ---

    def statement(self, depth: int) -> list[str]:
        blocks = (self.if_of_lane, self.for_of_lane) if depth else ()
        return self.pick(
            self.local, self.local, self.store, self.store, self.store, self.on_global, self.update, *blocks
        )(depth)

    def local(self, depth: int) -> list[str]:
        name, kind = self.name(), self.pick(*NUMBERS)
        line = f"{name} = {self.value(kind, 3)}"
        self.own[name] = kind
        return [line]

    def update(self, depth: int) -> list[str]:
        free = [name for name in self.own if name not in self.fixed]
        if not free:
            return self.local(depth)
        name = self.pick(*free)
        return [f"{name} = {self.value(self.own[name], 3)}"]

    def if_of_lane(self, depth: int) -> list[str]:
        lines = []
        for head in (f"if {self.truth(2, False)}:", "else:"):
            with self.inside():
                lines += [head, *indented(self.statement(depth - 1) + self.statement(depth - 1))]
        return lines

    def for_of_lane(self, depth: int) -> list[str]:
        with self.inside():
            name = self.counter(self.own)
            leave = [f"if {self.truth(1, False)}:", f"    {self.pick('break', 'continue')}"]
            steps = self.pick("3", "lane() & 3", "4, 0, -2")
            return [f"for {name} in range({steps}):", *indented(leave + self.statement(depth - 1))]

    def store(self, depth: int) -> list[str]:
        """A store to slots of this lane alone, or an atomic on any slot."""
        own = [place for place, mode in self.modes.items() if mode == "own"]
        atomics = [place for place, mode in self.modes.items() if mode not in ("own", "read")]
        if atomics and (not own or self.pick(True, False)):
            place = self.pick(*atomics)
            mode, index, value = self.modes[place], self.index(place.length, 2), self.value(place.kind, 2)
            if mode in ("min", "max"):
                # Intel's compiler of 2026 returns 0 for a later `~x` if `x`, the same for all lanes, is a value here.
                value = f"({value} ^ {place.kind}(lane()))"
            return [f"{'mixed_in' if mode == 'mix' else f'atomic_{mode}'}({place.text}, {index}, {value})"]
        if not own:
            return self.on_global(depth)
        place = self.pick(*own)
        with self.inside():
            name = self.counter(self.own)
            wide = place.kind if place.kind in FLOATS else self.pick(*SIGNED, *UNSIGNED)
            value = f"{place.kind}({self.pick(f'{place.text}[{name}]', self.value(wide, 2), self.value(wide, 2))})"
            line = self.pick(f"{place.text}[{name}] = {value}", f"put({place.text}, {name}, {value})")
            if place == self.row_places[1]:
                line = f"into_row(one, {name}, {value})"
            return [f"for {name} in range(lane(), {place.length}, team_size()):", f"    {line}"]

    def on_global(self, depth: int) -> list[str]:
        """An atomic that lanes of all teams make on the same arrays."""
        where, name = self.index("4", 1), self.name("o")
        lines = {
            "added": [f"atomic_add(added, {where}, {self.value('u64', 2)})"],
            "least": [f"atomic_min(least, {where}, {self.value('i32', 2)})"],
            "most": [f"atomic_max(most, {where}, {self.value('u32', 2)})"],
            "mixed": [f"mixed_in(mixed, {where}, {self.value('u64', 2)})"],
            # Every lane has another number; the sum of their squares is the same in any order.
            "ticket": [f"{name} = atomic_add(ticket, 0, 1)", f"atomic_add(added, 4, u64({name}) * u64({name}))"],
            # One lane finds a 0, whichever it is.
            "winner": [
                f"{name} = atomic_cas(ticket, {1 + self.fresh % 7}, 0, 1)",
                f"if {name} == 0:",
                "    atomic_add(added, 5, 1)",
            ],
        }
        return self.pick(*lines.values())
