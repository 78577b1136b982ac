"""What users may write for settings and progress, as the native half takes it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from .errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_MEASURED = 20
MOST_THREADS = 65535

Path: TypeAlias = Union[str, "os.PathLike[str]"]
Settings: TypeAlias = Union[Mapping[str, object], Iterable[str]]
Told: TypeAlias = Callable[[float], object]
Progress: TypeAlias = Union[Told, bool, None]


def text(path: Path) -> str:
    """A name or a path as text."""
    return os.fspath(path)


def texts(what: str, items: Iterable[Path] | None) -> list[str]:
    """Texts of a list; one text alone is no list of its letters."""
    if items is None:
        return []
    if isinstance(items, (str, bytes)):
        raise TypeError(f"{what} is a list, for example {what}=[{items!r}]")
    return [os.fspath(item) for item in items]


def settings(what: str, given: Settings | None) -> list[str]:
    """``path=value`` of each setting."""
    if isinstance(given, Mapping):
        return [f"{path}={_written(value)}" for path, value in given.items()]
    return texts(what, given)


def count(what: str, given: int, most: int) -> int:
    """A whole number from 0 on."""
    if not 0 <= given <= most:
        raise UsageError(f"{what} is {given}, but must lie in 0..={most}")
    return given


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def told(progress: Progress, what: str) -> Iterator[Told | None]:
    """What is called with the part that is done: the caller's function, or a bar of tqdm's."""
    if not isinstance(progress, bool):
        yield progress
        return
    bar = _bar(what) if progress else None
    if bar is None:
        yield None
        return
    with bar:
        yield lambda part: bar.update(part - bar.n)


def _bar(what: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    form = "{desc}: {percentage:3.0f} %|{bar}| {elapsed}<{remaining}"
    return tqdm(total=1.0, desc=what, bar_format=form)
