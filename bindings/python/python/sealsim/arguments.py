"""What users may write for settings and progress, as the native half takes it."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, TypeAlias, Union

from .errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_MEASURED = 20
MOST_THREADS = 65535

Path: TypeAlias = Union[str, "os.PathLike[str]"]
Settings: TypeAlias = Union[Mapping[str, object], Iterable[str]]
Switch: TypeAlias = Union[bool, Literal["on", "off"], None]
Told: TypeAlias = Callable[[float], object]
Progress: TypeAlias = Union[Told, bool, None]


def text(path: Path) -> str:
    """A name or a path as text."""
    given = os.fspath(path)
    if not isinstance(given, str):
        raise TypeError(f"{given!r} is no text")
    return given


def texts(what: str, items: Iterable[Path | int] | None) -> list[str]:
    """Texts of a list, in which a number is its digits; one text alone is no list of its letters."""
    if items is None:
        return []
    if isinstance(items, (str, bytes, Mapping)):
        raise TypeError(f"{what} is a list, for example {what}=[{items!r}]")
    return [str(item) if type(item) is int else text(item) for item in items]  # type: ignore[arg-type]


def settings(what: str, given: Settings | None) -> list[str]:
    """``path=value`` of each setting."""
    if isinstance(given, Mapping):
        return [f"{text(path)}={_written(what, value)}" for path, value in given.items()]
    return texts(what, given)


def machine_question(
    machine: Path | None, designs: Iterable[Path] | None, set: Settings | None, cc: Switch
) -> dict[str, Any]:
    """The machine that is asked for, as the native half takes it."""
    return {
        "machine": None if machine is None else text(machine),
        "cc": switch("cc", cc),
        "designs": texts("designs", designs),
        "settings": settings("set", set),
    }


def switch(what: str, given: Switch) -> bool | None:
    """On or off; None, if neither is asked for."""
    if not (given is None or isinstance(given, bool) or given in ("on", "off")):
        raise UsageError(f"{what} is {given!r}, but must be True, False, \"on\" or \"off\"")
    return given == "on" if isinstance(given, str) else given


def count(what: str, given: int, most: int, least: int = 0) -> int:
    """A whole number."""
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(f"{what} is {given!r}, but must be a whole number")
    if not least <= given <= most:
        raise UsageError(f"{what} is {given}, but must lie in {least}..={most}")
    return operator.index(given)


def _written(what: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, (str, SupportsFloat)):
        raise TypeError(f"{what}: {value!r} is neither a text nor a number")
    return str(value)


@contextmanager
def told(progress: Progress, what: str) -> Iterator[Told | None]:
    """What is called with the part that is done: the caller's function, or a bar of tqdm's."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is {progress!r}, but must be a function, True or False")
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
