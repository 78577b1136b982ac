"""A search finds the front with a part of the points, in the folder of a sweep, and goes on where it was."""

import csv
import fcntl
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest
import sealsim
from sealsim.search.goal import Goal
from sealsim.search.optimiser import Optimiser
from sealsim.search.program import Program
from sealsim.search.searching import search
from sealsim.search.space import Space

# 240 points: those with a quarter of a quarantine are refused, those whose GHASH reduces in no cycle do not close.
STUDY = """
name = "small"
summary = "How wide, with which release?"
machine = "h100-nvl-tdx"
designs = ["direct-in-place", "overlap"]
set = ["driver.pageable.message=16 KiB", "driver.pinned.message=32 KiB"]
copy = "h2d:64KiB"
objectives = { min = ["area_total_kge"], max = ["gb_per_s"] }

[[axis]]
path = "engine.ghash.width"
values = [1, 2, 4, 6, 8]

[[axis]]
path = "engine.ghash.groups"
values = [1, 2, 4]

[[axis]]
path = "engine.ghash.multiplier.reduction"
values = ["0 cycles", "1 cycle"]

[[axis]]
path = "tag_queue.release"
values = ["eager", "hold"]

[[axis]]
path = "tag_queue.quarantine"
values = ["8 KiB", "32 KiB", "64 KiB"]
when = { "tag_queue.release" = ["hold"] }

[[axis]]
path = "copy_engine.outstanding_reads"
values = [32, 128]
zip = "reads"

[[axis]]
path = "copy_engine.read_buffer"
values = ["32 KiB", "128 KiB"]
zip = "reads"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    file = tmp_path_factory.mktemp("study") / "small.toml"
    file.write_text(STUDY)
    return file


@pytest.fixture(scope="module")
def executable():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", pathlib.Path(__file__).parents[3] / "target"))
    return os.environ.get("SEALSIM", str(target / "release" / "sealsim"))


@pytest.fixture(scope="module")
def whole(study, executable, tmp_path_factory):
    """The study with all of its points, and the front of them."""
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "campaigns"))
    from search import Whole

    folder = tmp_path_factory.mktemp("whole")
    sealsim.sweep(study, folder)
    os.environ["SEALSIM"] = executable
    return Whole(study, folder)


def test_a_search_finds_more_than_chance_with_a_quarter_of_the_points(whole):
    budget = len(whole.space) // 4
    for seed in (0, 1):
        (found, _), (drawn, _) = (whole.searched(sampler, seed, budget) for sampler in ("nsga2", "random"))
        assert found >= 0.95 and found >= drawn, f"seed {seed}: {found} and {drawn}"
    assert whole.score(whole.front) == pytest.approx(1) and whole.found(whole.front) == 1
    assert whole.score([]) == whole.found([]) == 0


def test_what_does_not_count_is_on_no_front_whoever_asks(whole):
    worth = {point.id: whole.goal.judge(whole.space, point, whole.rows[point.id]).violation for point in whole.space.points}
    closes_not = [id for id, row in whole.rows.items() if row["figures"].get("does_not_close")]
    # A point may be refused for several reasons, of which the first is told.
    reasons = [whole.rows[id]["error"] for id in closes_not]
    assert all(reasons) and any("does not close" in reason for reason in reasons)
    refused = {id for id, row in whole.rows.items() if row["error"]} - set(closes_not)
    assert refused and {id for id, violation in worth.items() if violation == 2} == refused
    assert closes_not and {id for id, violation in worth.items() if violation == 1} == set(closes_not)
    optimiser = Optimiser(whole.space, whole.goal, "nsga2", 0, 60)
    search(optimiser, whole.goal, whole.space, 60, whole.evaluate)
    assert any(worth[id] for id in optimiser.known) and not any(worth[point.id] for point in optimiser.ranked())


def test_a_space_is_what_the_program_prints_whatever_axes_do(whole):
    space = whole.space
    free = [axis.path for axis in space.axes]
    assert "copy_engine.read_buffer" not in free and "copy_engine.outstanding_reads" in free
    assert [axis.path for axis in space.axes if not axis.ordered] == ["tag_queue.release"]
    for point in space.points:
        assert space.point(space.choices(point)) == point
    eager = space.point({"tag_queue.release": 0, "tag_queue.quarantine": 2})
    assert dict(eager.settings)["tag_queue.quarantine"] is None
    # Points at random are no grid: a choice that none has means the next one.
    drawn = Space(point.line() for point in space.points[::7])
    assert {drawn.point(space.choices(point)).id for point in space.points} <= {point.id for point in drawn.points}


def test_the_front_is_that_of_pareto_and_the_folder_that_of_a_sweep(study, executable, program, tmp_path):
    parts = []
    found = sealsim.search.run(study, tmp_path / "a", budget=30, seed=1, threads=2, program=executable, progress=parts.append)
    front = json.loads(program("pareto", tmp_path / "a", "--format", "json"))
    assert found.rows == front["points"] and found.asked == 30 and found.points == 240
    assert len(found) and not any(row["does_not_close"] or row["error"] for row in found.rows)
    assert parts == sorted(parts) and parts[-1] == 1
    with open(tmp_path / "a/points.csv") as table:
        assert len(list(csv.DictReader(table))) == 30
    # The rest runs as a sweep, and then a search has nothing left to run.
    program("sweep", study, "--out", tmp_path / "a")
    again = sealsim.search.run(study, tmp_path / "a", budget=1000, seed=1, threads=1, program=executable)
    assert again.asked == 240 and again.rows == json.loads(program("pareto", tmp_path / "a", "--format", "json"))["points"]


def test_a_search_that_is_cut_short_goes_on(study, executable, tmp_path):
    options = {"budget": 45, "seed": 2, "program": executable}

    def stop(part):
        if part > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sealsim.search.run(study, tmp_path / "b", threads=1, progress=stop, **options)
    kept = set((tmp_path / "b/points.jsonl").open())
    assert 20 < len(kept) < 45
    again = sealsim.search.run(study, tmp_path / "b", threads=1, **options)
    assert again.asked == 45 and kept < set((tmp_path / "b/points.jsonl").open())


def test_a_search_does_not_wait_for_a_lock_that_a_kill_left(study, executable, tmp_path):
    command = [sys.executable, "-m", "sealsim.search", str(study), "--out", "a", "--program", executable, "--budget"]
    subprocess.run([*command, "6"], cwd=tmp_path, stdout=subprocess.DEVNULL, check=True)
    (tmp_path / "a/search.journal.lock").symlink_to("a/search.journal")
    holder = open(tmp_path / "a/search.journal", "ab")
    fcntl.flock(holder, fcntl.LOCK_EX)
    waits = subprocess.Popen([*command, "12"], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert "waits for another process, which has a/search.journal locked" in waits.stderr.readline()
    holder.close()
    assert waits.wait(60) == 0


def test_the_program_beside_python_is_found(study, executable, tmp_path, monkeypatch):
    (tmp_path / "sealsim").symlink_to(executable)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("SEALSIM", raising=False)
    assert Program(study).path == str(tmp_path / "sealsim")


def rows(folder):
    """By point: what came of it, without where that is from."""
    lines = map(json.loads, (folder / "points.jsonl").open())
    return {row["id"]: (row["error"], row["figures"]) for row in lines}


def test_points_share_runs_as_those_of_a_sweep_do(study, executable, program, tmp_path):
    deep = tmp_path / "deep.toml"
    deep.write_text(study.read_text() + '[[axis]]\npath = "tag_queue.depth"\nvalues = [64, 128]\n')
    sealsim.search.run(deep, tmp_path / "a", budget=480, threads=2, program=executable)
    program("sweep", deep, "--again", "--out", tmp_path / "b")
    assert rows(tmp_path / "a") == rows(tmp_path / "b")
    assert re.search(r"[0-9]+ simulated, [0-9]+ certified", program("sweep", "status", tmp_path / "a"))
    assert "certified" not in program("sweep", "status", tmp_path / "b")


def test_a_cheap_search_comes_first_and_leaves_no_row_in_the_table(study, executable, tmp_path):
    found = sealsim.search.run(study, tmp_path / "a", budget=20, cheap=["--copy", "h2d:32KiB"], cheap_budget=40, program=executable)
    assert found.asked == 20 and (tmp_path / "a/search.jsonl").read_text().count("\n") == 60
    assert (tmp_path / "a/points.jsonl").read_text().count("\n") == 20
    assert {row["bytes"] for row in found.rows} == {65536}


def test_processes_share_a_search(study, executable, tmp_path):
    command = [sys.executable, "-m", "sealsim.search", str(study), "--out", str(tmp_path / "a"), "--budget", "40"]
    command += ["--storage", str(tmp_path / "journal"), "--threads", "1", "--program", executable, "--worker"]
    both = [subprocess.Popen([*command, worker], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for worker in "12"]
    assert [(one.communicate()[1], one.returncode) for one in both] == [("", 0), ("", 0)]
    # A batch of each may be under way when the budget is reached.
    rows = [json.loads(line)["id"] for line in (tmp_path / "a/points.jsonl").open()]
    assert 40 <= len(set(rows)) == len(rows) <= 60


def test_the_verb_has_the_options_of_the_command(program):
    def options(text):
        return set(re.findall(r"--[a-z-]+", text.partition("Examples:")[0]))

    python = subprocess.run([sys.executable, "-m", "sealsim.search", "--help"], capture_output=True, text=True, check=True).stdout
    assert options(program("search", "--help")) - {"--sample"} == options(python) - {"--sample", "--program"}


def test_the_verb_searches(study, executable, tmp_path):
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    command = [executable, "search", str(study), "--budget", "12", "--out", str(tmp_path / "a"), "--format", "json"]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["compared"] <= 12


def test_the_command_prints_the_front_and_ctrl_c_keeps_what_ran(study, executable, program, tmp_path):
    command = [sys.executable, "-m", "sealsim.search", str(study), "--out", str(tmp_path / "a"), "--program", executable]
    done = subprocess.run([*command, "--budget", "15", "--format", "csv"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout == program("pareto", tmp_path / "a", "--format", "csv")
    # Ctrl-C also where the tests run in the background of a shell, which has it ignored.
    long = subprocess.Popen(
        [*command, "--budget", "240", "--copy", "h2d:64MiB", "--out", str(tmp_path / "b")],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while not (tmp_path / "b/search.jsonl").exists() or (tmp_path / "b/search.jsonl").stat().st_size == 0:
        assert long.poll() is None
        time.sleep(0.05)
    long.send_signal(signal.SIGINT)
    assert "run the same command again to go on" in long.communicate()[1] and long.returncode == 1
    assert (tmp_path / "b/points.jsonl").stat().st_size > 0


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({"budget": 0}, sealsim.UsageError, "budget is 0"),
        ({"sampler": "simplex"}, sealsim.UsageError, "nsga2, tpe, random"),
        ({"minimise": ["no_such_column"]}, sealsim.UsageError, "no column `no_such_column`"),
        ({"program": "no-such-program"}, sealsim.FileError, "pip install sealsim"),
        ({"over": ["--set", "link.x=1"]}, sealsim.ConfigError, "link.x"),
        ({"study": "no-such-study.toml"}, sealsim.FileError, "no-such-study.toml"),
    ],
)
def test_an_error_says_what_to_do(study, executable, tmp_path, more, error, words):
    with pytest.raises(error, match=words):
        sealsim.search.run(**{"study": study, "folder": tmp_path / "a", "budget": 10, "program": executable, **more})


def test_copies_that_are_different_work_are_not_held_against_each_other(study, executable, tmp_path):
    both = tmp_path / "both.toml"
    both.write_text(study.read_text() + '[[axis]]\npath = "copy"\nvalues = ["h2d:64KiB", "d2h:64KiB"]\n')
    with pytest.raises(sealsim.UsageError, match="one --copy at a time"):
        sealsim.search.run(both, tmp_path / "a", budget=10, program=executable)


def test_an_objective_may_be_an_axis_or_a_time_in_any_unit(whole):
    goal = Goal(("copy_engine.read_buffer_bytes", "exposure_us"), (), (*whole.goal.axes,))
    points = {dict(point.settings)["copy_engine.read_buffer"]: point for point in whole.space.points}
    judged = {text: goal.judge(whole.space, point, whole.rows[point.id]) for text, point in points.items()}
    assert judged["32 KiB"].values[0] == 32768 and judged["128 KiB"].values[0] == 131072
    point = points["32 KiB"]
    assert judged["32 KiB"].values[1] == whole.rows[point.id]["figures"]["exposure_ps"]
