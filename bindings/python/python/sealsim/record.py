"""JSON objects whose fields are attributes as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Record(Mapping[str, Any]):
    """A JSON object: ``record["copies"]`` and ``record.copies`` are the same, and so are those of objects in it."""

    __slots__ = ("_fields",)

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> Any:
        return _shown(self._fields[name])

    def __getattr__(self, name: str) -> Any:
        # Copies and pickles ask for names before there are fields.
        if name.startswith("__") or name == "_fields":
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self._fields)
            raise AttributeError(f"no field {name!r}; there are {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self._fields if name.isidentifier())]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._fields!r})"

    def __getstate__(self) -> dict[str, Any]:
        return self._fields

    def __setstate__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def to_dict(self) -> dict[str, Any]:
        """The object as plain dictionaries, lists, numbers and texts: the JSON itself."""
        return self._fields


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return value
