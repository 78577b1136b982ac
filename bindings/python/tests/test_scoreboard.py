"""The scoreboard passes what is AES-GCM, and names what is not."""

import random

import pytest
import sealsim
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sealsim.scoreboard import Budget, Mismatch, Scoreboard
from sealsim.software import AesGcm, length_block, padded, xor

DRAW = random.Random(5)
KEY = DRAW.randbytes(16)
IV = DRAW.randbytes(12)


def blocks(text):
    return [text[at : at + 16] for at in range(0, len(text), 16)]


def give(scoreboard, output, tag):
    for block in blocks(output):
        scoreboard.text(block.ljust(16, b"\xee"))
    scoreboard.tag(tag)
    scoreboard.finish()


@pytest.mark.parametrize("key_bytes", [16, 24, 32])
def test_what_is_aes_gcm_passes(key_bytes):
    key = DRAW.randbytes(key_bytes)
    scoreboard = Scoreboard(key)
    for number in range(30):
        iv, aad, text = DRAW.randbytes(12), DRAW.randbytes(number % 5 * 9), DRAW.randbytes(number * 7)
        sealed = AESGCM(key).encrypt(iv, text, aad)
        scoreboard.start(iv, text, aad)
        give(scoreboard, sealed[:-16], sealed[-16:])
        scoreboard.start(iv, sealed[:-16], aad, open=True)
        give(scoreboard, text, sealed[-16:])
    assert len(scoreboard.log) == 60


def test_messages_that_overlap_are_told_apart():
    scoreboard = Scoreboard(KEY)
    messages = [scoreboard.start(DRAW.randbytes(12), DRAW.randbytes(size)) for size in (40, 0, 16, 1, 0)]
    for message in messages[:3]:
        for block in blocks(message.output):
            scoreboard.text(block)
    for message in messages[:3]:
        scoreboard.tag(message.tag)
    scoreboard.text(messages[3].output)
    scoreboard.tag(messages[3].tag)
    scoreboard.tag(messages[4].tag)
    scoreboard.finish()


def keystream(software, block):
    return software.encrypt(software.counter_block(IV, block))


TEXT = DRAW.randbytes(40 * 16)
AAD = DRAW.randbytes(20)
SOFTWARE = AesGcm(KEY)
RIGHT, TAG = SOFTWARE.seal(IV, TEXT, AAD)
MASK = keystream(SOFTWARE, -1)
HASHED = padded(AAD) + padded(RIGHT)
LENGTHS = length_block(len(AAD), len(RIGHT))


@pytest.mark.parametrize(
    ("number", "block", "stage"),
    [
        (7, TEXT[112:128], "no keystream"),
        (7, RIGHT[128:144], "this is block 8"),
        (7, xor(TEXT[112:128], keystream(SOFTWARE, 6)), "keystream is that of block 6"),
        (0, xor(TEXT[:16], MASK), "keystream is that of J0"),
        (14, xor(TEXT[224:240], SOFTWARE.encrypt(IV + bytes(4))), "its carry ends at bit 4"),
        (3, RIGHT[48:64][::-1], "reverse order"),
        (9, xor(RIGHT[144:160], bytes(15) + b"\1"), "1 bits differ"),
        (9, bytes(16), "AES of this counter block"),
    ],
)
def test_a_wrong_block_is_named_with_its_stage(number, block, stage):
    scoreboard = Scoreboard(KEY)
    scoreboard.start(IV, TEXT, AAD)
    for right in blocks(RIGHT)[:number]:
        scoreboard.text(right)
    with pytest.raises(Mismatch, match=stage) as raised:
        scoreboard.text(block)
    wrong = raised.value
    assert (wrong.what, wrong.message.number, wrong.block) == ("text", 0, number)
    assert (wrong.expected, wrong.got) == (RIGHT[16 * number : 16 * number + 16], block)
    assert wrong.counter_block == IV + (number + 2).to_bytes(4, "big")


@pytest.mark.parametrize(
    ("tag", "stage"),
    [
        (SOFTWARE.ghash(HASHED + LENGTHS), r"E\(K, J0\) was not added"),
        (MASK, "its value is zero"),
        (xor(MASK, SOFTWARE.ghash(HASHED)), "length block: it is missing"),
        (xor(MASK, SOFTWARE.ghash(HASHED + length_block(len(RIGHT), len(AAD)))), "exchanged"),
        (xor(MASK, SOFTWARE.ghash(HASHED[:16] + HASHED[32:] + LENGTHS)), "did not take AAD block 1"),
        (xor(MASK, SOFTWARE.ghash(HASHED[:64] + HASHED[80:] + LENGTHS)), "did not take text block 2"),
        (xor(MASK, SOFTWARE.ghash(HASHED[:80] + HASHED[64:] + LENGTHS)), "took twice text block 2"),
        (TAG[::-1], "reverse order"),
        (bytes(16), "AES may be wrong"),
    ],
)
def test_a_wrong_tag_is_named_with_its_stage(tag, stage):
    scoreboard = Scoreboard(KEY)
    scoreboard.start(IV, TEXT, AAD)
    with pytest.raises(Mismatch, match=stage) as raised:
        give(scoreboard, RIGHT, tag)
    assert (raised.value.what, raised.value.expected, raised.value.got) == ("tag", TAG, tag)


def test_what_is_missing_or_too_much_is_said():
    scoreboard = Scoreboard(KEY)
    for unasked in (scoreboard.text, scoreboard.tag):
        with pytest.raises(Mismatch, match="belongs to no message"):
            unasked(bytes(16))
    scoreboard.start(IV, TEXT)
    scoreboard.text(RIGHT[:16])
    with pytest.raises(Mismatch, match="1 of 40 blocks came"):
        scoreboard.finish()
    with pytest.raises(Mismatch, match="before its text, of which 1 of 40"):
        scoreboard.tag(SOFTWARE.seal(IV, TEXT)[1])


def test_a_budget_is_that_of_an_engine():
    took = sealsim.Engine("folded-8", KEY).seal(IV, TEXT, AAD).cycles
    for late, passes in ((0, True), (1, False)):
        scoreboard = Scoreboard(KEY, budget=Budget("folded-8"))
        scoreboard.start(IV, TEXT, AAD, cycle=100)
        for block in blocks(RIGHT):
            scoreboard.text(block)
        if passes:
            scoreboard.tag(TAG, cycle=100 + took + late)
            assert scoreboard.log[0][1] == took
        else:
            with pytest.raises(Mismatch, match="later than folded-8") as raised:
                scoreboard.tag(TAG, cycle=100 + took + late)
            assert (raised.value.expected, raised.value.got) == (took, took + 1)
    with pytest.raises(sealsim.UsageError, match="needs the cycle"):
        scoreboard.start(IV, TEXT)
