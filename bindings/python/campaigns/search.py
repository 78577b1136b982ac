"""Is a search worth it? Holds searches against the whole space, and against points drawn at random.

    python bindings/python/campaigns/search.py --sweeps FOLDER [--seeds 10] [--study search-engine] [--sampler nsga2] [--write]

runs each shipped study whole (`sealsim sweep`, into FOLDER; minutes, once), then searches it with a tenth of its points from each seed. A point's
row depends on nothing but study and point, so that searches take it from the sweep.

The measure, which was written down before any search had run:

- Points that are refused, or do not close at their clock, do not count.
- Each objective is scaled so that the best value on the whole space's front is 0 and the worst value on that front is 1. An objective that is the
  same everywhere on the front is left out.
- The hypervolume is that between the points and the reference 1.1 in every objective (moocore).
- A search's score is its hypervolume over that of the whole space's front. Asked is a score of 0.95 with a tenth of the points, and more than
  that of random points of the same number, seed by seed.

`search-verdict` has its axes since the front of an earlier form was seen to be nearly one point; no search had run on either. `search-engine` was cut to fewer points to save time, before any search.

Beside it stands the part of the front's different points that a search found. That came after the scores of `search-designs` were seen: they say
little where chance has 0.99 too.

`--write` keeps the fronts in studies/fronts, and the scores in studies/fronts/scores.csv, which docs/studies.md reports. A CSV of a front holds its
points only, without what did not beat it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

import moocore
import numpy as np
from sealsim.search.goal import Goal
from sealsim.search.optimiser import SAMPLERS, Optimiser
from sealsim.search.program import Program
from sealsim.search.searching import search
from sealsim.search.space import Point, Space

ROOT = pathlib.Path(__file__).resolve().parents[3]
STUDIES = ("search-engine", "search-verdict", "search-designs")
REFERENCE = 1.1


class Whole:
    """A study of which every point has run."""

    def __init__(self, study: pathlib.Path, folder: pathlib.Path) -> None:
        self.space: Space = Program(study).space()
        self.goal = Goal.of(folder)
        with open(folder / "points.jsonl") as lines:
            self.rows: dict[str, dict[str, Any]] = {row["id"]: row for row in map(json.loads, lines)}
        judged = {point.id: self.goal.judge(self.space, point, self.rows[point.id]) for point in self.space.points}
        self.scores = {id: self._less(one.values) for id, one in judged.items() if one.values and one.violation == 0}
        every = np.array(list(self.scores.values()))
        front = np.unique(every[moocore.is_nondominated(every, keep_weakly=True)], axis=0)
        self.best, self.worst = front.min(axis=0), front.max(axis=0)
        self.front = [id for id, scores in self.scores.items() if (front == scores).all(axis=1).any()]
        self.different = {tuple(scores) for scores in front.tolist()}
        self.hypervolume = self._hypervolume(front)

    def score(self, ids: Iterable[str]) -> float:
        """The hypervolume of points over that of the whole front."""
        counted = [self.scores[id] for id in ids if id in self.scores]
        return self._hypervolume(np.array(counted)) / self.hypervolume if counted else 0.0

    def evaluate(self, points: Sequence[Point]) -> list[dict[str, Any]]:
        """As workers would."""
        return [self.rows[point.id] for point in points]

    def found(self, ids: Iterable[str]) -> float:
        """The part of the front's different points that is among points."""
        return len(self.different & {tuple(self.scores[id]) for id in ids if id in self.scores}) / len(self.different)

    def searched(self, sampler: str, seed: int, budget: int) -> tuple[float, float]:
        """The score of a search, and the part of the front that it found."""
        optimiser = Optimiser(self.space, self.goal, sampler, seed, budget)
        search(optimiser, self.goal, self.space, budget, self.evaluate)
        return self.score(optimiser.known), self.found(optimiser.known)

    def write(self, path: pathlib.Path) -> None:
        """The front: its axes and objectives."""
        ids = {point.id: point for point in self.space.points}
        small = len(self.goal.minimise)
        with open(path, "w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow([*self.space.paths, *self.goal.columns])
            for id in self.front:
                values = [value if place < small else -value for place, value in enumerate(self.scores[id])]
                table.writerow([*(value or "" for _, value in ids[id].settings), *values])

    def _less(self, values: Sequence[float]) -> list[float]:
        small = len(self.goal.minimise)
        return [value if place < small else -value for place, value in enumerate(values)]

    def _hypervolume(self, scores: np.ndarray[Any, Any]) -> float:
        span = self.worst - self.best
        scaled = (scores - self.best)[:, span > 0] / span[span > 0]
        return float(moocore.hypervolume(scaled, ref=REFERENCE))


def swept(study: pathlib.Path, folder: pathlib.Path) -> float:
    """Runs what is missing of a study; seconds of CPU."""
    before = os.times()
    command = [os.environ.get("SEALSIM", "sealsim"), "sweep", str(study), "--out", str(folder), "--threads", "1"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return os.times().children_user - before.children_user


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweeps", type=pathlib.Path, required=True, help="where whole spaces are, or go")
    parser.add_argument("--study", action="append", help="a shipped study's name, or a file")
    parser.add_argument("--sampler", action="append", choices=SAMPLERS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--share", type=float, default=0.1, help="of the points")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines: list[list[Any]] = []
    for name in given.study or STUDIES:
        file = pathlib.Path(name) if name.endswith(".toml") else ROOT / f"studies/{name}.toml"
        seconds = swept(file, given.sweeps / file.stem)
        whole = Whole(file, given.sweeps / file.stem)
        budget = round(given.share * len(whole.space))
        print(
            f"{file.stem}: {len(whole.space)} points ({seconds:.0f} s of CPU now), {len(whole.scores)} count, {len(whole.front)} on the front"
            f" ({len(whole.different)} different); budget {budget}",
            flush=True,
        )
        if given.write:
            whole.write(ROOT / f"studies/fronts/{file.stem}.csv")
        random = [whole.searched("random", seed, budget) for seed in range(given.seeds)]
        for sampler in ["random", *(given.sampler or ["nsga2", "tpe"])]:
            begun = time.process_time()
            scores = random if sampler == "random" else [whole.searched(sampler, seed, budget) for seed in range(given.seeds)]
            seconds = (time.process_time() - begun) / given.seeds
            beaten = sum(one > other for (one, _), (other, _) in zip(scores, random, strict=True))
            volumes, parts = zip(*scores, strict=True)
            print(
                f"  {sampler:7} hypervolume: median {statistics.median(volumes):.4f}, worst {min(volumes):.4f},"
                f" beats random {beaten} of {given.seeds};"
                f" of the front: median {statistics.median(parts):.2f}, worst {min(parts):.2f}; {seconds:.1f} s a search",
                flush=True,
            )
            kind = [file.stem, len(whole.space), budget, sampler]
            lines += [[*kind, seed, f"{volume:.4f}", f"{part:.3f}"] for seed, (volume, part) in enumerate(scores)]
    if given.write:
        with open(ROOT / "studies/fronts/scores.csv", "w", newline="") as out:
            table = csv.writer(out, lineterminator="\n")
            table.writerow(["study", "points", "budget", "sampler", "seed", "hypervolume", "of_front"])
            table.writerows(lines)


if __name__ == "__main__":
    sys.exit(main())
