"""Front end of the kernel language: translates a kernel into the typed tree of `core.lang.tree`, or refuses it.

Only `translator.translate` is called from outside, by `core.lang.decorators`, and imported late: it is slow to load.
`core.lang.reference_interpreter` also uses `bundle_types`. Each subclass of `context.FunctionContext` translates one
kind of construct, with the methods of its bases. Types and intrinsics are in `core.lang`.
"""
