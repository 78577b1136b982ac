"""A search from a study's file to the front that it found."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from ..arguments import MOST_THREADS, Path, Progress, Told, count, text, texts, told
from ..table import Table
from .goal import Goal
from .kept import Kept
from .optimiser import Optimiser, storage as storage_at
from .program import Program, Row
from .space import Point, Space

MOST = (1 << 32) - 1
MOST_WORKERS = 1024
JOURNAL = "search.journal"

Evaluate = Callable[[Sequence[Point]], Iterable[Row]]


class Found(Table):
    """What a search found: ``rows`` are the points that no other beats, with the columns of points.csv."""

    def __init__(self, folder: pathlib.Path, points: int, asked: int, program: Program, goal: Goal) -> None:
        self._program, self._goal = program, goal
        front: dict[str, Any] = json.loads(program.pareto(folder, [*goal.arguments, "--format", "json"]))
        self.folder = folder
        self.points = points
        """Points of the study."""
        self.asked = asked
        """Points that the search asked for."""
        self.rows = front["points"]
        self.columns = list(self.rows[0])
        self.knee: int | None = front["knee"]
        """The index in the study of the front's knee."""
        self.left_out: int = front["left_out"]
        """Points in the folder that are no candidates: refused, or with engines that do not close."""

    def show(self, form: Literal["text", "json", "csv"] = "text") -> None:
        """Prints the front, as ``sealsim pareto`` does."""
        sys.stdout.flush()
        self._program.pareto(self.folder, [*self._goal.arguments, "--format", form], shown=True)

    def __repr__(self) -> str:
        return f"Found({str(self.folder)!r}, {len(self)} on the front, {self.asked} of {self.points} points asked for)"


def run(
    study: Path,
    folder: Path,
    *,
    budget: int,
    seed: int = 0,
    sampler: str = "nsga2",
    minimise: Sequence[str] = (),
    maximise: Sequence[str] = (),
    over: Sequence[str] = (),
    cheap: Sequence[str] = (),
    cheap_budget: int | None = None,
    threads: int | None = None,
    storage: str | None = None,
    worker: int = 0,
    program: Path | None = None,
    progress: Progress = None,
) -> Found:
    """Searches a study for its front, with at most ``budget`` of its points.

    study: a TOML file, as ``sealsim sweep`` reads it. folder: where points are kept, as those of a sweep. Points that it has are not run
    again; a search that was interrupted goes on when it is run again.
    minimise, maximise: columns, in place of the study's objectives. sampler: ``nsga2``, ``tpe`` or ``random``.
    over: options of the program over the study, as ``["--copy", "h2d:1MiB"]``.
    cheap: the same for a first search at less cost, as ``["--sample", "4"]``, of ``cheap_budget`` points (default: twice the budget). The
    best by it, as many as half of the budget, are the first to run in full.
    threads: points at work at once. storage: a database (``sqlite:///search.db``) or journal of Optuna's; the default is a journal in the
    folder. Several processes with one storage and one folder share a search; each needs another ``worker`` number.
    program: where ``sealsim`` is, if not on the path.
    progress: called with the part of the budget that is done; True for a bar, if tqdm is installed.

    Errors: UsageError, ConfigError, FileError, SimulationError. What has run before Ctrl-C is kept.
    """
    budget, seed, worker = count("budget", budget, MOST, 1), count("seed", seed, MOST), count("worker", worker, MOST)
    points = 2 * budget if cheap_budget is None else count("cheap_budget", cheap_budget, MOST, 1)
    minimise, maximise = texts("minimise", minimise), texts("maximise", maximise)
    over, cheap = texts("over", over), texts("cheap", cheap)
    workers = count("threads", (os.cpu_count() or 1) if threads is None else threads, MOST_THREADS)
    workers = max(1, min(workers, MOST_WORKERS))
    place = pathlib.Path(text(folder))
    full = Program(study, over, program)
    full.merge([], place)
    goal = Goal.of(place, minimise, maximise)
    space = full.space()
    name = " ".join([*goal.arguments, sampler, f"seed {seed}", *over, *cheap])
    mixed = seed if worker == 0 else zlib.crc32(f"{seed} {worker}".encode())
    optimiser = Optimiser(space, goal, sampler, mixed, budget, storage_at(str(place / JOURNAL) if storage is None else text(storage)), name)
    with Kept(place) as kept:
        try:
            if cheap:
                low = Program(study, [*over, *cheap], program)
                lows = low.space()
                screen = Optimiser(lows, goal, sampler, seed, points)
                ranked = _judged(low, lows, screen, goal, kept, points, workers)
                optimiser.begin_with(_same(space, ranked, budget // 2))
            with told(progress, "search") as tell:
                _judged(full, space, optimiser, goal, kept, budget, workers, tell)
        finally:
            full.merge(kept.of(space), place)
    return Found(place, len(space), len(optimiser.known), full, goal)


def search(
    optimiser: Optimiser, goal: Goal, space: Space, budget: int, evaluate: Evaluate, tell: Told | None = None
) -> None:
    """Asks and tells until so many points are known, or all."""
    budget = min(budget, len(space))
    while asked := optimiser.ask(budget):
        for (trial, point), row in zip(asked, evaluate([point for _, point in asked]), strict=True):
            optimiser.tell(trial, point, goal.judge(space, point, row))
            if tell is not None:
                tell(len(optimiser.known) / budget)


def _judged(
    program: Program, space: Space, optimiser: Optimiser, goal: Goal, kept: Kept, budget: int, workers: int, tell: Told | None = None
) -> list[Point]:
    """The points of a search, the best first."""
    with program.worker(workers) as worker:
        search(optimiser, goal, space, budget, lambda points: kept.rows(points, worker), tell)
    return optimiser.ranked()


def _same(space: Space, points: Iterable[Point], most: int) -> list[Point]:
    """The points of a space with the settings of others: those have names of their own at another size of copy."""
    by_settings = {point.settings: point for point in space.points}
    return [by_settings[point.settings] for point in points if point.settings in by_settings][:most]
