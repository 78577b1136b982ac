"""Which stage of an AES-GCM core would make what came out of it. Each answer is a hypothesis that gives exactly these bytes."""

from __future__ import annotations

from .search import of_blocks
from .software import BLOCK, AesGcm, length_block, padded, xor

MOST_BLOCKS = 4096
"""Blocks up to which each one is tried."""


def of_text(software: AesGcm, iv: bytes, given: bytes, right: bytes, number: int, block: bytes) -> str:
    """Of a text block that is wrong."""
    place = slice(BLOCK * number, BLOCK * (number + 1))
    before, expected = given[place], right[place]
    got = block[: len(expected)]
    if got == before:
        return "text went through unchanged: no keystream was added"
    if got == expected[::-1]:
        return "the bytes stand in reverse order"
    blocks = min(-(-len(given) // BLOCK), MOST_BLOCKS)
    for other in range(-1, blocks + 1):
        at = slice(BLOCK * other, BLOCK * (other + 1)) if other >= 0 else slice(0, 0)
        if other != number and right[at][: len(got)] == got and len(got) == BLOCK:
            return f"this is block {other}: blocks are out of order, or one is missing"
    moved = _misplaced(right, expected, got, number)
    if moved is not None:
        return moved
    used = xor(got, before)
    cut = _cut_counter(software, software.counter_block(iv, number), used)
    if cut is not None:
        return cut
    for other in range(-1, blocks + 1):
        counter = software.counter_block(iv, other)
        if other != number and software.encrypt(counter)[: len(used)] == used:
            of = "J0" if other < 0 else f"block {other}"
            return f"the counter: the keystream is that of {of}, counter block {counter.hex()}"
    if software.encrypt(bytes(BLOCK))[: len(used)] == used:
        return "the counter: the keystream is H, that of a counter block of zeros"
    key = software.encrypt(software.counter_block(iv, number))
    for shift in range(1, BLOCK):
        for way, moved_key in (("late", bytes(shift) + key), ("early", key[shift:])):
            if len(used) == BLOCK and used[shift:] == moved_key[shift:BLOCK] and way == "late":
                return f"the keystream comes {shift} bytes late"
            if len(used) == BLOCK and used[: BLOCK - shift] == moved_key and way == "early":
                return f"the keystream comes {shift} bytes early"
    for shift in range(-BLOCK + 1, BLOCK):
        start = BLOCK * number + shift
        if shift and start >= 0 and len(got) == BLOCK and xor(given[start : start + BLOCK], key) == got:
            return f"the text is that of {abs(shift)} bytes {'later' if shift > 0 else 'earlier'}: it is not aligned to its keystream"
    bits = sum(bin(byte).count("1") for byte in xor(got, expected))
    if bits <= 2:
        return f"{bits} bits differ: the way behind the keystream, since AES would change half of them"
    same = [place for place, (one, other) in enumerate(zip(got, expected, strict=True)) if one == other]
    if len(same) >= len(got) // 2 and len(got) > 3:
        wrong = [place for place in range(len(got)) if place not in same]
        return f"only bytes {', '.join(map(str, wrong))} of the block differ: the way behind the keystream"
    return f"AES of this counter block, or its key: {bits} of {8 * len(got)} bits differ"


def _misplaced(right: bytes, expected: bytes, got: bytes, number: int) -> str | None:
    """The right bytes in another place or order."""
    if len(got) < BLOCK:
        return None
    at = right.find(got)
    if at >= 0 and at != BLOCK * number:
        shift = at - BLOCK * number
        way = "later" if shift > 0 else "earlier"
        return f"the block is not aligned: these are the bytes that come {abs(shift)} {way}"
    for size, unit in ((2, "16-bit words"), (4, "32-bit words"), (8, "64-bit words")):
        words = [expected[place : place + size] for place in range(0, BLOCK, size)]
        if got == b"".join(word[::-1] for word in words):
            return f"the bytes of its {unit} stand in reverse order"
        if got == b"".join(words[::-1]):
            return f"its {unit} stand in reverse order"
    if got == bytes(int(f"{byte:08b}"[::-1], 2) for byte in expected):
        return "the bits of each byte stand in reverse order"
    for shift in range(1, BLOCK):
        if got == expected[shift:] + expected[:shift]:
            return f"the block is rotated by {shift} bytes"
    for shift in range(1, BLOCK):
        before, behind = right[max(0, BLOCK * number - shift) : BLOCK * number], right[BLOCK * (number + 1) :][:shift]
        if got[shift:] == expected[: BLOCK - shift] and got[:shift] in (bytes(shift), before):
            return f"the block is not aligned: it comes {shift} bytes late"
        if got[: BLOCK - shift] == expected[shift:] and got[BLOCK - shift :] in (bytes(shift), behind):
            return f"the block is not aligned: it comes {shift} bytes early"
    return None


def _cut_counter(software: AesGcm, counter: bytes, used: bytes) -> str | None:
    """The first counter that needs a carry which does not come."""
    value = int.from_bytes(counter[12:], "big")
    zeros = (value & -value).bit_length() - 1
    for bits in range(zeros, 0, -1):
        cut = (value - 1) % (1 << 32) >> bits << bits
        if software.encrypt(counter[:12] + cut.to_bytes(4, "big"))[: len(used)] == used:
            return f"the counter: its carry ends at bit {bits}, so that it counts {cut} in place of {value}"
    return None


def of_tag(software: AesGcm, iv: bytes, aad: bytes, cipher: bytes, tag: bytes) -> str:
    """Of a tag that is wrong after text that is right. It may be cut."""
    mask = software.encrypt(software.counter_block(iv, -1))
    blocks, lengths = padded(aad) + padded(cipher), length_block(len(aad), len(cipher))
    hashed = xor(tag, mask)
    if software.ghash(blocks + lengths).startswith(tag):
        return "the mask: E(K, J0) was not added"
    if mask.startswith(tag):
        return "GHASH: its value is zero, the tag is the mask alone"
    for name, other in _other_lengths(len(aad), len(cipher)):
        if software.ghash(blocks + other).startswith(hashed):
            return f"the length block: {name}"
    if len(tag) == BLOCK and tag[::-1] == xor(software.ghash(blocks + lengths), mask):
        return "the bytes of the tag stand in reverse order"
    if software.ghash(padded(cipher) + padded(aad) + lengths).startswith(hashed):
        return "GHASH: text comes before AAD"
    short = len(cipher) % BLOCK
    if short:
        last = len(padded(cipher)) // BLOCK - 1
        behind = software.encrypt(software.counter_block(iv, last))[short:]
        if software.ghash(padded(aad) + cipher + behind + lengths).startswith(hashed):
            return f"GHASH: it took the keystream behind the short last block, of which {short} bytes count, in place of zeros"
    first = len(padded(aad)) // BLOCK
    each = [blocks[at : at + BLOCK] for at in range(0, len(blocks), BLOCK)]
    names = [f"AAD block {at}" if at < first else f"text block {at - first}" for at in range(len(each))]
    found = of_blocks(software, each, lengths, hashed, names)
    if found is not None:
        return f"GHASH: {found}"
    counter = software.counter_block(iv, 0)
    if software.encrypt(counter).startswith(xor(tag, software.ghash(blocks + lengths))):
        return "the mask: it is the keystream of block 0, not E(K, J0)"
    return "GHASH, H or the mask: no choice, order, shift or repeat of its blocks that was tried gives this tag, so AES may be wrong"


def _other_lengths(aad: int, text: int) -> list[tuple[str, bytes]]:
    return [
        ("it is missing", b""),
        ("it is zero", bytes(BLOCK)),
        ("lengths are in bytes, not in bits", aad.to_bytes(8, "big") + text.to_bytes(8, "big")),
        ("the lengths are exchanged", length_block(text, aad)),
        ("the length of AAD is missing", length_block(0, text)),
        ("the length of text is missing", length_block(aad, 0)),
        ("text counts as whole blocks", length_block(aad, len(padded(bytes(text))))),
        ("AAD counts as whole blocks", length_block(len(padded(bytes(aad))), text)),
    ]
