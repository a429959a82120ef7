"""Advice on Python's constructs that are not in the kernel language, by the class of the node."""

from __future__ import annotations

import ast

ADVICE: dict[type, str] = {
    ast.FunctionDef: "a nested function; define a @function at module level",
    ast.AsyncFunctionDef: "an async function; kernels are not asynchronous",
    ast.ClassDef: "a class; use arrays",
    ast.Try: "try; kernels have no exceptions",
    ast.Raise: "raise; assert, or write a code into an array and raise on the host",
    ast.With: "with; kernels have no context managers",
    **dict.fromkeys((ast.Import, ast.ImportFrom), "import; import at module level"),
    ast.Global: "global; pass an array",
    ast.Nonlocal: "nonlocal; pass an array",
    ast.Delete: "del; leave the variable alone",
    ast.AnnAssign: "an annotated assignment; write x = i32(...)",
    ast.Match: "match; write if and elif",
    **dict.fromkeys((ast.AsyncFor, ast.AsyncWith), "async; kernels are not asynchronous"),
    ast.List: "a list; use local_array or shared_array",
    ast.Tuple: "a tuple; use separate variables",
    ast.Dict: "a dict; use arrays",
    ast.Set: "a set; use arrays",
    **dict.fromkeys((ast.ListComp, ast.DictComp, ast.SetComp), "a comprehension; write a for loop over an array"),
    ast.GeneratorExp: "a generator expression; write a for loop",
    ast.Lambda: "a lambda; write a @function",
    ast.JoinedStr: 'an f-string; kernels have no text, so print its parts: print("x is", x)',
    ast.NamedExpr: "an assignment inside an expression; write it as a separate statement",
    ast.Starred: "a starred expression; write the items out",
    ast.Slice: "a slice; loop over the elements",
    **dict.fromkeys((ast.Yield, ast.YieldFrom), "yield; store results in an array"),
    ast.Await: "await; kernels are not asynchronous",
}
