"""Modules made of texts, as a user's files would be."""

import importlib.util
import sys


def loaded(folder, text, name=None):
    """Import a module with this text from a new file of a folder; one with a name others may import too."""
    path = folder / f"{name or f'program_{abs(hash(text))}'}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    if name:
        sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
