"""The program: it says which points a study has, runs them, and writes the tables."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

from ..arguments import Path, text
from ..errors import FileError, SimulationError, UsageError, of_status
from .space import MOST_POINTS, Point, Space

LONGEST_WAIT = 60
"""Seconds for which a folder may be in use by others."""

# The message may be broken into lines.
_IN_USE = re.compile(r"is[\s│]+in[\s│]+use[\s│]+by")

Row = dict[str, Any]
"""What came of a point, as ``sealsim sweep run-point`` prints it: id, error, figures."""


_SEAL = ',"digest":"'


def sealed(row: Row) -> str:
    """A row as a line, with a digest of what it says, as the program writes and takes it."""
    return _sealed(json.dumps(row))


def unsealed(line: str) -> Row | None:
    """The row of a line; none if it is not as it was written."""
    said = line.rpartition(_SEAL)[0] + "}"
    if _sealed(said) != line:
        return None
    row: Row = json.loads(said)
    return row


def _sealed(said: str) -> str:
    return f'{said[:-1]}{_SEAL}{hashlib.sha256(said.encode()).hexdigest()[:32]}"}}\n'


class Program:
    """The program with a study, and with what is laid over it: ``["--copy", "h2d:64KiB"]``."""

    def __init__(self, study: Path, over: Sequence[str] = (), program: Path | None = None) -> None:
        self.path = _found(program)
        self.study = text(study)
        self.over = [*over]
        if not os.path.isfile(self.study):
            raise FileError(f"{self.study}: there is no such study; `sealsim example` lists those that are built in")

    def space(self) -> Space:
        """The points of the study."""
        # A folder of a study does not count its points; a plan ends early where it is not read on.
        with tempfile.TemporaryFile("w+") as said:
            with subprocess.Popen(self._sweep("plan"), stdout=subprocess.PIPE, stderr=said, text=True) as plan:
                assert plan.stdout is not None
                lines = []
                for line in plan.stdout:
                    lines.append(line)
                    if len(lines) > MOST_POINTS:
                        plan.kill()
                        raise UsageError(
                            f"{self.study} has more than {MOST_POINTS} points, which is what a search takes: leave values out, "
                            "or draw so many with `[random] points`"
                        )
            if plan.returncode:
                raise _failed(plan.returncode, said)
        return Space(lines)

    def merge(self, rows: Sequence[Row], folder: pathlib.Path) -> None:
        """Puts rows into a folder and writes its tables; waits while another process does so."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as lines:
            lines.writelines(sealed(row) for row in rows)
            lines.flush()
            files = [lines.name] if rows else []
            command = [*self._sweep("merge"), *files, "--out", str(folder)]
            for left in reversed(range(LONGEST_WAIT)):
                done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True, check=False)
                if done.returncode == 0:
                    return
                if not _IN_USE.search(done.stderr) or not left:
                    raise _failure(done.returncode, done.stderr)
                time.sleep(1)

    def pareto(self, folder: pathlib.Path, arguments: Sequence[str], shown: bool = False) -> str:
        """The front of a folder's table: printed, or as what is printed."""
        with tempfile.TemporaryFile("w+") as said:
            command = [self.path, "pareto", str(folder), *arguments]
            out = None if shown else subprocess.PIPE
            done = subprocess.run(command, stdout=out, stderr=said, text=True, check=False)
            if done.returncode:
                raise _failed(done.returncode, said)
        return done.stdout or ""

    def worker(self, threads: int) -> Worker:
        """A process that runs points, so many at once."""
        return Worker([*self._sweep("run-point"), "--threads", str(threads)])

    def _sweep(self, piece: str) -> list[str]:
        return [self.path, "sweep", piece, self.study, *self.over]


class Worker:
    """A process that runs points, several at once. Those that differ only in bounds share a run, as in a sweep."""

    def __init__(self, command: Sequence[str]) -> None:
        self._said = tempfile.TemporaryFile("w+")
        # Ctrl-C is for this process, which ends its worker.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            start_new_session=True,
        )

    def rows(self, points: Sequence[Point]) -> Iterator[Row]:
        """What comes of points, as they end."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.writelines(point.line() + "\n" for point in points)
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        except OSError:
            raise _failed(self._process.wait(), self._said) from None
        for _ in points:
            line = self._process.stdout.readline()
            if not line.endswith("\n"):
                raise _failed(self._process.wait(), self._said)
            row = unsealed(line)
            assert row is not None
            yield row

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except OSError:
                pass
        self._said.close()


def _found(program: Path | None) -> str:
    wanted = text(program) if program is not None else os.environ.get("SEALSIM", "sealsim")
    # The wheel puts it beside its Python, which need not be on the path.
    found = shutil.which(os.path.join(os.path.dirname(sys.executable), wanted)) or shutil.which(wanted)
    if found is None:
        raise FileError(
            f"there is no program {wanted!r} beside {sys.executable} or on the path: `pip install sealsim-*.whl` puts it there, "
            "`cargo install --locked --path .` in a clone on the path; --program, or SEALSIM in the environment, names another place"
        )
    return found


def _failed(status: int, said: Any) -> Exception:
    said.seek(0)
    return _failure(status, said.read())


def _failure(status: int, what: str) -> Exception:
    """What the program said when it failed, with its class."""
    what = what.strip()
    if status < 0:
        return SimulationError(f"the program was ended by signal {-status}" + (f": {what}" if what else ""))
    return of_status(status, what or f"the program ended with status {status}")
