"""What docs/bindings.md and the package say comes out."""

import contextlib
import doctest
import io
import re

import sealsim


def test_the_document_shows_what_comes_out(root):
    text = (root / "docs/bindings.md").read_text()
    examples = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    # The third, for cocotb, fails a test.
    for code, shown in examples[:2]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "docs/bindings.md", "exec"), {})
        assert out.getvalue() == shown


def test_the_first_lines_of_the_package_hold():
    assert doctest.testmod(sealsim).failed == 0


def test_the_import_for_dpi_is_one_of_the_example(root):
    imports = re.search(r"```systemverilog\n(.*?)```", (root / "docs/bindings.md").read_text(), re.DOTALL)[1]
    assert imports.count("import") == 1 and imports in (root / "bindings/c/examples/dpi.sv").read_text()
