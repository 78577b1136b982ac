"""Several messages together: what they tell of a stage, and what they leave open."""

import random

import pytest
from sealsim import gf
from sealsim.decipher import Decipher
from sealsim.scoreboard import Mismatch, Scoreboard
from sealsim.software import AesGcm, length_block, padded, xor

DRAW = random.Random(8)
KEYS = [DRAW.randbytes(16) for _ in range(2)]
# Bytes of AAD and text.
KINDS = [(0, 0), (16, 0), (0, 16), (0, 40), (20, 61), (32, 0), (5, 100), (0, 0), (16, 0), (48, 80), (0, 128), (13, 7)]


def judge(core, keys=(0,) * 6 + (1,) * 6, kinds=KINDS):
    """What is said of a core: a function of key, IV, AAD and plaintext that gives text and tag."""
    scoreboard = Scoreboard(KEYS[0], gather=len(kinds))
    for (aad_bytes, text_bytes), key in zip(kinds, keys, strict=True):
        iv, aad, text = DRAW.randbytes(12), DRAW.randbytes(aad_bytes), DRAW.randbytes(text_bytes)
        scoreboard.start(iv, text, aad, key=KEYS[key])
        output, tag = core(KEYS[key], iv, aad, text)
        for at in range(0, len(output), 16):
            scoreboard.text(output[at : at + 16])
        scoreboard.tag(tag)
    with pytest.raises(Mismatch) as raised:
        scoreboard.finish()
    return raised.value


