"""Prints a typed program as Python for numba, with one function call for every operation.

``add_i32(a, b)`` is one LLVM instruction (`backends.emit.llvm_operations`), so numba's own promotion to 64 bits, its
wrap-around subscripts and its division checks never appear: measured 4 % faster than casts around Python's operators.
"""

from __future__ import annotations

from backends.emit.inlining import called_once, inline_single_calls, often_copied
from backends.emit.printer import ProgramPrinter
from core.lang import tree
from core.lang.types import boolean


class NumbaPython(ProgramPrinter):
    """Common part of CPU and GPU; subclasses define the index of a lane."""

    module = ""
    extra_parameters = ""

    def __init__(self, program: tree.Program) -> None:
        super().__init__(program)
        self.words: set[str] = set()

    def word(self, name: str, *arguments: str) -> str:
        """Return the name of an operation and add it to the imports of the emitted module."""
        self.words.add(name)
        return f"{name}({', '.join(arguments)})"

    def nothing(self) -> None:
        self.line("pass")

    def source(self) -> str:
        """Return the whole module: operations, functions, kernel."""
        for function in self.program.functions:
            self.function = function
            self.definition(function)
        body = self.lines
        self.lines = []
        return "\n".join([f"from {self.module} import {', '.join(sorted(self.words))}", "", *body, ""])

    def definition(self, function: tree.TypedFunction) -> None:
        """Print one function."""
        names = ", ".join(self.name(n) for n in function.parameters)
        self.line(self.decorator(function))
        self.line(f"def {self.name(function.name)}({', '.join(filter(None, [self.extra_parameters, names]))}):")
        self.prologue(function)
        self.block(function.body)
        self.line("")

    def decorator(self, function: tree.TypedFunction) -> str:
        raise NotImplementedError

    def prologue(self, function: tree.TypedFunction) -> None:
        """Print the lines before a function's first statement."""

    # --- statements ---

    def print_Store(self, node: tree.Store) -> None:  # noqa: N802
        self.line(self.word("store", self.name(node.array), self.text(node.index), self.text(node.value)))

    def print_NewArray(self, node: tree.NewArray) -> None:  # noqa: N802
        element = node.array.element.__name__
        self.line(f"{self.name(node.name)} = {self.word(f'local_{element}', str(node.count))}")

    def print_Barrier(self, node: tree.Barrier) -> None:  # noqa: N802
        self.line(self.word("barrier"))

    def print_For(self, node: tree.For) -> None:  # noqa: N802
        kind = node.type.__name__
        count, stop, step = (self.fresh(stem) for stem in ("count", "stop", "step"))
        self.line(f"{count} = {self.text(node.start)}")
        self.line(f"{stop} = {self.text(node.stop)}")
        self.line(f"{step} = {self.text(node.step)}")
        self.line(f"while {self.word(('gt_' if node.down else 'lt_') + kind, count, stop)}:")
        self.level += 1
        self.line(f"{self.name(node.name)} = {count}")
        self.line(f"{count} = {self.word('add_' + kind, count, step)}")
        self.level -= 1
        self.block(node.body)

    # --- expressions ---

    def text_Literal(self, node: tree.Literal) -> str:  # noqa: N802
        if node.type is boolean:
            return str(bool(node.value))
        if node.type.kind == "f":
            return self.word(f"{node.type.__name__}_from_f64", number(float(node.value)))
        return self.word(f"literal_{node.type.__name__}", str(int(node.value)))

    def text_Load(self, node: tree.Load) -> str:  # noqa: N802
        return self.word("load", self.name(node.array), self.text(node.index))

    def text_Unary(self, node: tree.Unary) -> str:  # noqa: N802
        if node.op == "not":
            return f"(not {self.text(node.operand)})"
        return self.word(f"{node.op}_{node.type.__name__}", self.text(node.operand))

    def text_Binary(self, node: tree.Binary) -> str:  # noqa: N802
        return self.word(f"{node.op}_{node.type.__name__}", self.text(node.left), self.text(node.right))

    def text_Compare(self, node: tree.Compare) -> str:  # noqa: N802
        return self.word(f"{node.op}_{node.left.type.__name__}", self.text(node.left), self.text(node.right))

    def text_Select(self, node: tree.Select) -> str:  # noqa: N802
        return f"({self.text(node.yes)} if {self.text(node.test)} else {self.text(node.no)})"

    def text_Cast(self, node: tree.Cast) -> str:  # noqa: N802
        return self.word(f"{node.type.__name__}_from_{node.operand.type.__name__}", self.text(node.operand))

    def text_Intrinsic(self, node: tree.Intrinsic) -> str:  # noqa: N802
        if not node.arguments:
            return self.place(node.name)
        kind = node.arguments[0].type.__name__
        return self.word(f"{node.name}_{kind}", *(self.text(a) for a in node.arguments))

    def place(self, name: str) -> str:
        return self.word(name)

    def text_Atomic(self, node: tree.Atomic) -> str:  # noqa: N802
        values = [self.text(a) for a in node.arguments]
        return self.word(f"{node.name}_{node.type.__name__}", self.name(node.array), self.text(node.index), *values)

    def text_View(self, node: tree.View) -> str:  # noqa: N802
        return self.word("view", self.name(node.array), self.text(node.offset))

    def text_Call(self, node: tree.Call) -> str:  # noqa: N802
        extra = [self.extra_parameters] if self.extra_parameters else []
        return f"{self.name(node.function.name)}({', '.join(extra + self.arguments(node))})"


