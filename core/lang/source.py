"""Kernels and functions as the user wrote them: decorators, source text, signature, and errors that point at a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from core.errors import UserError
from core.lang.types import SCALARS, Array, Const, Generic, boolean

if TYPE_CHECKING:
    import ast


class KernelError(UserError):
    """The kernel language refuses something: ``file:line: function: what, and what to write instead``."""


class Source:
    """A Python function written in the kernel language; call it, and it runs as the plain Python that it is."""

    is_kernel = False

    def __init__(self, python: Any) -> None:
        self.python = python
        self.name: str = python.__name__
        self.path: str = python.__code__.co_filename
        self.first_line: int = python.__code__.co_firstlineno
        self.__doc__ = python.__doc__
        self.__module__ = python.__module__
        self._signature: dict[str, Any] | None = None
        self._node: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Run the function as the plain Python that it is."""
        return self.python(*arguments)

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.__module__}.{self.name}>"

    def refuse(self, node: Any, what: str) -> NoReturn:
        """Raise a `KernelError` that points at ``node``."""
        line = getattr(node, "lineno", self.first_line)
        raise KernelError(f"{self.path}:{line}: {self.name}: {what}")

    @property
    def node(self) -> ast.FunctionDef:
        """The function's syntax tree, with the line numbers of its file."""
        if self._node is None:
            self._node = _functions(self.path).get((self.first_line, self.name))
            if self._node is None:
                self.refuse(None, "its source text cannot be found; define it in a file")
        return self._node

    def lookup(self, name: str) -> Any:
        """What a free name of the function means, or None."""
        code, cells = self.python.__code__, self.python.__closure__ or ()
        for free, cell in zip(code.co_freevars, cells, strict=True):
            if free == name:
                return cell.cell_contents
        return self.python.__globals__.get(name)

    def annotation(self, node: Any, owner: Any) -> Any:
        """Evaluate a parameter's or the result's annotation."""
        import ast

        if node is None:
            self.refuse(owner, "has no annotation; write a type such as i32, Array[u32] or Const[i32]")
        names = {n.id: self.lookup(n.id) for n in ast.walk(node) if isinstance(n, ast.Name)}
        code = ast.Expression(ast.copy_location(node, node))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.refuse(node, f"annotation {node.value!r}; write the type without quotes")
        try:
            found = eval(compile(code, self.path, "eval"), {**names, "__builtins__": {}})
        except (TypeError, AttributeError, NameError) as error:
            self.refuse(node, f"annotation {ast.unparse(node)} is not a type of the kernel language ({error})")
        inner = found.element if isinstance(found, Array) else found.scalar if isinstance(found, Const) else found
        known = inner in SCALARS or isinstance(inner, Generic) or (inner is boolean and isinstance(found, Const))
        if not known:
            self.refuse(node, f"annotation {ast.unparse(node)} is not a type of the kernel language")
        return found

    @property
    def signature(self) -> dict[str, Any]:
        """Parameter names and their annotations, in order; the key ``return`` holds the result's."""
        if self._signature is None:
            import ast

            arguments = self.node.args
            if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
                self.refuse(self.node, "has starred or keyword-only parameters; write plain ones")
            if arguments.defaults:
                self.refuse(self.node, "has default values; pass every argument")
            found = {a.arg: self.annotation(a.annotation, a) for a in arguments.args}
            returns = self.node.returns
            nothing = returns is None or (isinstance(returns, ast.Constant) and returns.value is None)
            found["return"] = None if nothing else self.annotation(returns, self.node)
            self._signature = found
        return self._signature


class Function(Source):
    """A function that kernels call; it is compiled into them, once for each combination of argument types."""


class Kernel(Source):
    """The entry point of a launch."""

    is_kernel = True

    def __init__(self, python: Any) -> None:
        super().__init__(python)
        self._programs: dict[Any, Any] = {}

    def specialise(self, constants: dict[str, Any], team_size: int, types: dict[str, Any] | None = None) -> Any:
        """The typed `core.lang.tree.Program` for these constants, team size and types of `Generic` parameters."""
        from core.lang.frontend import translate

        types = types or {}
        key = (tuple(sorted(constants.items())), team_size, tuple(sorted(types.items(), key=str)))
        if key not in self._programs:
            self._programs[key] = translate(self, constants, team_size, types)
        return self._programs[key]

    @property
    def constants(self) -> list[str]:
        """Names of the parameters that are known at compile time."""
        return [name for name, kind in self.signature.items() if isinstance(kind, Const)]


def kernel(python: Any) -> Kernel:
    """Decorator: the function is a kernel."""
    return Kernel(python)


def function(python: Any) -> Function:
    """Decorator: the function may be called by kernels."""
    return Function(python)


_parsed: dict[tuple[str, int], dict[tuple[int, str], ast.FunctionDef]] = {}


def _functions(path: str) -> dict[tuple[int, str], ast.FunctionDef]:
    """Every function of a file by first line (its first decorator's, if any) and name."""
    import ast
    import linecache

    text = "".join(linecache.getlines(path))
    key = (path, hash(text))
    if key not in _parsed:
        _parsed[key] = {
            (min([n.lineno] + [d.lineno for d in n.decorator_list]), n.name): n
            for n in ast.walk(ast.parse(text))
            if isinstance(n, ast.FunctionDef)
        }
    return _parsed[key]
