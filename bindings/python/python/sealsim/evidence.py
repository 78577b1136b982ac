"""Which stages the evidence does not exclude, where no slip that was tried gives what came out. A stage is named only where one is left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from . import gf
from .diagnosis import ADDING, NEAR, Stage, deciphered, one_of, rewired, weight
from .software import BLOCK, xor

if TYPE_CHECKING:
    from .verdict import Seen

ENOUGH = 20
"""Blocks from which wiring is told: one in 2^20 wrong answers per bit, of 128 that have to agree."""


def columns(rows: Iterable[bytes]) -> list[int]:
    """By bit, the first one first: its value in each row."""
    bits = [f"{int.from_bytes(row, 'big'):0{8 * len(row)}b}" for row in rows]
    return [int("".join(column), 2) for column in zip(*bits, strict=True)]


def tag_with(one: Seen, h: bytes) -> bytes:
    """The message's tag under another H."""
    return xor(gf.block_of(gf.ghash(gf.number(h), one.hashed)), one.mask)


def way_out(seen: list[Seen], text_right: int) -> Stage | None:
    """The way of the tag, if it gives each wrong one of the right ones; with what else gives them all. text_right: blocks of text that came."""
    # Zeros may stand in a register before its first tag.
    found = [_slip(seen, one, one.tag, text_right) for one in seen if one.tag_wrong and one.tag and any(one.tag)]
    told = [one for one in found if one is not None]
    if told and len(told) == len(found):
        return one_of((part for part in told[0][1] if all(part in parts for _, parts in told)), f"the way of the tag: {told[0][0]}")
    return _wires(seen, text_right)


def _slip(seen: list[Seen], one: Seen, tag: bytes, text_right: int) -> tuple[str, list[str]] | None:
    """What the tag is of a right one, and which stages would give it alone."""
    right, before = one.message.tag, ["mask", "AES", "counter"][: one.bare * (1 if text_right else 3)]
    for other in seen:
        if other.message.tag.startswith(tag):
            return f"it is that of message {other.message.number}", ["tag", "control", *before]
    before, inverted = before[:2], bytes(255 - byte for byte in tag)
    if right.startswith(inverted):
        return "each bit of it is inverted", ["tag", "mask", "GHASH", *before[1:]]
    for source in dict.fromkeys((right, right[: len(tag)])):
        for name, other_form in (*rewired(source), *_cut(source, len(tag))):
            if other_form.startswith((tag, inverted)):
                return name + (", inverted" if other_form.startswith(inverted) else ""), ["tag", *before]
    return None


def _cut(data: bytes, came: int) -> Iterable[tuple[str, bytes]]:
    """What too few wires, or wires that are too far, leave of some bytes of which so many came. Of fewer than 16 bits that are missing, several tags tell."""
    bits, number = 8 * len(data), int.from_bytes(data, "big")
    for by in range(1, max(17, 8 * came - 31)):
        last = (1 << by) - 1
        first = last << bits - by
        moved = [("it is shifted left by {} bits", number << by & (1 << bits) - 1, last), ("it is shifted right by {} bits", number >> by, first)]
        missing = [("its last {} bits are missing", number & ~last, last), ("its first {} bits are missing", number & ~first, first)]
        for name, left, free in moved + missing * (by >= 16):
            yield name.format(by), left.to_bytes(len(data), "big")
            yield name.format(by) + ", with ones in their place", (left | free).to_bytes(len(data), "big")


def _wires(seen: list[Seen], text_right: int) -> Stage | None:
    """Whether each bit of the tags is the same bit of all right ones, inverted or not, or is stuck, by more than chance."""
    ended = [one for one in seen if one.tag and len(one.tag) == max(len(other.tag or b"") for other in seen)]
    rights, tags = columns(one.message.tag for one in ended), columns(one.tag or b"" for one in ended)
    count, everywhere = len({one.message.tag for one in ended}), (1 << len(ended)) - 1
    wrong = [at for at, tag in enumerate(tags) if tag != rights[at]]
    stuck = [at for at in wrong if tags[at] in (0, everywhere)]
    sources = {source for right in rights for source in (right, right ^ everywhere)}
    # A bit that is only inverted may be so in a part of the sum.
    if len(stuck) == len(tags) or any(tags[at] not in sources or tags[at] == rights[at] ^ everywhere for at in wrong if at not in stuck):
        return None
    # One of 256 bits is chosen for each that is not stuck.
    if sum(count - (1 if at in stuck else 9) for at in wrong) < ENOUGH - 1:
        return None
    left = ["tag", "mask", "AES"][: 1 if any(not one.bare for one in ended) else 2 if text_right else 3]
    return one_of(left, f"the way of the tag: {len(wrong)} of its bits stick or are wired wrongly, of which bit {wrong[0]} is the first")


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
    values, masks, tags = map(columns, zip(*((xor(one.message.tag, one.mask), one.mask, one.tag or b"") for one in ended), strict=True))
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
