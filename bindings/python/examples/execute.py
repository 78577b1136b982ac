"""Executes each notebook beside this file from its first cell to its last. With ``--write`` the outputs are kept in it."""

import pathlib
import sys

import nbformat
from nbclient import NotebookClient

for path in sorted(pathlib.Path(__file__).parent.glob("*.ipynb")):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(path.parent))
    print(path.name, f"{len(notebook.cells)} cells")
    if "--write" in sys.argv[1:]:
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
        notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
        nbformat.write(notebook, path)
