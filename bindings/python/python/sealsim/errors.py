"""What can go wrong: one class for each exit status of the program."""

from __future__ import annotations

from typing import ClassVar


class Error(Exception):
    """Any error of sealsim. Its text says what is wrong, where, and what to do about it."""

    status: ClassVar[int] = 5


class VerificationError(Error):
    """A tag is wrong, a copy that had to arrive did not, or the work was stopped."""

    status: ClassVar[int] = 1


class UsageError(Error, ValueError):
    """The arguments make no sense."""

    status: ClassVar[int] = 2


class ConfigError(Error, ValueError):
    """A machine, a design, a workload or a study is wrong."""

    status: ClassVar[int] = 3


class FileError(Error, OSError):
    """A file cannot be read or written."""

    status: ClassVar[int] = 4


class SimulationError(Error, RuntimeError):
    """A deadlock or another fault of the simulation."""

    status: ClassVar[int] = 5


_CLASSES: tuple[type[Error], ...] = (
    VerificationError,
    UsageError,
    ConfigError,
    FileError,
    SimulationError,
)


def of_status(status: int, text: str) -> Error:
    """The error that ends the program with this status."""
    for one in _CLASSES:
        if one.status == status:
            return one(text)
    return Error(text)