def gcm(key, iv, aad, text, *, h=None, mask=None, keystream=None, hashed=None):
    """AES-GCM, with stages that may be others."""
    software = AesGcm(key)
    stream = b"".join(software.encrypt(software.counter_block(iv, at)) for at in range(-(-len(text) // 16)))
    output = xor(text, keystream(stream) if keystream else stream)
    blocks = padded(aad) + padded(output) + length_block(len(aad), len(text))
    value = gf.block_of(gf.ghash(gf.number(h or software.h), hashed(blocks) if hashed else blocks))
    return output, xor(value, mask or software.encrypt(software.counter_block(iv, -1)))


def test_the_model_of_a_core_is_aes_gcm_where_nothing_is_changed():
    for aad_bytes, text_bytes in KINDS:
        iv, aad, text = DRAW.randbytes(12), DRAW.randbytes(aad_bytes), DRAW.randbytes(text_bytes)
        assert gcm(KEYS[0], iv, aad, text) == AesGcm(KEYS[0]).seal(iv, text, aad)


@pytest.mark.parametrize("key_bytes", [16, 24, 32])
def test_aes_is_inverted(key_bytes):
    software = AesGcm(DRAW.randbytes(key_bytes))
    back = Decipher(software)
    for _ in range(20):
        block = DRAW.randbytes(16)
        assert back(software.encrypt(block)) == block


def test_h_is_solved_from_a_message_of_one_block():
    for _ in range(5):
        h, first, length = DRAW.randbytes(16), DRAW.randbytes(16), length_block(16, 0)
        value = gf.block_of(gf.ghash(gf.number(h), first + length))
        assert h in gf.hash_keys(first, length, value)


def test_the_inverse_of_an_element_times_it_is_one():
    for _ in range(5):
        element = gf.number(DRAW.randbytes(16))
        assert gf.Times(element)(gf.inverse(element)) == 1 << 127


def test_stages_are_told_from_several_messages():
    stale = AesGcm(KEYS[0]).h
    assert judge(lambda *message: gcm(*message, h=stale)).part == "H"
    other = AesGcm(KEYS[0]).encrypt(b"\xff" * 16)
    assert judge(lambda *message: gcm(*message, mask=other)).part == "mask"
    assert judge(lambda key, *message: gcm(KEYS[1], *message)).part == "key"
    assert judge(lambda *message: gcm(*message, keystream=lambda stream: stream[::-1])).part == "text"
    noise = random.Random(3)
    found = judge(lambda *message: gcm(*message, mask=noise.randbytes(16), h=noise.randbytes(16), keystream=lambda stream: noise.randbytes(len(stream))))
    assert found.part == "AES"


def test_stages_that_give_the_same_are_listed():
    draw = random.Random(4)
    several = [draw.randbytes(16) for _ in KINDS]
    masks = iter(several)
    found = judge(lambda *message: gcm(*message, mask=next(masks)))
    # Twelve messages do not show that no way of the tag gives this.
    assert found.part is None and {"mask", "GHASH", "tag"} <= set(found.among), found
    assert str(found).startswith(f"message 0, tag: one of {', '.join(found.among)}: ")
    # A counter that stands at a block that nobody knows, and an AES that takes the key alone.
    stands = judge(lambda key, *message: gcm(key, *message, mask=AesGcm(key).encrypt(several[0]), keystream=lambda stream: AesGcm(key).encrypt(several[0]) * (len(stream) // 16)))
    assert stands.among == ("AES", "counter"), stands
    blind = judge(lambda key, *message: gcm(key, *message, mask=xor(key, several[0]), keystream=lambda stream: xor(key, several[0]) * (len(stream) // 16)))
    assert blind.part == "AES", blind
    # AES that is taken before its last round.
    early = judge(lambda key, iv, *rest: gcm(key, iv, *rest, mask=early_of(key, iv, -1), keystream=lambda stream: b"".join(early_of(key, iv, at) for at in range(len(stream) // 16))))
    assert early.among == ("AES", "control"), early


def test_a_part_of_a_sum_names_neither_part_nor_the_addition():
    alone = judge(lambda key, iv, aad, text: (AesGcm(key).seal(iv, text, aad)[0], AesGcm(key).encrypt(AesGcm(key).counter_block(iv, -1))))
    assert alone.among == ("GHASH", "mask", "tag"), alone
    assert judge(lambda *message: gcm(*message, h=bytes(16))).among == ("GHASH", "mask", "tag")
    assert judge(lambda *message: gcm(*message, mask=bytes(16))).part == "mask"
    assert judge(lambda *message: (gcm(*message)[0], bytes(16))).among == ("tag", "mask")
    assert judge(lambda key, *message: (gcm(key, *message)[0], AesGcm(key).h)).among == ("tag", "mask")
    assert judge(lambda *message: gcm(*message, hashed=lambda blocks: blocks[:-16] + bytes(16))).among == ("length block", "GHASH")
    # Where GHASH took the right text, what is behind it is wrong.
    assert judge(lambda key, iv, aad, text: (text, gcm(key, iv, aad, text)[1])).part == "text"
    assert judge(lambda *message: gcm(*message, keystream=lambda stream: bytes(len(stream)))).among == ("text", "counter")
    # Where it took zeros, what is before it is.
    assert judge(lambda key, iv, aad, text: (bytes(len(text)), gcm(key, iv, aad, text)[1])).among == ("text", "control")
    assert judge(lambda key, iv, aad, text: gcm(key, iv, aad, text, keystream=lambda stream: text)).part == "text"


def test_bits_that_are_taken_for_stuck_are_so_in_right_tags_too():
    def either(key, iv, aad, text):
        output, tag = AesGcm(key).seal(iv, text, aad)
        mask = AesGcm(key).encrypt(AesGcm(key).counter_block(iv, -1))
        return output, bytes([tag[0] | mask[0] & 0x80]) + tag[1:]

    several = [judge(either, kinds=KINDS * 3, keys=(0,) * 18 + (1,) * 18) for _ in range(3)]
    assert all(one.part is None and {"mask", "tag"} <= set(one.among) for one in several), several
    stuck = judge(lambda *message: (gcm(*message)[0], bytes([gcm(*message)[1][0] | 0x80]) + gcm(*message)[1][1:]), kinds=KINDS * 3, keys=(0,) * 18 + (1,) * 18)
    assert stuck.part == "tag", stuck


def unknown_in(blocks, tags):
    """What is said of a core that gives the blocks (message, block) and the tags without a value, and for each other tag behind AAD or text the mask."""
    scoreboard = Scoreboard(KEYS[0], gather=len(KINDS))
    for number, (aad_bytes, text_bytes) in enumerate(KINDS):
        message = scoreboard.start(DRAW.randbytes(12), DRAW.randbytes(text_bytes), DRAW.randbytes(aad_bytes))
        for at in range(0, text_bytes, 16):
            if (number, at // 16) in blocks:
                scoreboard.unknown("text", "text is X")
            scoreboard.text(bytes(16) if (number, at // 16) in blocks else message.output[at : at + 16])
        if number in tags:
            scoreboard.unknown("tag", "tag is X")
        scoreboard.tag(bytes(16) if number in tags else AesGcm(KEYS[0]).encrypt(AesGcm(KEYS[0]).counter_block(message.iv, -1)))
    with pytest.raises(Mismatch) as raised:
        scoreboard.finish()
    return raised.value


def test_what_has_no_value_is_evidence_beside_what_is_wrong():
    # Some blocks of a message have no value, and others behind them are right: neither a counter nor a handshake gives this.
    assert unknown_in({(3, 1), (4, 0), (6, 2), (9, 4)}, {7}).part == "AES"
    assert set(unknown_in({(number, at) for number in (3, 4, 6) for at in range(7)}, {0, 7}).among) == {"AES", "counter"}
    # Only the first message has no value: the others tell.
    assert unknown_in(set(), {0}).among == ("GHASH", "mask", "tag")


def early_of(key, iv, block):
    software = AesGcm(key)
    return software.rounds(software.counter_block(iv, block))[-2]


def test_what_ghash_began_with_is_told():
    ends = [bytes(16)]

    def core(key, iv, aad, text):
        software = AesGcm(key)
        output, _ = software.seal(iv, text, aad)
        blocks = padded(aad) + padded(output)
        start = xor(ends[-1].ljust(16, b"\0"), (blocks + length_block(len(aad), len(text)))[:16])
        whole = start + (blocks + length_block(len(aad), len(text)))[16:]
        h = gf.number(software.h)
        ends.append(gf.block_of(gf.ghash(h, whole[:-16])) if blocks else ends[-1])
        return output, xor(gf.block_of(gf.ghash(h, whole)), software.encrypt(software.counter_block(iv, -1)))

    found = judge(core)
    assert found.part == "GHASH" and "began with" in found.stage, found


def test_a_message_alone_names_no_stage_that_it_does_not_prove():
    scoreboard = Scoreboard(KEYS[0])
    scoreboard.start(bytes(12), bytes(16))
    with pytest.raises(Mismatch) as raised:
        scoreboard.text(DRAW.randbytes(16))
    assert raised.value.part is None and "AES of this counter block" in raised.value.stage


def test_differences_are_gathered_and_raised_after_so_many_messages():
    scoreboard = Scoreboard(KEYS[0], gather=2)
    for number in range(3):
        message = scoreboard.start(DRAW.randbytes(12), b"")
        if number < 2:
            scoreboard.tag(bytes(16))
    with pytest.raises(Mismatch) as raised:
        scoreboard.tag(message.tag)
    assert raised.value.message.number == 0


def test_pins_without_a_value_are_gathered_too():
    scoreboard = Scoreboard(KEYS[0], gather=9)
    for text in (b"", bytes(32), b"", bytes(16)):
        message = scoreboard.start(DRAW.randbytes(12), text)
        for at in range(0, len(text), 16):
            scoreboard.text(message.output[at : at + 16])
        if not text:
            scoreboard.unknown("tag", "tag is X")
        scoreboard.tag(bytes(16) if not text else message.tag)
    with pytest.raises(Mismatch, match="no value") as raised:
        scoreboard.finish()
    # No value shows neither whether it is added to the mask nor whether it stands in it.
    assert raised.value.part is None and raised.value.among == ("mask", "GHASH", "tag")


@pytest.mark.parametrize(("gather", "stray"), [(0, False), (6, False), (6, True)])
@pytest.mark.parametrize(
    ("key", "told", "part"),
    [
        (bytes(16), "the key: it is zero", "key"),
        (KEYS[0][:8] + bytes(8), "the key: its second half is zero", "key"),
        (KEYS[1], "or its key: .* bits differ", None),
    ],
)
def test_a_tag_that_does_not_come_hides_no_cause(gather, stray, key, told, part):
    scoreboard, text = Scoreboard(KEYS[0], gather=gather), DRAW.randbytes(16)
    if stray:
        scoreboard.tag(bytes(16))
    scoreboard.start(bytes(12), text)
    with pytest.raises(Mismatch, match=told) as raised:
        scoreboard.text(AesGcm(key).seal(bytes(12), text, b"")[0])
        scoreboard.finish()
    assert raised.value.part == part
    assert part or {"AES", "key"} < set(raised.value.among)


def test_a_core_that_judges_is_judged():
    scoreboard = Scoreboard(KEYS[0])
    message = scoreboard.start(bytes(12), b"", b"aad", open=True, tag=bytes(16))
    assert not message.passes
    scoreboard.outcome(False)
    right = AesGcm(KEYS[0]).seal(bytes(12), b"", b"aad")[1]
    scoreboard.start(bytes(12), b"", b"aad", open=True, tag=right)
    with pytest.raises(Mismatch, match="it failed, but its tag is right"):
        scoreboard.outcome(False)
    scoreboard.start(bytes(12), b"", b"aad", open=True, tag=bytes(16))
    with pytest.raises(Mismatch, match="it passed, but its tag is forged"):
        scoreboard.outcome(True)
    with pytest.raises(Mismatch, match="belongs to no message"):
        scoreboard.outcome(True)


def bits(tag, order):
    """A tag whose bits come from these places of it."""
    return gf.block_of(int("".join(f"{gf.number(tag):0128b}"[place] for place in order), 2))


FORMS = {
    "rotated by 9 bits": lambda tag: bits(tag, [(at + 9) % 128 for at in range(128)]),
    "shifted left by 11 bits": lambda tag: gf.block_of(gf.number(tag) << 11 & (1 << 128) - 1),
    "shifted right by 40 bits": lambda tag: bytes(5) + tag[:11],
    "its bits stand": lambda tag: bits(tag, range(127, -1, -1)),
    "bits of each byte": lambda tag: bits(tag, [at ^ 7 for at in range(128)]),
    "bits are missing": lambda tag: tag[:10] + bytes(6),
    "by 3 bytes, inverted": lambda tag: bytes(255 - byte for byte in tag[3:] + tag[:3]),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_way_of_the_tag_is_a_stage_also_of_one_message(name):
    for kinds, left in ((KINDS, ()), ([(16, 0)], ()), ([(0, 40), (20, 61)], ()), ([(0, 0)], ("tag", "mask", "AES"))):
        found = judge(lambda *message: (gcm(*message)[0], FORMS[name](gcm(*message)[1])), kinds=kinds, keys=(0,) * len(kinds))
        assert found.part == (None if left else "tag") and found.among == left and name in found.stage, found


def test_a_stage_is_named_only_where_no_other_gives_the_same_tag():
    order, noise, tags = random.Random(2).sample(range(128), 128), random.Random(6), [bytes(16)]
    assert judge(lambda *message: (gcm(*message)[0], bits(gcm(*message)[1], order))).part == "tag"
    assert judge(lambda *message: (gcm(*message)[0], bytes(255 - byte for byte in gcm(*message)[1]))).among == ("tag", "mask", "GHASH")
    assert judge(lambda *message: (gcm(*message)[0], tags.append(gcm(*message)[1]) or tags[-2])).among == ("tag", "control")
    tag = judge(lambda *message: (gcm(*message)[0], noise.randbytes(16)), kinds=[(16, 0)], keys=[0])
    assert {"GHASH", "H", "length block", "mask", "tag", "AES", "control", "key"} <= set(tag.among), tag
    # AES that is wrong, with no mask alone to show it.
    text = judge(lambda *message: gcm(*message, keystream=lambda stream: noise.randbytes(len(stream))), kinds=[(0, 40)] * 3, keys=[0] * 3)
    assert text.among == ("AES", "key", "counter", "text", "control"), text
    with pytest.raises(Mismatch, match="one of tag, control: 12 of its 16 bytes came"):
        scoreboard = Scoreboard(KEYS[0])
        scoreboard.tag(scoreboard.start(bytes(12), b"").tag[:12])
