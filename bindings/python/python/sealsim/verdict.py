"""Which stage of a core is wrong, from all that came out of it: messages that are right clear stages, and several that are wrong share a cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import evidence, gf
from .diagnosis import ADDING, LENGTHS_ZERO, MASK_ALONE, NEAR, Stage, deciphered, exactly, keys_like, of_tag, of_text, one_of, resembles, weight
from .evidence import ENOUGH, tag_with
from .software import BLOCK, AesGcm, length_block, padded, xor

if TYPE_CHECKING:
    from .scoreboard import Message

NO_VALUE = "no value: a register without reset, or a driver that is missing"
UNKNOWN = Stage(None, NO_VALUE)


@dataclass
class Seen:
    """What came of a message so far. short: its tag came before all of its text. unknown: which blocks had bits without a value, and -1 for the tag."""

    message: Message
    software: AesGcm
    blocks: list[bytes] = field(default_factory=list)
    tag: bytes | None = None
    short: bool = False
    unknown: set[int] = field(default_factory=set)

    def wrong_blocks(self) -> list[int]:
        """Blocks that came and are wrong."""
        return [at for at, got in enumerate(self.blocks) if got[: len(self.right(at))] != self.right(at)]

    def right(self, block: int) -> bytes:
        """What a block has to be."""
        return self.message.output[BLOCK * block : BLOCK * (block + 1)]

    def given(self, block: int) -> bytes:
        """What went in for it."""
        return self.message.input[BLOCK * block : BLOCK * (block + 1)]

    @property
    def text_unknown(self) -> bool:
        """Whether text came without a value."""
        return any(at >= 0 for at in self.unknown)

    @property
    def bare(self) -> bool:
        """Whether GHASH has nothing to take, so that the tag is the mask."""
        return not self.message.aad and not self.message.input

    @property
    def mask(self) -> bytes:
        """E(K, J0)."""
        return self.software.encrypt(self.software.counter_block(self.message.iv, -1))

    @property
    def tag_wrong(self) -> bool:
        """Whether a tag came that is not the message's."""
        return self.tag is not None and self.tag != self.message.tag[: len(self.tag)]

    @property
    def agrees(self) -> bool:
        """Whether the tag belongs to the message, or to the text that came in its place: H, mask and GHASH are right then."""
        if self.tag is None:
            return False
        if not self.tag_wrong:
            return True
        came = b"".join(self.blocks)[: len(self.message.output)]
        hashed = padded(self.message.aad) + padded(came) + length_block(len(self.message.aad), len(self.message.output))
        return not self.message.opens and xor(self.software.ghash(hashed), self.mask).startswith(self.tag)

    @property
    def hashed(self) -> bytes:
        """The blocks that GHASH takes, with the length block."""
        aad, cipher = self.message.aad, self.message.ciphertext
        return padded(aad) + padded(cipher) + length_block(len(aad), len(cipher))


def explain(seen: list[Seen], strays: list[tuple[str, str]]) -> Stage:
    """The stage that is wrong. strays: blocks and tags that belong to no message, and messages that did not end, with what of them that concerns."""
    text = any(one.wrong_blocks() for one in seen)
    lost = _lost(seen, [told for _, told in strays])
    if lost is not None:
        # Each block came in its place: where one is wrong, that says more than a tag or a pin does.
        whole = all(what != "text" for what, _ in strays) and not any(one.short for one in seen)
        found = explain(seen, []) if whole and (text or any(one.text_unknown for one in seen)) else UNKNOWN
        return found._replace(text=f"{found.text}; {strays[0][1]}") if _parts(found) else lost
    if any(one.unknown for one in seen):
        return _of_some_unknown(seen)
    if text:
        return _of_texts(seen)
    return _of_tags(seen)


