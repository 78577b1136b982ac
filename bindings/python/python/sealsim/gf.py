"""The field of GHASH: products, inverses, and which H explains a value."""

from __future__ import annotations

from functools import lru_cache

from .software import BLOCK

_POLYNOMIAL = 0xE1 << 120


def shifted(element: int) -> int:
    """Times x in GHASH's field, the first bit in the highest place."""
    return (element >> 1) ^ (_POLYNOMIAL if element & 1 else 0)


class Times:
    """Multiplication by a constant in GHASH's field."""

    def __init__(self, constant: int) -> None:
        self._rows = []
        for _ in range(128):
            self._rows.append(constant)
            constant = shifted(constant)

    def __call__(self, element: int) -> int:
        product = 0
        while element:
            high = element.bit_length() - 1
            product ^= self._rows[127 - high]
            element ^= 1 << high
        return product


@lru_cache(maxsize=256)
def inverse(element: int) -> int:
    """By Fermat: all powers of two but the first."""
    result, square = 1 << 127, element
    for _ in range(127):
        square = Times(square)(square)
        result = Times(square)(result)
    return result


def number(block: bytes) -> int:
    """A block as an element of the field."""
    return int.from_bytes(block, "big")


def block_of(element: int) -> bytes:
    """An element of the field as a block."""
    return element.to_bytes(BLOCK, "big")


def ghash(h: int, blocks: bytes) -> int:
    """GHASH of whole blocks under any H."""
    times, value = Times(h), 0
    for at in range(0, len(blocks), BLOCK):
        value = times(value ^ number(blocks[at : at + BLOCK]))
    return value


def hash_keys(first: bytes, length: bytes, value: bytes) -> list[bytes]:
    """Every H with which GHASH of two blocks gives ``value``: (first H + length) H. Squares add up bit by bit, so this is a system of linear equations."""
    by_first, by_length = Times(number(first)), Times(number(length))
    rows: dict[int, tuple[int, int]] = {}
    kernel = []
    for place in range(128):
        basis = 1 << place
        image = by_first(Times(basis)(basis)) ^ by_length(basis)
        image, chosen = reduced(rows, image, basis)
        if image:
            rows[image.bit_length()] = (image, chosen)
        else:
            kernel.append(chosen)
    rest, chosen = reduced(rows, number(value), 0)
    if rest or len(kernel) > 2:
        return []
    found = {chosen}
    for other in kernel:
        found |= {one ^ other for one in found}
    return [block_of(h) for h in sorted(found)]


def reduced(rows: dict[int, tuple[int, int]], term: int, chosen: int) -> tuple[int, int]:
    """What is left of a term of a system of equations, and of which terms it is the sum."""
    while (row := rows.get(term.bit_length())) is not None:
        term, chosen = term ^ row[0], chosen ^ row[1]
    return term, chosen
