"""The notebooks run from top to bottom. The repository has them without outputs."""

import json

import pytest

from docs import pages

NOTEBOOKS = sorted((pages.ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[notebook.stem for notebook in NOTEBOOKS])
def test_a_notebook_runs(path, tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="pip install 'onekernel[docs]'")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.read(path, 4)
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.get("name") == "stderr"]


def test_notebooks_are_kept_without_outputs():
    assert len(NOTEBOOKS) == 2
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert len(cells) > 5
        assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)