def _of_some_unknown(seen: list[Seen]) -> Stage:
    """Messages of which some have bits without a value, and others may be wrong in bits that have one."""
    clear = [one for one in seen if not one.unknown]
    first = next(at for at, one in enumerate(seen) if not one.unknown) if clear else len(seen)
    if any(one.tag_wrong or one.wrong_blocks() for one in clear) and not any(one.unknown for one in seen[first:]):
        # Registers without reset have no value in the first messages, and say nothing then that the others do not.
        return explain(clear, [])
    found = _of_unknown(seen)
    if not any(at not in one.unknown for one in seen for at in one.wrong_blocks()):
        # GHASH may make zeros of what has no value, where it tests bits: tags that are wrong add nothing.
        return found
    other = explain(clear, []) if any(one.wrong_blocks() for one in clear) else UNKNOWN
    return one_of((*_parts(found), *_parts(other)), found.text) if _parts(found) and _parts(other) else UNKNOWN


def _parts(stage: Stage) -> tuple[str, ...]:
    return stage.among or ((stage.part,) if stage.part else ())


def _of_unknown(seen: list[Seen]) -> Stage:
    """Bits without a value: what they reach tells where they begin."""
    text = [one for one in seen if one.text_unknown]
    bare = [one for one in seen if one.bare and one.tag is not None]
    masks = [one for one in bare if -1 in one.unknown]
    came = [at in one.unknown for one in seen for at in range(len(one.blocks))]
    gone = any(before and not after for before, after in zip(came, came[1:], strict=False))
    again = any(after and not before for before, after in zip(came, came[1:], strict=False))
    if text and masks:
        within = any(at in one.unknown and at + 1 not in one.unknown for one in text for at in range(len(one.blocks) - 1))
        # A counter without a value keeps none until the next message; AES that is taken before it is done has one from its first block on.
        left = ["AES", *["counter"] * (not within), *["control"] * (gone and not again)]
        return one_of(left, f"AES, its key, or the counter block that it is given: {NO_VALUE}, in masks and keystream alike")
    right = any(one.blocks for one in seen) and not any(one.wrong_blocks() for one in seen)
    if not text and right and masks:
        return one_of(("mask", "GHASH", "tag"), f"the tag of nothing: {NO_VALUE}")
    if not text and right and bare and not any(one.tag_wrong for one in bare):
        return one_of(("GHASH", "H", "length block"), f"GHASH, H or the length block: {NO_VALUE}")
    if text and bare and not any(one.tag_wrong for one in bare):
        # AES gives some blocks a value and others none only where it depends on them.
        return one_of(("control", "counter", "text", *["AES"] * (gone or again)), f"text or its keystream: {NO_VALUE}")
    return UNKNOWN


