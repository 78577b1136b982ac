"""Which stages the evidence does not exclude, where no slip that was tried gives what came out. A stage is named only where one is left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from . import gf
from .diagnosis import ADDING, NEAR, deciphered, weight
from .software import BLOCK, xor

if TYPE_CHECKING:
    from .verdict import Seen

ENOUGH = 20
"""Blocks from which wiring is told: one in 2^20 wrong answers per bit, of 128 that have to agree."""


def tag_with(one: Seen, h: bytes) -> bytes:
    """The message's tag under another H."""
    return xor(gf.block_of(gf.ghash(gf.number(h), one.hashed)), one.mask)


def of_tags(seen: list[Seen]) -> list[str]:
    """GHASH, and what else could give tags that are wrong where keystreams are right. A message without AAD and text also shows the mask."""
    ended = [one for one in seen if one.tag is not None and len(one.tag) == BLOCK and not one.wrong_blocks()]
    left = ["GHASH"]
    if _one_h(ended):
        left.append("H")
    if _lengths_decide(ended):
        left.append("length block")
    if _bit_by_bit(ended):
        left += ["mask", "tag"]
    return left


def _one_h(ended: list[Seen]) -> bool:
    """Whether another H for each key may explain the wrong tags: that of a message of one block has to explain the others."""
    wrong = [one for one in ended if one.tag_wrong and len(one.hashed) > BLOCK]
    for one in [one for one in wrong if len(one.hashed) == 2 * BLOCK]:
        others = [other for other in wrong if other is not one and other.message.key == one.message.key]
        solved = gf.hash_keys(one.hashed[:BLOCK], one.hashed[BLOCK:], xor(one.tag or b"", one.mask))
        if others and not any(all(tag_with(other, h) == other.tag for other in others) for h in solved):
            return False
    return True


def _lengths_decide(ended: list[Seen]) -> bool:
    """Whether GHASH may have taken another length block: messages with the same lengths have to have had the same one."""
    took: dict[tuple[int, int], set[int]] = {}
    for one in ended:
        back = gf.Times(gf.inverse(gf.number(one.software.h)))
        lengths = len(one.message.aad), len(one.message.input)
        took.setdefault(lengths, set()).add(back(gf.number(xor(one.tag or b"", one.message.tag))))
    return all(len(several) == 1 for several in took.values())


def _bit_by_bit(ended: list[Seen]) -> bool:
    """Whether the addition of the mask or the way of the tag may be wrong: each bit of the tags has to come from a bit of GHASH's value and one of the mask."""
    if len(ended) < ENOUGH:
        return True
    values, masks, tags = (
        [sum((row >> bit & 1) << place for place, row in enumerate(rows)) for bit in range(128)]
        for rows in (
            [gf.number(xor(one.message.tag, one.mask)) for one in ended],
            [gf.number(one.mask) for one in ended],
            [gf.number(one.tag or b"") for one in ended],
        )
    )
    everywhere = (1 << len(ended)) - 1
    sources = {0, everywhere, *values, *(column ^ everywhere for column in values)}
    return all(
        _function(tag, value, mask, everywhere) or any(tag ^ column in sources for column in (0, *masks))
        for tag, value, mask in zip(tags, values, masks, strict=True)
    )


def _function(tag: int, value: int, mask: int, everywhere: int) -> bool:
    """Whether a bit is a function of two bits in all messages."""
    for one in (value, value ^ everywhere):
        for other in (mask, mask ^ everywhere):
            if tag & one & other not in (0, one & other):
                return False
    return True


def of_aes(seen: list[Seen], known: Iterable[bytes]) -> list[str]:
    """AES, and what else could give masks and keystreams that are wrong alike: blocks that AES was given, or that were taken of it too early."""
    names = set(known)
    given: dict[bytes, list[list[bytes]]] = {}
    early = False
    for one in seen:
        blocks = [(at, xor(one.blocks[at], one.given(at))) for at in one.wrong_blocks() if len(one.right(at)) == BLOCK]
        if one.bare and one.tag_wrong and one.tag is not None and len(one.tag) == BLOCK:
            blocks.append((-1, one.tag))
        given.setdefault(one.message.key, []).append([deciphered(one.software, stream) for _, stream in blocks])
        sources = [bytes(BLOCK), *(one.software.counter_block(one.message.iv, at) for at, _ in blocks)]
        states = {state for source in sources for state in one.software.rounds(source)[:-1]}
        early = early or not states.isdisjoint(stream for _, stream in blocks)
    counters = _counts(given) or any(block in names for several in given.values() for blocks in several for block in blocks)
    return ["AES", *["counter"] * counters, *["control"] * early]


def _counts(given: dict[bytes, list[list[bytes]]]) -> bool:
    """Whether what AES was given, if it is right, could be wrong counter blocks. given: by key and message.

    Each of a message would be near the one before it, which AES hides in what it gives. Where they are all the same, for several IVs, they would not
    depend on the key.
    """
    pairs = [weight(xor(one, other)) for several in given.values() for blocks in several for one, other in zip(blocks, blocks[1:], strict=False)]
    if any(bits > NEAR for bits in pairs):
        return False
    if not pairs or any(pairs):
        return True
    every = [{block for blocks in several for block in blocks} for several in given.values()]
    return any(len(blocks) > 1 for blocks in every) or len(every) < 2 or len(set.union(*every)) == 1


def of_hash_key(seen: list[Seen], found: bytes, key: bytes) -> list[str]:
    """What gives an H that is wrong, unknown, and the same for several messages: AES of another block, if that is the same for other keys, or GHASH."""
    if found == bytes(BLOCK):
        # AES gives zeros for one block in 2^128, and GHASH's value is zero with them.
        return list(ADDING)
    block = next(deciphered(one.software, found) for one in seen if one.message.key == key)
    wrong = [one for one in seen if one.tag_wrong and one.message.key != key and len(one.hashed) == 2 * BLOCK and len(one.tag or b"") == BLOCK]
    for one in wrong:
        solved = gf.hash_keys(one.hashed[:BLOCK], one.hashed[BLOCK:], xor(one.tag or b"", one.mask))
        if all(deciphered(one.software, h) != block for h in solved):
            return ["GHASH"]
    return ["GHASH", "H"]
