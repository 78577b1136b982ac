"""PCIe bytes to fields and back: the JSON of ``sealsim tlp``, which docs/tlp.md describes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native
from .errors import UsageError

__all__ = ["decode", "encode"]

_SEPARATORS = re.compile(r"[\s,:_]|\b0[xX]")


def decode(data: bytes | bytearray | memoryview | str, *, wire: bool = False) -> list[dict[str, Any]]:
    """What bytes hold, or their hexadecimal: a dictionary for each TLP and DLLP, with what is wrong with it in ``problems``.

    wire: the bytes are frames of a gen3 to gen5 link, with token, sequence number and LCRC.
    """
    raw = _bytes(data) if isinstance(data, str) else bytes(data)
    if not raw:
        raise UsageError("there are no bytes to decode")
    return [json.loads(item) for item in _native.tlp_decode(raw, wire)]


def encode(items: Mapping[str, Any] | Iterable[Mapping[str, Any]], *, wire: bool = False) -> bytes:
    """The bytes of what ``decode`` gives, one item or several; CRCs and tokens are made anew.

    Errors: UsageError, where a field is missing, unknown or too large.
    """
    several = [items] if isinstance(items, Mapping) else list(items)
    return _native.tlp_encode("\n".join(json.dumps(dict(item)) for item in several), wire)


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(_SEPARATORS.sub("", text))
    except ValueError as error:
        raise UsageError(f"{text[:60]!r} is no hexadecimal: {error}\n  help: write each byte as two digits") from None
