"""Optuna as it is used here: an optimiser that is asked for points and told what came of them.

Optuna's study lives in memory; a storage gets each trial when it is done, in one piece, since a trial that grows in a storage costs a dozen
writes. What the storage has from before, or from others at the same search, is taken in before each batch.

Each batch has a sampler of its own, seeded with how many points are known. What a sampler keeps of earlier batches, and proposals that came to nothing,
end with the process: one that goes on may propose other points.
"""

from __future__ import annotations

import fcntl
import random
import threading
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .goal import Goal, Judged
from .space import Point, Space

if TYPE_CHECKING:
    import optuna

SAMPLERS = ("nsga2", "tpe", "random")
"""Who proposes points: a genetic algorithm, a tree of Parzen estimators, or nobody."""

BATCH = 10
"""Points that are proposed together, whatever the number of workers, so that this number does not change what is found."""

GENERATIONS = 10
"""Generations of NSGA-II that a budget is meant for; each has 10 to 50 points."""

TRIES = 40
"""Proposals that were known already after which the rest of a batch is drawn at random."""


class Optimiser:
    """Proposes points of a space that it has not proposed before."""

    def __init__(
        self,
        space: Space,
        goal: Goal,
        sampler: str,
        seed: int,
        budget: int,
        storage: optuna.storages.BaseStorage | None = None,
        name: str | None = None,
    ) -> None:
        self._optuna = _optuna()
        if sampler not in SAMPLERS:
            raise UsageError(f"there is no sampler {sampler!r}; there are {', '.join(SAMPLERS)}")
        self._space, self._goal, self._sampler, self._seed = space, goal, sampler, seed
        self._population = max(10, min(50, budget // GENERATIONS))
        self._by_id = {point.id: point for point in space.points}
        self.known: set[str] = set()
        """Points that were judged, by this search or others with its storage."""
        directions = ["minimize"] * len(goal.minimise) + ["maximize"] * len(goal.maximise)
        with self._quiet():
            self._study = self._optuna.create_study(directions=directions)
            self._stored = None
            if storage is not None:
                self._stored = self._optuna.create_study(storage=storage, study_name=name, directions=directions, load_if_exists=True)
                self._stored.set_metric_names(list(goal.columns))
        self._taken: set[int] = set()
        self._tries = 0
        # By point that counts: its objectives, each less the better.
        self._scores: dict[str, tuple[float, ...]] = {}
        self._worst: list[float | None] = [None] * len(directions)
        self._first: list[Point] = []
        self.take_in()

    def begin_with(self, points: Sequence[Point]) -> None:
        """Points to propose before any other."""
        self._first = [point for point in points if point.id not in self.known]

    def _trials(self) -> list[optuna.trial.FrozenTrial]:
        return [] if self._stored is None else self._stored.get_trials(deepcopy=False)

    def take_in(self) -> None:
        """Learns of trials that the storage has."""
        with self._quiet():
            for trial in self._trials():
                point = self._by_id.get(trial.user_attrs.get("point", ""))
                if trial.number in self._taken or point is None:
                    continue
                self._taken.add(trial.number)
                if point.id not in self.known:
                    self.known.add(point.id)
                    self._study.add_trial(trial)
                    if not any(trial.constraints.values()):
                        self._remember(point, trial.values)

    def ask(self, budget: int) -> list[tuple[optuna.Trial, Point]]:
        """New points; none where so many are known, others' included."""
        self.take_in()
        asked: list[tuple[optuna.Trial, Point]] = []
        wanted = max(0, min(BATCH, budget - len(self.known)))
        if wanted == 0:
            return asked
        chance = random.Random(f"{self._seed}/{len(self.known)}")
        self._tries = 0 if self._sampler == "random" else TRIES
        with self._quiet():
            # NSGA-II chooses parents when it is first asked in a generation, and then has them in another order than later.
            self._study.sampler = self._new_sampler()
            self._study.tell(self._chosen()[0], state=self._optuna.trial.TrialState.FAIL)
            self._study.sampler = self._new_sampler()
            proposed: set[str] = set()
            while len(asked) < wanted:
                trial, point = self._propose(proposed, chance)
                proposed.add(point.id)
                asked.append((trial, point))
        return asked

    def tell(self, trial: optuna.Trial, point: Point, judged: Judged) -> None:
        """What came of a point."""
        self.known.add(point.id)
        values = judged.values
        if values is None:
            # A point without figures is never preferred to one with them; its values are only there to be shown.
            values = tuple(0.0 if worst is None else worst for worst in self._worst)
        elif judged.violation == 0:
            self._remember(point, values)
        with self._quiet():
            trial.set_user_attr("point", point.id)
            trial.set_user_attr("settings", {path: value for path, value in point.settings if value is not None})
            trial.set_constraint("possible and closes at its clock", judged.violation)
            frozen = self._study.tell(trial, values)
            if self._stored is not None:
                self._stored.add_trial(frozen)

    def ranked(self) -> list[Point]:
        """The points that count, front by front: the first holds those that no other beats."""
        rest = sorted(self._scores.items(), key=lambda one: one[1])
        ranked: list[Point] = []
        while rest:
            front: list[tuple[float, ...]] = []
            left = []
            for id, scores in rest:
                if any(beats(other, scores) for other in front):
                    left.append((id, scores))
                else:
                    front.append(scores)
                    ranked.append(self._by_id[id])
            rest = left
        return ranked

    def _propose(self, proposed: set[str], chance: random.Random) -> tuple[optuna.Trial, Point]:
        state = self._optuna.trial.TrialState
        while self._first:
            point = self._first.pop(0)
            if point.id not in self.known | proposed:
                return self._given(point)
        while self._tries:
            trial, point = self._chosen()
            if point.id not in self.known and point.id not in proposed:
                return trial, point
            self._study.tell(trial, state=state.FAIL)
            self._tries -= 1
        for _ in range(TRIES):
            point = chance.choice(self._space.points)
            if point.id not in self.known and point.id not in proposed:
                return self._given(point)
        known = self.known | proposed
        return self._given(chance.choice([point for point in self._space.points if point.id not in known]))

    def _given(self, point: Point) -> tuple[optuna.Trial, Point]:
        """A trial of a point that is chosen here."""
        self._study.enqueue_trial(self._space.choices(point))
        return self._chosen()[0], point

    def _chosen(self) -> tuple[optuna.Trial, Point]:
        """The next proposal. It has a value for axes that do not apply as well: it does no harm, and all trials have the same parameters."""
        trial = self._study.ask()
        choices = {}
        for axis in self._space.axes:
            if axis.ordered:
                choices[axis.path] = trial.suggest_int(axis.path, 0, len(axis.values) - 1)
            else:
                choices[axis.path] = trial.suggest_categorical(axis.path, tuple(range(len(axis.values))))
        return trial, self._space.point(choices)

    def _new_sampler(self) -> Any:
        samplers = self._optuna.samplers
        seed = zlib.crc32(f"{self._seed}/{len(self.known)}".encode())
        if self._sampler == "nsga2":
            return samplers.NSGAIISampler(population_size=self._population, seed=seed)
        if self._sampler == "tpe":
            return samplers.TPESampler(multivariate=True, seed=seed)
        return samplers.RandomSampler(seed=seed)

    def _remember(self, point: Point, values: Sequence[float]) -> None:
        small = len(self._goal.minimise)
        self._scores[point.id] = tuple(value if place < small else -value for place, value in enumerate(values))
        for place, value in enumerate(values):
            worst = self._worst[place]
            pick = max if place < small else min
            self._worst[place] = value if worst is None else pick(worst, value)

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Optuna reports each trial, which a bar does better."""
        logging = self._optuna.logging
        before = logging.get_verbosity()
        logging.set_verbosity(logging.ERROR)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", self._optuna.exceptions.ExperimentalWarning)
                yield
        finally:
            logging.set_verbosity(before)


def beats(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether one is at least as good in every objective and better in one, where less is better."""
    return tuple(one) != tuple(other) and all(a <= b for a, b in zip(one, other, strict=True))


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise UsageError("a search needs Optuna 5: pip install 'optuna>=5,<6', or the package as 'sealsim[search]'") from None
    if int(optuna.__version__.split(".")[0]) < 5:
        raise UsageError(f"a search needs Optuna 5, and this is {optuna.__version__}: pip install 'optuna>=5,<6'")
    return optuna


def storage(where: str) -> Any:
    """A storage of Optuna: the path of a journal, or the address of a database, ``sqlite:///search.db``."""
    optuna = _optuna()
    if "://" in where:
        return optuna.storages.get_storage(where)
    backend = optuna.storages.journal.JournalFileBackend(where, lock_obj=_Lock(where))
    return optuna.storages.JournalStorage(backend)


class _Lock:
    """The journal, locked by the system, which unlocks it when its process ends: Optuna's lock is a file, which outlives a kill."""

    def __init__(self, path: str) -> None:
        self._path = path

    def acquire(self) -> bool:
        """Waits for others, which write for an instant, and says so if they take longer."""
        self._file = open(self._path, "ab")
        late = threading.Timer(2, warnings.warn, [f"waits for another process, which has {self._path} locked"])
        late.start()
        fcntl.flock(self._file, fcntl.LOCK_EX)
        late.cancel()
        return True

    def release(self) -> None:
        """Lets others write."""
        self._file.close()
