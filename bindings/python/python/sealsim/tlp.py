"""PCIe bytes to fields and back: the JSON of ``sealsim tlp``, which docs/tlp.md describes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native
from .errors import UsageError

__all__ = ["decode", "decode_log", "encode"]

_SEPARATORS = re.compile(r"[\s,:_]|\b0[xX]")


def decode(
    data: bytes | bytearray | memoryview | str, *, wire: bool | str = False, dllp: bool = False, flits: bool = False
) -> list[dict[str, Any]]:
    """What bytes hold, or their hexadecimal: a dictionary for each TLP, DLLP and flit, with what is wrong with it in ``problems``.

    wire: the bytes are frames of a gen3 to gen5 link, with token, sequence number and LCRC; with ``"gen1"``, symbols of a gen1 or gen2 link.
    dllp: they are one DLLP, of 4 bytes, or of 6 with its CRC. flits: they are flits of 256 bytes; the TLPs that end in one stand behind it.
    """
    raw = _bytes(data) if isinstance(data, str) else bytes(data)
    if not raw:
        raise UsageError("there are no bytes to decode")
    return [json.loads(item) for item in _native.tlp_decode(raw, _form(wire, dllp, flits))]


def decode_log(text: str) -> list[dict[str, Any]]:
    """The headers in lines of a Linux kernel's log (``TLP Header:``) or of ``lspci -vv`` (``HeaderLog:``), as ``decode`` gives them.

    Errors: UsageError, if there is none.
    """
    return [json.loads(item) for item in _native.tlp_logs(text)]


def encode(
    items: Mapping[str, Any] | Iterable[Mapping[str, Any]], *, wire: bool | str = False, flits: bool = False
) -> bytes:
    """The bytes of what ``decode`` gives, one item or several; CRCs and tokens are made anew.

    flits: the items are flits and TLPs of flit mode, which go into them in their order.

    Errors: UsageError, where a field is missing, unknown or too large.
    """
    several = [items] if isinstance(items, Mapping) else list(items)
    return _native.tlp_encode("\n".join(json.dumps(dict(item)) for item in several), _form(wire, False, flits))


def _form(wire: bool | str, dllp: bool, flits: bool) -> str:
    if [bool(wire), dllp, flits].count(True) > 1:
        raise UsageError("bytes are frames of a link, one DLLP, or flits: give one of wire, dllp and flits")
    if wire not in (True, False, "gen1", "gen2", "gen3", "gen4", "gen5"):
        raise UsageError(f"wire is {wire!r}, but must be True, False, or a generation, gen1 to gen5")
    if wire:
        return "symbols" if wire in ("gen1", "gen2") else "wire"
    return "dllp" if dllp else "flits" if flits else "tlps"


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(_SEPARATORS.sub("", text))
    except ValueError as error:
        raise UsageError(f"{text[:60]!r} is no hexadecimal: {error}\n  help: write each byte as two digits") from None
