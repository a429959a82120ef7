"""The notebooks run from top to bottom. The repository has them without outputs."""

import json

import pytest

from docs import pages

CELL = """
import onekernel as ok
found = ok.minimize(ok.Qap("tai30a"), stop=ok.Seconds(100), backend="{}")
print(found.interrupted, found.confirmed, "done")
"""
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


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["cpu", "threads"])
def test_an_interrupted_cell_returns_the_best_solution_so_far(backend, environment, tmp_path):
    pytest.importorskip("ipykernel")
    manager, client = pytest.importorskip("jupyter_client.manager").start_new_kernel(env=environment, cwd=str(tmp_path))
    try:
        client.execute(CELL.format(backend))
        printed, is_interrupted = "", False
        while "done" not in printed:
            message = client.get_iopub_msg(timeout=60)
            assert message["msg_type"] != "error", message["content"]
            if message["msg_type"] == "update_display_data" and not is_interrupted:  # progress of the search
                manager.interrupt_kernel()
                is_interrupted = True
            printed += message["content"].get("text", "")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert "True True done" in printed
