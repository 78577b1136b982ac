"""Which stage of an AES-GCM core would make what came out of it. Each answer is a hypothesis that gives exactly these bytes."""

from __future__ import annotations

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
    bits = sum(bin(byte).count("1") for byte in xor(got, expected))
    if bits <= 2:
        return f"{bits} bits differ: the way behind the keystream, since AES would change half of them"
    return f"AES of this counter block, or its key: {bits} of {8 * len(got)} bits differ"


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
    """Of a tag that is wrong after text that is right."""
    mask = software.encrypt(software.counter_block(iv, -1))
    blocks, lengths = padded(aad) + padded(cipher), length_block(len(aad), len(cipher))
    hashed = xor(tag, mask)
    if tag == software.ghash(blocks + lengths):
        return "the mask: E(K, J0) was not added"
    if tag == mask:
        return "GHASH: its value is zero, the tag is the mask alone"
    for name, other in _other_lengths(len(aad), len(cipher)):
        if hashed == software.ghash(blocks + other):
            return f"the length block: {name}"
    if tag[::-1] == xor(software.ghash(blocks + lengths), mask):
        return "the bytes of the tag stand in reverse order"
    if hashed == software.ghash(padded(cipher) + padded(aad) + lengths):
        return "GHASH: text comes before AAD"
    count, first = len(blocks) // BLOCK, len(padded(aad)) // BLOCK
    for number in range(min(count, MOST_BLOCKS)):
        before, after = blocks[: BLOCK * number], blocks[BLOCK * (number + 1) :]
        named = f"AAD block {number}" if number < first else f"text block {number - first}"
        block = blocks[BLOCK * number : BLOCK * (number + 1)]
        for what, other in (("did not take", b""), ("took zeros for", bytes(BLOCK)), ("took twice", block + block)):
            if hashed == software.ghash(before + other + after + lengths):
                return f"GHASH: it {what} {named}"
    counter = software.counter_block(iv, 0)
    if xor(tag, software.ghash(blocks + lengths)) == software.encrypt(counter):
        return "the mask: it is the keystream of block 0, not E(K, J0)"
    return "GHASH, H or the mask: none of the usual faults of GHASH gives this tag, so AES may be wrong"


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
