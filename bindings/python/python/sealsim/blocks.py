"""Which blocks GHASH took in place of those that it should have, found from its value alone.

GHASH is linear, so zeros in the place of any blocks are found by elimination. Blocks that are missing or taken twice move all before them by a power of H:
runs, strides and pairs of them are tried one by one, and any choice among at most 24 blocks by meeting in the middle.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from .gf import Times, inverse, number, reduced
from .software import BLOCK, AesGcm

MOST_FOR_PAIRS = 64
"""Blocks up to which all runs and pairs are tried, so at most some 6,000 values of GHASH."""
MOST_FOR_ANY = 24
"""Blocks up to which any choice among them is found."""

def of_blocks(software: AesGcm, blocks: list[bytes], tail: bytes, value: bytes, names: list[str]) -> str | None:
    """What GHASH took in place of ``blocks`` before ``tail`` if its value begins with ``value``; None if no search finds it."""
    zeros = _zeros(software, blocks, tail, value)
    if zeros is not None and zeros == list(range(len(zeros))):
        # Before the first block that is not zero nothing shows how many came.
        return f"it did not take (or took zeros for) {_listed(zeros, names)}"
    if zeros is not None:
        return f"it took zeros for {_listed(zeros, names)}"
    for what, ordered in _orders(blocks):
        if software.ghash(b"".join(ordered) + tail).startswith(value):
            return what
    for verb, copies in (("did not take", 0), ("took twice", 2)):
        for chosen in _choices(len(blocks)):
            other = b"".join(block * (copies if place in chosen else 1) for place, block in enumerate(blocks))
            if software.ghash(other + tail).startswith(value):
                return f"it {verb} {_listed(sorted(chosen), names)}"
    if len(blocks) <= MOST_FOR_ANY and len(value) == BLOCK:
        for verb, copies in (("did not take", 0), ("took twice", 2)):
            found = _meet(software, blocks, tail, value, copies)
            if found is not None:
                return f"it {verb} {_listed(found, names)}"
    return None


def _zeros(software: AesGcm, blocks: list[bytes], tail: bytes, value: bytes) -> list[int] | None:
    """The blocks whose terms add up to the difference, by elimination; none where a chance solution is likelier than one in 2^32."""
    bits = 8 * len(value)
    if not blocks or len(blocks) > bits - 32:
        return None
    cut = 128 - bits
    difference = (number(software.ghash(b"".join(blocks) + tail)) >> cut) ^ number(value)
    times, power, terms = Times(number(software.h)), number(software.h), []
    for block in reversed(blocks):
        power = times(power)
        terms.append(Times(power)(number(block)) >> cut)
    rows: dict[int, tuple[int, int]] = {}
    for place, term in enumerate(reversed(terms)):
        term, chosen = reduced(rows, term, 1 << place)
        if term:
            rows[term.bit_length()] = (term, chosen)
    rest, chosen = reduced(rows, difference, 0)
    return [place for place in range(len(blocks)) if chosen >> place & 1] if rest == 0 else None


def _orders(blocks: list[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    yield "its blocks came in reverse order", blocks[::-1]
    yield "the bytes of each block stand in reverse order", [block[::-1] for block in blocks]
    reversed_bits = [bytes(int(f"{byte:08b}"[::-1], 2) for byte in block) for block in blocks]
    yield "the bits of each byte stand in reverse order", reversed_bits
    whole = b"".join(blocks)
    for shift in range(1, BLOCK):
        yield f"it took everything {shift} bytes late", _cut(bytes(shift) + whole)[: len(blocks)]
        yield f"it took everything {shift} bytes early", _cut(whole[shift:] + bytes(shift))
    for times in (2, 3, 4):
        yield f"it took each block {times} times", [block for block in blocks for _ in range(times)]
    if len(blocks) <= MOST_FOR_PAIRS:
        for one, other in combinations(range(len(blocks)), 2):
            exchanged = list(blocks)
            exchanged[one], exchanged[other] = blocks[other], blocks[one]
            yield f"blocks {one} and {other} of its input are exchanged", exchanged


def _cut(data: bytes) -> list[bytes]:
    return [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]


def _choices(count: int) -> Iterator[set[int]]:
    """Runs, strides and pairs."""
    if count > MOST_FOR_PAIRS:
        yield from ({place} for place in range(min(count, 4096)))
    else:
        yield from (set(range(first, last)) for first in range(count) for last in range(first + 1, count + 1))
        yield from ({one, other} for one, other in combinations(range(count), 2))
    for stride in range(2, min(count, MOST_FOR_PAIRS) + 1):
        yield from (set(range(phase, count, stride)) for phase in range(stride))


def _meet(software: AesGcm, blocks: list[bytes], tail: bytes, value: bytes, copies: int) -> list[int] | None:
    """The blocks that came ``copies`` times in place of once."""
    h = number(software.h)
    times = Times(h)
    half = len(blocks) // 2

    def all_of(part: list[bytes]) -> dict[tuple[int, int], int]:
        """By choice of blocks and how many came: the value over those."""
        values = {(0, 0): 0}
        for place, block in enumerate(part):
            following = {}
            for (chosen, came), before in values.items():
                for bit, times_taken in ((0, 1), (1, copies)):
                    after = before
                    for _ in range(times_taken):
                        after = times(after ^ number(block))
                    following[chosen | bit << place, came + times_taken] = after
            values = following
        return values

    firsts = {after: chosen for (chosen, _), after in all_of(blocks[:half]).items()}
    back = Times(inverse(h))
    backs: dict[int, Times] = {}
    power = 1 << 127
    for came in range(2 * len(blocks) + 2):
        backs[came] = Times(power)
        power = back(power)
    for (chosen, came), after in all_of(blocks[half:]).items():
        # The length block follows.
        second = times(after ^ number(tail)) if tail else after
        first = firsts.get(backs[came + bool(tail)](number(value) ^ second))
        if first is not None:
            both = first | chosen << half
            return [place for place in range(len(blocks)) if both >> place & 1]
    return None


def _listed(places: list[int], names: list[str]) -> str:
    told = [names[place] for place in places[:8]]
    more = len(places) - len(told)
    if more:
        return ", ".join(told) + f" and {more} more"
    return told[0] if len(told) == 1 else ", ".join(told[:-1]) + " and " + told[-1]
