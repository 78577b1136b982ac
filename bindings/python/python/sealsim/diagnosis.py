"""Which stage of an AES-GCM core would make what came out of it. Each answer is a hypothesis that gives exactly these bytes, or says that it is none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from .blocks import of_blocks
from .decipher import Decipher
from .software import BLOCK, AesGcm, length_block, padded, xor

MOST_BLOCKS = 4096
"""Blocks up to which each one is tried."""
NEAR = 30
"""Bits of 128 by which a block may differ from another and still be taken for it: one in 2^27 random blocks is so near."""


class Stage(NamedTuple):
    """A stage and what is wrong in it.

    part: the stage's name, where what came out excludes the others: ``control`` (which blocks and tags come, in which order, and the handshake with AES),
    ``key`` (another key than the message's), ``AES`` (with its key schedule and the register of its key), ``counter`` (counter blocks, and which keystream
    goes with which block), ``text`` (the way of text in, through the addition of the keystream, and out), ``GHASH`` (its multiplication, its accumulator,
    the blocks that it takes, and its copy of H), ``H``, ``length block``, ``mask`` (E(K, J0) and its addition), ``tag`` (the way of the tag behind that);
    None where several stages would give the same, which ``among`` lists, or where it is not known.
    """

    part: str | None
    text: str
    among: tuple[str, ...] = ()


def one_of(parts: Iterable[str], text: str) -> Stage:
    """One of several stages, which nothing that came out tells apart."""
    several = tuple(dict.fromkeys(parts))
    return Stage(several[0], text) if len(several) == 1 else Stage(None, text, several)


def of_text(
    software: AesGcm, iv: bytes, given: bytes, right: bytes, number: int, block: bytes, others: tuple[bytes, ...] = ()
) -> Stage:
    """Of a text block that is wrong. others: keys of other messages."""
    found = exactly(software, iv, given, right, number, block, others)
    if found is not None:
        return found
    place = slice(BLOCK * number, BLOCK * (number + 1))
    expected = right[place]
    got = block[: len(expected)]
    bits = weight(xor(got, expected))
    if bits <= 2:
        # The last round of AES changes as few, if it is in the addition of its key or in one byte.
        return one_of(("text", "AES"), f"{bits} bits differ: the way behind the keystream, since AES would change half of them")
    same = [place for place, (one, other) in enumerate(zip(got, expected, strict=True)) if one == other]
    if len(same) >= len(got) // 2 and len(got) > 3:
        wrong = [place for place in range(len(got)) if place not in same]
        return one_of(("text", "AES"), f"only bytes {', '.join(map(str, wrong))} of the block differ: the way behind the keystream")
    return one_of(("AES", "key", "counter", "text", "control"), f"AES of this counter block, or its key: {bits} of {8 * len(got)} bits differ")


def exactly(
    software: AesGcm, iv: bytes, given: bytes, right: bytes, number: int, block: bytes, others: tuple[bytes, ...] = ()
) -> Stage | None:
    """The hypothesis that gives exactly this block."""
    place = slice(BLOCK * number, BLOCK * (number + 1))
    before, expected = given[place], right[place]
    got = block[: len(expected)]
    if got == before:
        return Stage("text", "text went through unchanged: no keystream was added")
    if got == expected[::-1]:
        return Stage("text", "the bytes stand in reverse order")
    blocks = min(-(-len(given) // BLOCK), MOST_BLOCKS)
    for other in range(-1, blocks + 1):
        at = slice(BLOCK * other, BLOCK * (other + 1)) if other >= 0 else slice(0, 0)
        if other != number and right[at][: len(got)] == got and len(got) == BLOCK:
            return Stage("control", f"this is block {other}: blocks are out of order, or one is missing")
    moved = _misplaced(right, expected, got, number)
    if moved is not None:
        return Stage("text", moved)
    used = xor(got, before)
    counter = software.counter_block(iv, number)
    cut = _cut_counter(software, counter, used)
    if cut is not None:
        return Stage("counter", cut)
    for other in range(-1, blocks + 1):
        one = software.counter_block(iv, other)
        if other != number and software.encrypt(one)[: len(used)] == used:
            of = "J0" if other < 0 else f"block {other}"
            return Stage("counter", f"the counter: the keystream is that of {of}, counter block {one.hex()}")
    if software.encrypt(bytes(BLOCK))[: len(used)] == used:
        return Stage("counter", "the counter: the keystream is H, that of a counter block of zeros")
    if len(used) == BLOCK:
        other_key = _other_key(software, counter, used, others)
        if other_key is not None:
            return Stage("key", other_key)
        was = deciphered(software, used)
        like = resembles(was, counter)
        if like is not None:
            return Stage("counter", f"the counter block was {was.hex()}{like}")
    aligned = _unaligned(software, counter, given, number, used, got)
    return aligned or _mixed(before, got, software.encrypt(counter))


def _unaligned(software: AesGcm, counter: bytes, given: bytes, number: int, used: bytes, got: bytes) -> Stage | None:
    """The keystream and the text beside each other."""
    key = software.encrypt(counter)
    if len(used) < BLOCK:
        return None
    for shift in range(1, BLOCK // 2 + 1):
        if used[shift:] == key[: BLOCK - shift]:
            return Stage("text", f"the keystream comes {shift} bytes late")
        if used[: BLOCK - shift] == key[shift:]:
            return Stage("text", f"the keystream comes {shift} bytes early")
    for shift in range(-BLOCK + 1, BLOCK):
        start = BLOCK * number + shift
        if shift and start >= 0 and xor(given[start : start + BLOCK], key) == got:
            way = "later" if shift > 0 else "earlier"
            return Stage("text", f"the text is that of {abs(shift)} bytes {way}: it is not aligned to its keystream")
    return None


def _mixed(before: bytes, got: bytes, key: bytes) -> Stage | None:
    """Text and keystream, put together in another way."""
    if len(got) < 8:
        return None
    given, came, stream = (int.from_bytes(part[: len(got)], "big") for part in (before, got, key))
    ones = (1 << 8 * len(got)) - 1
    for name, other in (
        ("and", given & stream),
        ("or", given | stream),
        ("exclusive nor", given ^ stream ^ ones),
        ("sum", (given + stream) & ones),
        ("difference", (given - stream) & ones),
    ):
        if came == other:
            return Stage("text", f"it is the {name} of text and keystream, not the exclusive or")
    if came == stream:
        return Stage("text", "it is the keystream alone")
    turned = xor(before[::-1], key)[: len(got)]
    if len(got) == BLOCK and (got == turned or xor(before, key[::-1]) == got):
        return Stage("text", f"the bytes of {'the text' if got == turned else 'the keystream'} stand in reverse order")
    return None


@lru_cache(maxsize=64)
def _decipher(software: AesGcm) -> Decipher:
    return Decipher(software)


def deciphered(software: AesGcm, block: bytes) -> bytes:
    """The block whose AES this is."""
    return _decipher(software)(block)


def weight(block: bytes) -> int:
    """Bits that are one."""
    return bin(int.from_bytes(block, "big")).count("1")


def resembles(was: bytes, counter: bytes) -> str | None:
    """How a block stands to a counter block, if by more than chance."""
    if was[:12] == counter[:12]:
        count, right = (int.from_bytes(block[12:], "big") for block in (was, counter))
        return f": it counts {count} in place of {right}"
    if was[12:] == counter[12:]:
        return ": its IV is another"
    if was == counter[::-1]:
        return ": its bytes stand in reverse order"
    if counter[:12] in was + was:
        return ": its IV stands in another place"
    if weight(xor(was, counter)) <= NEAR:
        return f": {weight(xor(was, counter))} bits of it are wrong"
    if weight(was) <= 8 or sum(byte == 0 for byte in was) >= 8:
        return ", most of it zero"
    words = [counter[at : at + 4] for at in range(0, 12, 4)]
    if any(word in was and any(word) for word in words):
        return ": only a part of the IV stands in it"
    number, right = int.from_bytes(was, "big"), int.from_bytes(counter, "big")
    for shift in range(1, 97):
        for one, other in ((number, right), (right, number)):
            moved = one << shift & (1 << 128) - 1
            if (moved ^ other) >> shift == 0:
                return f": it is shifted by {shift} bits"
    return None


def rewired(data: bytes) -> list[tuple[str, bytes]]:
    """What wires in another order make of some bytes."""
    bits, number = 8 * len(data), int.from_bytes(data, "big")
    ones = (1 << bits) - 1
    turned = bytes(int(f"{byte:08b}"[::-1], 2) for byte in data)
    found = [("its bytes stand in reverse order", data[::-1]), ("its bits stand in reverse order", turned[::-1]), ("the bits of each byte stand in reverse order", turned)]
    for size in (2, 4, 8, 16):
        words = [data[at : at + size] for at in range(0, len(data), size)]
        found.append((f"its {8 * size}-bit words stand in reverse order", b"".join(words[::-1])))
        found.append((f"the bytes of its {8 * size}-bit words stand in reverse order", b"".join(word[::-1] for word in words)))
    for shift in range(1, bits):
        by = f"{shift} bits" if shift % 8 else f"{shift // 8} bytes"
        found.append((f"it is rotated by {by}", (number << shift & ones | number >> (bits - shift)).to_bytes(len(data), "big")))
    return [(name, other) for name, other in found if other != data]


def keys_like(key: bytes) -> list[tuple[str, bytes]]:
    """Keys that a slip would make of a key."""
    bits, number = 8 * len(key), int.from_bytes(key, "big")
    flipped = [(f"bit {bits - 1 - place} of it is wrong", (number ^ 1 << place).to_bytes(len(key), "big")) for place in range(bits)]
    half = len(key) // 2
    loaded = [("it is zero", bytes(len(key))), ("its first half is zero", bytes(half) + key[half:]), ("its second half is zero", key[:half] + bytes(half))]
    held = [(name, other) for name, other in (*loaded, ("each bit of it is one", b"\xff" * len(key))) if other != key]
    return [*held, *rewired(key), *flipped]


@lru_cache(maxsize=16)
def _keyed(key: bytes) -> AesGcm:
    return AesGcm(key)


def _other_key(software: AesGcm, counter: bytes, used: bytes, others: tuple[bytes, ...]) -> str | None:
    for other in others:
        if _keyed(other).encrypt(counter) == used:
            return "the key: it is that of another message"
    for name, other in keys_like(software.key):
        if AesGcm(other).encrypt(counter) == used:
            return f"the key: {name}"
    return None


def _misplaced(right: bytes, expected: bytes, got: bytes, number: int) -> str | None:
    """The right bytes in another place or order."""
    if len(got) < BLOCK:
        return None
    at = right.find(got)
    if at >= 0 and at != BLOCK * number:
        shift = at - BLOCK * number
        way = "later" if shift > 0 else "earlier"
        return f"the block is not aligned: these are the bytes that come {abs(shift)} {way}"
    for name, other in rewired(expected):
        if got == other:
            return f"the way of the block: {name}"
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

MASK_ALONE = "GHASH: its value is zero, or is not added: the tag is the mask alone"
ADDING = ("GHASH", "mask", "tag")
"""Of a sum that is one of its parts: the other is zero, or is not added, or another register is taken for the sum."""
LENGTHS_ZERO = "the length block: it is zero, or is not added"


def of_tag(software: AesGcm, iv: bytes, aad: bytes, cipher: bytes, tag: bytes, plain: bytes | None = None) -> Stage | None:
    """Of a tag that is wrong after text that is right. It may be cut."""
    mask = software.encrypt(software.counter_block(iv, -1))
    blocks, lengths = padded(aad) + padded(cipher), length_block(len(aad), len(cipher))
    hashed = xor(tag, mask)
    if software.ghash(blocks + lengths).startswith(tag):
        return Stage("mask", "the mask: E(K, J0) was not added")
    if mask.startswith(tag):
        return one_of(ADDING, MASK_ALONE)
    for name, other in _other_lengths(len(aad), len(cipher)):
        if software.ghash(blocks + other).startswith(hashed):
            # The value before the length block may also have been taken for the last.
            if not any(other):
                return one_of(("length block", "GHASH"), LENGTHS_ZERO) if other else one_of(("length block", "GHASH", "tag"), f"the length block: {name}")
            return Stage("length block", f"the length block: {name}")
    other_input = _other_input(software, iv, aad, cipher, plain, lengths, hashed)
    if other_input is not None:
        return Stage("GHASH", f"GHASH: {other_input}")
    first = len(padded(aad)) // BLOCK
    each = [blocks[at : at + BLOCK] for at in range(0, len(blocks), BLOCK)]
    names = [f"AAD block {at}" if at < first else f"text block {at - first}" for at in range(len(each))]
    found = of_blocks(software, each, lengths, hashed, names)
    if found is not None:
        return Stage("GHASH", f"GHASH: {found}")
    counter = software.counter_block(iv, 0)
    if software.encrypt(counter).startswith(xor(tag, software.ghash(blocks + lengths))):
        return Stage("mask", "the mask: it is the keystream of block 0, not E(K, J0)")
    return None


def _other_input(
    software: AesGcm, iv: bytes, aad: bytes, cipher: bytes, plain: bytes | None, lengths: bytes, hashed: bytes
) -> str | None:
    """Other bytes that GHASH may have been given than AAD and ciphertext in this order."""
    if software.ghash(padded(cipher) + padded(aad) + lengths).startswith(hashed):
        return "text comes before AAD"
    if software.ghash(padded(aad + cipher) + lengths).startswith(hashed):
        return "text follows AAD without zeros between"
    if plain is not None and software.ghash(padded(aad) + padded(plain) + lengths).startswith(hashed):
        return "it took plaintext in place of ciphertext"
    short = len(cipher) % BLOCK
    if short:
        last = len(padded(cipher)) // BLOCK - 1
        behind = software.encrypt(software.counter_block(iv, last))[short:]
        if software.ghash(padded(aad) + cipher + behind + lengths).startswith(hashed):
            return f"it took the keystream behind the short last block, of which {short} bytes count, in place of zeros"
    return None


def _other_lengths(aad: int, text: int) -> list[tuple[str, bytes]]:
    return [
        ("it is missing, or the tag takes the value before it", b""),
        ("it is zero", bytes(BLOCK)),
        ("lengths are in bytes, not in bits", aad.to_bytes(8, "big") + text.to_bytes(8, "big")),
        ("the lengths are exchanged", length_block(text, aad)),
        ("the length of AAD is missing", length_block(0, text)),
        ("the length of text is missing", length_block(aad, 0)),
        ("text counts as whole blocks", length_block(aad, len(padded(bytes(text))))),
        ("AAD counts as whole blocks", length_block(len(padded(bytes(aad))), text)),
    ]
