"""Modules made of texts, as a user's files would be."""

import importlib.util


def loaded(folder, text, **names):
    """Import a module with this text from a new file; ``names`` are defined in it beforehand."""
    path = folder / f"program_{abs(hash(text))}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    vars(module).update(names)
    spec.loader.exec_module(module)
    return module