def number(value: float) -> str:
    """Return a float as text that Python reads back exactly, infinities and not-a-number included."""
    if value != value:
        return "(1e400 - 1e400)"
    return repr(value).replace("inf", "1e400")


class CpuPython(NumbaPython):
    """Teams run one after the other and have one lane: ``lane()`` is 0, a barrier does nothing."""

    module = "backends.emit.cpu_operations"
    extra_parameters = "team_rank, team_count"

    def __init__(self, program: tree.Program) -> None:
        super().__init__(inline_single_calls(program))
        self.separate = often_copied(self.program)
        self.single = called_once(self.program)

    def decorator(self, function: tree.TypedFunction) -> str:
        if function in self.separate:
            return "@" + self.word("separate_function")
        return "@" + self.word("single_function" if function in self.single else "team_function")

    def prologue(self, function: tree.TypedFunction) -> None:
        if function in self.separate:
            self.line(f"    {self.word('never_inlined')}")

    def place(self, name: str) -> str:
        return self.word("literal_i32", "0") if name == "lane" else name

    def print_Barrier(self, node: tree.Barrier) -> None:  # noqa: N802
        self.line("pass")

    def source(self) -> str:
        """Return the module, with ``entry(begin, end, team_count, slots)`` that runs a range of teams."""
        kernel = self.program.kernel
        text = super().source()
        self.words.clear()
        self.line("def entry(team_rank, end, team_count, slots):")
        self.level += 1
        for k, (name, kind) in enumerate(kernel.parameters.items()):
            is_array = isinstance(kind, tree.ArrayType)
            word = f"pointer_{kind.element.__name__}" if is_array else f"slot_{kind.__name__}"
            self.line(f"{self.name(name)} = {self.word(word, 'slots', str(k))}")
        names = ", ".join(self.name(n) for n in kernel.parameters)
        self.line(f"while {self.word('lt_i32', 'team_rank', 'end')}:")
        self.line(f"    {self.name(kernel.name)}(team_rank, team_count{', ' + names if names else ''})")
        step = self.word("add_i32", "team_rank", self.word("literal_i32", "1"))
        self.line(f"    team_rank = {step}")
        self.level -= 1
        return "\n".join([text, f"from {self.module} import {', '.join(sorted(self.words))}", "", *self.lines, ""])


WARP = 32
"""Lanes of a warp."""


class CudaPython(NumbaPython):
    """A team is a block. All shared arrays lie in the block's dynamic shared memory, one after the other."""

    module = "backends.emit.cuda_operations"

    def __init__(self, program: tree.Program) -> None:
        super().__init__(program)
        self.offset = 0

    def decorator(self, function: tree.TypedFunction) -> str:
        if function is self.program.kernel:
            return "@" + self.word("team_kernel", str(self.program.team_size))
        return "@" + self.word("team_function")

    def prologue(self, function: tree.TypedFunction) -> None:
        if function is self.program.kernel:
            for name, kind in function.parameters.items():
                if isinstance(kind, tree.ArrayType):
                    self.line(f"    {self.name(name)} = {self.word('pointer', self.name(name))}")

    def text_Load(self, node: tree.Load) -> str:  # noqa: N802
        if self.array_type(node.array).space != "readonly":
            return super().text_Load(node)
        return self.word("load_readonly", self.name(node.array), self.text(node.index))

    def print_Barrier(self, node: tree.Barrier) -> None:  # noqa: N802
        self.line(self.word("warp_barrier" if self.program.team_size <= WARP else "barrier"))

    def print_NewArray(self, node: tree.NewArray) -> None:  # noqa: N802
        if node.array.space == "local":
            super().print_NewArray(node)
            return
        word = self.word(f"shared_{node.array.element.__name__}", str(self.offset), str(node.count))
        self.line(f"{self.name(node.name)} = {word}")
        self.offset += tree.padded(node)


class SimulatorPython(CudaPython):
    """`CudaPython` with plain functions as operations, for numba's CUDA simulator."""

    module = "backends.emit.simulator_operations"

    def prologue(self, function: tree.TypedFunction) -> None:
        super().prologue(function)
        if function is self.program.kernel:
            for name, kind in function.parameters.items():
                if not isinstance(kind, tree.ArrayType):
                    self.line(f"    {self.name(name)} = {self.word('literal_' + kind.__name__, self.name(name))}")
