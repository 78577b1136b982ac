"""Comparisons and sweeps are those of the program."""

import csv
import json

import pytest
import sealsim

STUDY = """
name = "seal-rate"
summary = "What a faster cipher gains"
machine = "h100-nvl-tdx"
copy = "h2d:1MiB"

[[axis]]
path = "cipher.seal_rate"
values = ["1.6 B/cycle", "3.2 B/cycle"]
"""


def test_a_comparison_is_that_of_the_program(program):
    arguments = ["compare", "h100-nvl-tdx", "--design", "fastrack", "--size", "64KiB,1MiB"]
    comparison = sealsim.compare("h100-nvl-tdx", ["fastrack"], ["64KiB", 1 << 20])
    assert comparison.to_dict() == json.loads(program(*arguments, "--format", "json"))
    table = list(csv.DictReader(program(*arguments, "--format", "csv").splitlines()))
    assert len(comparison.rows) == len(table) == 4 * 2 * 2
    for row, line in zip(comparison.rows, table, strict=True):
        assert list(row) == list(line) and "" not in row.values()
        assert {name: "" if value is None else value for name, value in row.items()} == pytest.approx(
            {name: type(row[name])(cell) if row[name] is not None else cell for name, cell in line.items()}
        )


def test_a_workload_is_compared_as_the_program_does(document):
    comparison = sealsim.compare(workload="weight-streaming", designs=["two-pces"])
    assert comparison.to_dict() == document("compare", "--workload", "weight-streaming", "--design", "two-pces")
    assert [row["design"] for row in comparison.rows] == [design.name for design in comparison.designs]


def test_a_wrong_design_is_a_configuration_error():
    with pytest.raises(sealsim.ConfigError, match="no-such-design"):
        sealsim.compare("h100-nvl-tdx", ["no-such-design"], ["4KiB"])
    with pytest.raises(sealsim.UsageError, match="12 parsecs"):
        sealsim.compare("h100-nvl-tdx", ["direct"], ["12 parsecs"])


def test_a_sweep_is_that_of_the_program(program, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    parts = []
    swept = sealsim.sweep(study, tmp_path / "here", progress=parts.append)
    program("sweep", study, "--out", tmp_path / "there")
    assert (tmp_path / "here/points.csv").read_bytes() == (tmp_path / "there/points.csv").read_bytes()
    assert parts[-1] == 1.0 and len(swept) == 2
    again = sealsim.sweep(STUDY, tmp_path / "here")
    assert again.rows == swept.rows
    assert swept.rows[0]["cipher.seal_rate_bytes_per_cycle"] == 1.6
    assert swept.rows[1]["gb_per_s"] > 1.2 * swept.rows[0]["gb_per_s"]


def test_a_table_becomes_a_frame(tmp_path):
    swept = sealsim.sweep(STUDY, tmp_path)
    for frame in (swept.to_polars(), swept.to_pandas()):
        assert list(frame.columns) == swept.columns
        assert frame["gb_per_s"].to_list() == [row["gb_per_s"] for row in swept.rows]
    comparison = sealsim.compare("h100-nvl-tdx", ["direct"], ["4KiB"])
    assert comparison.to_polars().height == len(comparison.to_pandas()) == len(comparison.rows)


def test_a_folder_of_another_study_is_refused(tmp_path):
    sealsim.sweep(STUDY, tmp_path)
    with pytest.raises(sealsim.UsageError):
        sealsim.sweep(STUDY.replace("1MiB", "2MiB"), tmp_path)
    with pytest.raises(sealsim.ConfigError):
        sealsim.sweep("machine = \n", tmp_path)
    with pytest.raises(sealsim.FileError):
        sealsim.sweep("no-such-study.toml", tmp_path)