def _lost(seen: list[Seen], strays: list[str]) -> Stage | None:
    """Blocks or tags that did not come, or came without being asked for."""
    for one in seen:
        if one.short:
            wrong = one.wrong_blocks()
            where = f": from block {wrong[0]} on others came in their place" if wrong else ""
            count = -(-len(one.message.output) // BLOCK)
            return Stage("control", f"{len(one.blocks)} of {count} blocks came before the tag of message {one.message.number}{where}")
    if strays and not any(one.blocks or one.tag is not None for one in seen):
        return Stage("control", f"nothing came, not even a tag: the control waits for ever, maybe for an AES that is never done ({strays[0]})")
    return Stage("control", strays[0]) if strays else None


def _of_texts(seen: list[Seen]) -> Stage:
    keys = tuple({one.message.key: None for one in seen})
    cases = [(one, at) for one in seen for at in one.wrong_blocks()]
    cases.sort(key=lambda case: -len(case[0].right(case[1])))
    bare = [one for one in seen if one.bare and one.tag is not None]
    masks_wrong = any(one.tag_wrong for one in bare)
    for one, at in [case for case in cases if len(case[0].right(case[1])) >= BLOCK // 2][:6] or cases[:1]:
        message = one.message
        found = exactly(one.software, message.iv, message.input, message.output, at, one.blocks[at], keys)
        if found is not None and not (masks_wrong and found.text.startswith("text went through")):
            return _unless_others(cases, bare, found)
    known = _known(seen)
    for one, at in [(one, at) for one, at in cases[:6] if not masks_wrong and one.blocks[at] != bytes(BLOCK)]:
        if len(one.right(at)) == BLOCK and one.blocks[at] in known:
            return Stage("text", f"the way of text: what comes out is {known[one.blocks[at]]}")
        added = xor(one.blocks[at], one.given(at))
        if len(one.right(at)) == BLOCK and added in known:
            return one_of(("text", "counter"), f"what is added in place of the keystream is {known[added]}")
    if not masks_wrong and any(one.blocks[at] == bytes(BLOCK) for one, at in cases[:6]):
        return _zeros(cases)
    full = sum(len(one.right(at)) == BLOCK for one in seen for at in range(len(one.blocks)))
    if full >= ENOUGH and len(cases) > 1 and all(len(one.right(at)) < BLOCK for one, at in cases):
        return Stage("text", "the way of text: only last blocks that are short are wrong")
    # AES is right where a tag is, since H and the mask come from it.
    ended = [one for one in seen if one.tag is not None]
    proven = [one for one in ended if one.agrees]
    wired = None if masks_wrong else _wired(seen)
    if wired is not None:
        # Where no tag is right, AES may be wrong in the same way.
        return one_of(("text", *["AES"] * (not proven)), wired)
    one, at = cases[0]
    dense = sum(weight(xor(one.blocks[at], one.right(at))) * 4 > len(one.right(at)) * 8 for one, at in cases)
    ever, masks_ever = _ever(xor(one.blocks[at], one.right(at)).ljust(BLOCK, b"\0") for one, at in cases), _ever(xor(one.tag or b"", one.mask) for one in bare)
    if masks_wrong and bin(ever).count("1") <= NEAR and not masks_ever & ~ever:
        return Stage("AES", f"AES, its last round or its way out: only bits {ever:032x} are ever wrong, in masks as in keystreams")
    if masks_wrong:
        left = evidence.of_aes(seen, known)
        if not any(one.agrees for one in bare):
            return one_of(left, "AES, its key schedule or the register of its key: mask and keystream are wrong alike, and no slip of the counter or the key explains them")
        if dense * 2 >= len(cases):
            return one_of(left, "AES: some of its blocks are wrong, of masks as of the keystream")
    elif proven and len(proven) == len(ended) and len(cases) > 1 and dense * 2 < len(cases):
        return Stage("text", "the way of text: AES is right, since tags are, and most bits of the blocks are")
    told = of_text(one.software, one.message.iv, one.message.input, one.message.output, at, one.blocks[at], keys)
    return told


def _zeros(cases: list[tuple[Seen, int]]) -> Stage:
    """Zeros in place of text. Where the tag is that of zeros, they come before GHASH takes them, so that no register behind it is read too early."""
    sealed = [one for one, _ in cases if not one.message.opens and one.tag is not None]
    taken = bool(sealed) and all(one.agrees and one.tag_wrong for one in sealed)
    return one_of(("text", *["control"] * (not taken)), "zeros come out")


def _ever(differences: Iterable[bytes]) -> int:
    """Bits that are one in any."""
    found = 0
    for difference in differences:
        found |= gf.number(difference)
    return found


def _unless_others(cases: list[tuple[Seen, int]], bare: list[Seen], found: Stage) -> Stage:
    """What is wrong, unless other stages give the same: AES may not take its counter block, another register or none may be added in the keystream's place."""
    if found.text.startswith("text went through") and not any(one.tag == one.message.tag and not one.message.opens for one, _ in cases):
        # GHASH took no right text, so the keystream may be zero.
        return one_of(("text", "counter"), found.text)
    if found.part != "counter":
        return found
    whole = [(one, at) for one, at in cases if len(one.right(at)) == BLOCK] or cases
    for registers in ([one.software.h for one, _ in whole], [one.mask for one, _ in whole]):
        if all(register.startswith(xor(one.blocks[at], one.given(at))) for register, (one, at) in zip(registers, whole, strict=True)):
            if any(one.tag_wrong and one.tag == one.software.h for one in bare):
                return one_of(("AES", "counter"), "AES or counters: AES was given zeros for each block, and for J0")
            return one_of(("counter", "text"), f"{found.text}, or it is added in place of the keystream")
    if any(one.tag_wrong for one in bare) and any(slip in found.text for slip in (" bits", "most of it", "a part")):
        return one_of(("counter", "AES"), f"{found.text}; J0 is wrong too, so AES may not take its whole block")
    return found


def _wired(seen: list[Seen]) -> str | None:
    """Whether each bit that comes out is the exclusive or of some bit that goes in and some bit of the keystream, the same for all blocks."""
    rows: list[tuple[bytes, bytes, bytes]] = []
    for one in seen:
        for at, came in enumerate(one.blocks):
            if len(one.right(at)) == BLOCK:
                key = one.software.encrypt(one.software.counter_block(one.message.iv, at))
                rows.append((came, one.given(at), key))
    if len(rows) < ENOUGH:
        return None
    out, given, stream = (evidence.columns(several) for several in zip(*rows, strict=True))
    everywhere = (1 << len(rows)) - 1
    sources = {column: bit for bit, column in enumerate(given)} | {0: -1}
    loose = []
    for bit in range(128):
        if out[bit] == given[bit] ^ stream[bit]:
            continue
        choices = [0, everywhere, *stream, *(column ^ everywhere for column in stream)]
        mixed = (given[bit] & stream[bit], given[bit] | stream[bit])
        if not any(out[bit] ^ choice in sources for choice in choices) and out[bit] not in mixed:
            return None
        loose.append(bit)
    return f"the way of text: {len(loose)} of its bits are wired wrongly, of which bit {min(loose)} is the first" if loose else None


def _of_tags(seen: list[Seen]) -> Stage:
    wrong = [one for one in seen if one.tag_wrong]
    wrong.sort(key=lambda one: len(one.hashed))
    bare = [one for one in seen if one.bare and one.tag is not None]
    text_right = sum(len(one.blocks) for one in seen)
    found = evidence.way_out(seen, text_right)
    if found is not None:
        return found
    first = wrong[0]
    if first.tag is not None and len(first.tag) < BLOCK:
        return _constant(seen) or _hypothesis(wrong) or _unknown_tag(seen, text_right)
    for one in wrong[:6]:
        slip = _key_of_tag(seen, one)
        if slip is not None:
            return Stage("key", f"the key: {slip}")
    masks_wrong = [one for one in bare if one.tag_wrong]
    known = _known(seen)
    if masks_wrong:
        return _of_masks(seen, masks_wrong, known, text_right)
    if all(one.tag == one.mask for one in wrong):
        return one_of(ADDING, MASK_ALONE)
    found = _constant(seen) or _of_mask_block(wrong, text_right) or _combined(seen) or _hash_key(seen, wrong) or _unless_once(seen, wrong, _hypothesis(wrong))
    found = found or _register(wrong, known) or _one_block(wrong, known | _derived(seen)) or _bits_of_tag(seen)
    if found is not None:
        return found
    ended = [one for one in seen if one.tag is not None]
    if bare and text_right and len(wrong) > 1:
        return one_of(evidence.of_tags(seen), f"masks and text are right, and no slip of GHASH explains its value{_pattern(ended)}")
    return _unknown_tag(seen, text_right)


def _unknown_tag(seen: list[Seen], text_right: int) -> Stage:
    """A tag that no slip gives. Without text, nothing shows that counter blocks and the key are right."""
    left = (*evidence.of_tags(seen), "mask", "AES", "control", *("key", "counter")[: 0 if text_right else 2])
    return one_of(left, "no slip on the way of the tag, and no choice, order, shift or repeat of GHASH's blocks that was tried gives this tag, so AES may be wrong")


def _unless_once(seen: list[Seen], wrong: list[Seen], found: Stage | None) -> Stage | None:
    """A sum of which one part is zero in one message, as other messages see it."""
    if found is not None and found.text == MASK_ALONE:
        return one_of(evidence.of_tags(seen), f"{MASK_ALONE}, but only in some messages")
    if found is not None and found.text == LENGTHS_ZERO:
        if any(any(_length_taken(one) or b"") for one in wrong):
            return Stage("length block", "the length block: it is zero in some messages, and wrong in others")
    return found


def _constant(seen: list[Seen]) -> Stage | None:
    """Tags that are all the same, or all H: they have neither mask nor GHASH's value, so another register is taken for the sum, or is added."""
    ended = [one for one in seen if one.tag]
    if all(one.bare for one in ended):
        return None if any(any(one.tag or b"") for one in ended) else one_of(("mask", "tag"), "the mask: E(K, J0) was not added, or the tag did not come out")
    same = len({one.tag for one in ended}) == 1 or all(one.software.h.startswith(one.tag or b"") for one in ended)
    return one_of(("tag", "mask"), f"each tag is {(ended[0].tag or b'').hex()}, or H") if same and len(ended) > 1 else None


def _key_of_tag(seen: list[Seen], one: Seen) -> str | None:
    """Another key that gives the whole tag, of a message whose text does not show its key."""
    if one.message.input:
        return None
    slips = [("it is that of another message", other.message.key) for other in seen if other.message.key != one.message.key]
    for name, key in slips + keys_like(one.message.key):
        other = AesGcm(key)
        mask = other.encrypt(other.counter_block(one.message.iv, -1))
        if one.tag == (mask if one.bare else xor(other.ghash(one.hashed), mask)):
            return name
    return None


def _known(seen: list[Seen]) -> dict[bytes, str]:
    """Values that stand in a core, by name."""
    known: dict[bytes, str] = {}
    for one in seen:
        message, software = one.message, one.software
        name = f"message {message.number}"
        known[one.hashed[-BLOCK:]] = f"the length block of {name}"
        known |= {software.h: f"H of {name}", one.mask: f"E(K, J0) of {name}", message.tag: f"the tag of {name}"}
        known[software.counter_block(message.iv, -1)] = f"J0 of {name}"
        total = b""
        for at in range(0, len(one.hashed), BLOCK):
            block = one.hashed[at : at + BLOCK]
            total = software.ghash(xor(total or bytes(BLOCK), block))
            known[total] = f"GHASH's value behind block {at // BLOCK} of {name}"
        for at in range(len(one.blocks)):
            counter = software.counter_block(message.iv, at)
            known |= {software.encrypt(counter): f"the keystream of block {at} of {name}", counter: f"counter block {at} of {name}"}
            for what, value in (("what goes in for", one.given(at)), ("what comes out for", one.right(at))):
                known[value.ljust(BLOCK, b"\0")] = f"{what} block {at} of {name}"
    known.pop(bytes(BLOCK), None)
    return known


def _derived(seen: list[Seen]) -> dict[bytes, str]:
    """What GHASH must have had, to give wrong tags that came."""
    derived: dict[bytes, str] = {}
    for one in seen:
        if one.tag is not None and len(one.tag) == BLOCK and one.tag_wrong and not one.bare:
            value = xor(one.tag, one.mask)
            before = gf.block_of(gf.Times(gf.inverse(gf.number(one.software.h)))(gf.number(value)))
            derived[value] = f"GHASH's value at the end of message {one.message.number}"
            derived[xor(before, one.hashed[-BLOCK:])] = f"GHASH's value behind the text of message {one.message.number}"
    return derived


def _register(wrong: list[Seen], known: dict[bytes, str]) -> Stage | None:
    """Another register that stands in place of GHASH's value or of the mask."""
    for one in wrong[:6]:
        value, tag = xor(one.message.tag, one.mask), one.tag or b""
        if tag == bytes(BLOCK) or one.message.tag in (xor(tag, one.mask), xor(tag, value)):
            # GHASH's value or the mask is missing, or both.
            continue
        if xor(tag, one.mask) in known:
            return one_of(("GHASH", "tag"), f"in place of GHASH's value stands {known[xor(tag, one.mask)]}")
        if xor(tag, value) in known:
            return Stage("mask", f"the mask: in its place stands {known[xor(tag, value)]}")
    return None


def _of_masks(seen: list[Seen], masks_wrong: list[Seen], known: dict[bytes, str], text_right: int) -> Stage:
    """Of a message without AAD and text, whose tag is E(K, J0)."""
    found = _constant(seen) or _of_mask_block(masks_wrong, text_right) or _combined(seen)
    if found is not None:
        return found
    began = [_began(one, known | _derived(seen)) for one in masks_wrong]
    if any(began):
        return next(stage for stage in began if stage)
    one = masks_wrong[-1]
    assert one.tag is not None
    start = gf.block_of(gf.Times(gf.inverse(gf.number(one.software.h)))(gf.number(xor(one.tag, one.mask))))
    difference, unseen = xor(one.tag, one.mask), ["AES"] * (not text_right)
    if weight(start) <= NEAR:
        return _length_or_begin(seen, start)
    if len(masks_wrong) > 1 and len({xor(other.tag or b"", other.mask) for other in masks_wrong}) == 1:
        # No slip of AES gives the same difference under several IVs.
        if all(xor(other.tag, other.message.tag) == difference for other in seen if other.tag is not None):
            return one_of(("tag", "mask", "GHASH", *unseen), f"the way of the tag: {difference.hex()} is added to each")
        return _bits_of_tag(seen) or one_of((*evidence.of_tags(seen), *unseen), f"GHASH: of zeros it makes {difference.hex()}")
    wrong = [other for other in seen if other.tag_wrong]
    if text_right < 2 or not all(other.tag_wrong for other in seen if other.tag is not None):
        return _bits_of_tag(seen) or _register(wrong, known) or _unknown_tag(seen, text_right)
    left = ("mask", *evidence.of_tags(seen))
    return _bits_of_tag(seen) or _register(wrong, known) or one_of(left, "keystreams are right, and the tag of nothing, which is E(K, J0), is wrong")


def _began(one: Seen, known: dict[bytes, str]) -> Stage | None:
    """A value that GHASH had in place of zero, for nothing, if it is known."""
    value = xor(one.tag or b"", one.mask)
    start = gf.block_of(gf.Times(gf.inverse(gf.number(one.software.h)))(gf.number(value)))
    if start in known and weight(start) > NEAR:
        return Stage("GHASH", f"GHASH: it began with {known[start]} in place of zero")
    if value in known:
        return one_of(("GHASH", "tag"), f"GHASH: its value was {known[value]} in place of zero")
    return None


def _length_or_begin(seen: list[Seen], began: bytes) -> Stage:
    """What GHASH had in place of zero for nothing: the length block, or the value that it began with, which further blocks tell apart."""
    others = [one for one in seen if one.tag_wrong and not one.bare]
    if others and all(_length_taken(one) is not None for one in others):
        return Stage("length block", f"the length block: it is {began.hex()} for nothing")
    power = gf.Times(gf.number(began))
    for one in others[:3]:
        difference = power(gf.number(one.software.h))
        for _ in range(len(one.hashed) // BLOCK - 1):
            difference = gf.Times(difference)(gf.number(one.software.h))
        if gf.block_of(difference) == xor(one.tag or b"", one.message.tag):
            return Stage("GHASH", f"GHASH: it began with {began.hex()} in place of zero")
    return one_of(("GHASH", "length block"), f"GHASH or the length block: of nothing it took {began.hex()} in place of zero")


def _combined(seen: list[Seen]) -> Stage | None:
    """GHASH's value and the mask, put together in another way: the same in all bits of all tags."""
    ended = [one for one in seen if one.tag is not None and len(one.tag) == BLOCK and not one.wrong_blocks()]
    pairs = [(gf.number(xor(one.message.tag, one.mask)), gf.number(one.mask), gf.number(one.tag or b"")) for one in ended]
    if len(pairs) < 2:
        return None
    ones = (1 << 128) - 1
    ways: list[tuple[str, Callable[[int, int], int]]] = [
        ("or", lambda value, mask: value | mask),
        ("and", lambda value, mask: value & mask),
        ("sum", lambda value, mask: value + mask & ones),
        ("difference", lambda value, mask: value - mask & ones),
    ]
    for name, way in ways:
        if all(way(value, mask) == tag for value, mask, tag in pairs):
            return Stage("mask", f"the mask: the tag is the {name} of it and GHASH's value, not the exclusive or")
    return None


def _of_mask_block(wrong: list[Seen], text_right: int) -> Stage | None:
    """What AES took in place of J0, where GHASH is right. text_right: blocks of text that came; without any, the IV or AES may be wrong for all."""
    unseen = () if text_right else ("AES", "counter")
    for one in wrong[:4]:
        assert one.tag is not None
        mask = xor(one.tag, one.software.ghash(one.hashed))
        j0 = one.software.counter_block(one.message.iv, -1)
        if mask == bytes(BLOCK):
            return Stage("mask", "the mask: E(K, J0) was not added")
        if mask == one.software.h:
            return one_of(("mask", *unseen), "the mask: it is H, not E(K, J0)")
        was = deciphered(one.software, mask)
        like = resembles(was, j0)
        if like is not None:
            return one_of(("mask", *unseen), f"the mask: AES was given {was.hex()} in place of J0{like}")
        for source, name in ((j0, "J0"), (bytes(BLOCK), "zero")):
            states = one.software.rounds(source)
            if mask in states:
                return one_of(("mask", "control", *unseen), f"the mask: it is AES of {name} after round {states.index(mask)}")
    masks = {xor(one.tag or b"", one.software.ghash(one.hashed)) for one in wrong}
    return Stage("mask", f"the mask: it is {masks.pop().hex()} in several messages") if len(wrong) > 1 and len(masks) == 1 else None


def _hash_key(seen: list[Seen], wrong: list[Seen]) -> Stage | None:
    """An H other than E(K, 0) that gives the tags."""
    for one in [one for one in wrong if len(one.hashed) == 2 * BLOCK][:4]:
        assert one.tag is not None
        value = xor(one.tag, one.mask)
        for h in gf.hash_keys(one.hashed[:BLOCK], one.hashed[BLOCK:], value):
            if h != one.software.h:
                told = _told_of_h(seen, one, h)
                if told:
                    return _h_is(told)
                if told == "":
                    left = evidence.of_hash_key(seen, h, one.message.key)
                    return one_of(left, f"GHASH, its multiplication or its copy of H: it works as with {h.hex()} for H")
    for one in wrong[:3]:
        for h, name in _other_hs(seen, one):
            if tag_with(one, h) == one.tag and len(one.hashed) > BLOCK:
                return _h_is(f"it is {name}, not E(K, 0)")
    return None


def _h_is(told: str) -> Stage:
    # AES may not have been done when H was taken.
    return one_of(("H", "control") if "after round" in told else ("H",), f"H: {told}")


def _other_hs(seen: list[Seen], one: Seen) -> list[tuple[bytes, str]]:
    found = [(other.software.h, f"that of message {other.message.number}, with another key") for other in seen if other.message.key != one.message.key]
    found += [(other.mask, f"E(K, J0) of message {other.message.number}") for other in seen]
    own = one.software.h
    found += [(own[::-1], "its own bytes in reverse order"), (gf.block_of(int(f"{gf.number(own):0128b}"[::-1], 2)), "its own bits in reverse order")]
    found += [(state, f"AES of zero after round {at}") for at, state in enumerate(one.software.rounds(bytes(BLOCK))[:-1])]
    found += [(gf.block_of(gf.number(own) ^ 1 << bit), f"its own with bit {127 - bit} wrong") for bit in range(128)]
    return found


def _told_of_h(seen: list[Seen], one: Seen, h: bytes) -> str | None:
    """What is said of an H that explains one message, if it is some known block; nothing, if it explains others and is none."""
    for other, name in _other_hs(seen, one):
        if other == h:
            return f"it is {name}, not E(K, 0)"
    was = deciphered(one.software, h)
    if weight(was) <= 8 or weight(was) >= 120:
        return f"it is AES of {was.hex()}, not of zeros"
    if resembles(was, one.software.counter_block(one.message.iv, -1)) is not None:
        return f"it is AES of {was.hex()}, not of zeros"
    if weight(xor(h, one.software.h)) <= NEAR:
        return f"it is {h.hex()}, of which {weight(xor(h, one.software.h))} bits are wrong"
    others = [other for other in seen if other is not one and other.tag_wrong and other.message.key == one.message.key and len(other.hashed) > BLOCK]
    if others and all(tag_with(other, h) == other.tag for other in others):
        return ""
    return None


def _hypothesis(wrong: list[Seen]) -> Stage | None:
    """The first of some messages for whose tag there is one."""
    for one in wrong[:2] + [one for one in wrong[2:] if len(one.hashed) >= 4 * BLOCK][:3]:
        assert one.tag is not None
        message = one.message
        plain = message.output if message.opens else message.input
        found = of_tag(one.software, message.iv, message.aad, message.ciphertext, one.tag, plain)
        if found is not None:
            return found
    return None


def _one_block(wrong: list[Seen], known: dict[bytes, str]) -> Stage | None:
    """One block that GHASH took in another form than it has, which its value shows since each other one is right."""
    lengths = [_length_taken(one) for one in wrong]
    if all(length is not None for length in lengths):
        return Stage("length block", f"the length block: it was {lengths[0].hex()} in place of {wrong[0].hashed[-BLOCK:].hex()}")  # type: ignore[union-attr]
    for one in wrong[:6]:
        assert one.tag is not None
        back = gf.Times(gf.inverse(gf.number(one.software.h)))
        difference = gf.number(xor(one.tag, one.message.tag))
        blocks = [one.hashed[at : at + BLOCK] for at in range(0, len(one.hashed), BLOCK)]
        first = len(padded(one.message.aad)) // BLOCK
        for at in range(len(blocks) - 1, -1, -1):
            difference = back(difference)
            delta = gf.block_of(difference)
            took = xor(delta, blocks[at])
            name = "the length block" if at == len(blocks) - 1 else f"AAD block {at}" if at < first else f"text block {at - first}"
            if at < len(blocks) - 1 and (took in known or delta in known or weight(delta) <= NEAR or sum(byte == 0 for byte in delta) >= 6):
                of = f", which is {known[took]}" if took in known else f", {known[delta]} on top" if delta in known else ""
                return Stage("GHASH", f"GHASH: for {name} of message {one.message.number} it took {took.hex()}{of}")
    return None


def _length_taken(one: Seen) -> bytes | None:
    """The length block that GHASH took, if it looks like one."""
    assert one.tag is not None
    length = one.hashed[-BLOCK:]
    back = gf.Times(gf.inverse(gf.number(one.software.h)))
    took = xor(gf.block_of(back(gf.number(xor(one.tag, one.message.tag)))), length)
    return took if weight(xor(took, length)) <= NEAR else None


def _bits_of_tag(seen: list[Seen]) -> Stage | None:
    """A tag of which some bits are always right, or that differs always in the same ones: GHASH would change all."""
    ended = [one for one in seen if one.tag is not None and len(one.tag) == BLOCK]
    wrong = [one for one in ended if one.tag_wrong]
    differences = [gf.number(xor(one.tag or b"", one.message.tag)) for one in ended]
    ever = _ever(map(gf.block_of, differences))
    if len(wrong) >= 4 and bin(ever).count("1") <= 128 - ENOUGH:
        masks = [gf.number(one.mask) for one in ended]
        values = [gf.number(xor(one.message.tag, one.mask)) for one in ended]
        if all(difference == ever & mask for difference, mask in zip(differences, masks, strict=True)):
            return Stage("mask", f"the mask: E(K, J0) is not added to bits {ever:032x} of the tag")
        if all(difference == ever & value for difference, value in zip(differences, values, strict=True)):
            return one_of(ADDING, f"GHASH: its value is missing, or is not added to the mask, in bits {ever:032x} of the tag")
        return one_of(ADDING, f"the way of the tag: only bits {ever:032x} are ever wrong")
    return None


def _pattern(ended: list[Seen]) -> str:
    """What the messages whose tag is wrong have, and the others have not."""
    for what, has in (
        ("that are opened", lambda one: one.message.opens),
        ("that are sealed", lambda one: not one.message.opens),
        ("with AAD", lambda one: bool(one.message.aad)),
        ("with text", lambda one: bool(one.message.input)),
        ("with a short last block of AAD", lambda one: bool(len(one.message.aad) % BLOCK)),
        ("with a short last block of text", lambda one: bool(len(one.message.input) % BLOCK)),
        ("with AAD and text", lambda one: bool(one.message.aad and one.message.input)),
    ):
        if all(has(one) == one.tag_wrong for one in ended):
            return f"; the messages {what} are wrong, and no others"
    return ""
