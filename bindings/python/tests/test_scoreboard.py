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
        (9, DRAW.randbytes(16), "AES of this counter block"),
        (9, bytes(16), "one of text, control: zeros come out"),
        (9, RIGHT[147:163], "not aligned: these are the bytes that come 3 later"),
        (9, RIGHT[139:155], "not aligned: these are the bytes that come 5 earlier"),
        (0, bytes(4) + RIGHT[:12], "not aligned: it comes 4 bytes late"),
        (0, RIGHT[4:16] + bytes(4), "not aligned: it comes 4 bytes early"),
        (9, RIGHT[151:160] + RIGHT[144:151], "rotated by 7 bytes"),
        (9, b"".join(RIGHT[at : at + 4][::-1] for at in range(144, 160, 4)), "bytes of its 32-bit words"),
        (9, xor(TEXT[146:162], keystream(SOFTWARE, 9)), "not aligned to its keystream"),
        (9, xor(TEXT[144:160], bytes(3) + keystream(SOFTWARE, 9)[:13]), "the keystream comes 3 bytes late"),
        (9, RIGHT[144:156] + bytes(4), "only bytes 12, 13, 14, 15"),
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


TEN = TEXT[:160]
SEALED, TEN_TAG = SOFTWARE.seal(IV, TEN)
TEN_LENGTHS = length_block(0, 160)


def blamed(hashed, tag_bytes=16, text=TEN):
    """What is said of a core whose GHASH took these blocks."""
    sealed, _ = SOFTWARE.seal(IV, text)
    tag = xor(MASK, SOFTWARE.ghash(hashed + length_block(0, len(text))))[:tag_bytes]
    scoreboard = Scoreboard(KEY, tag_bytes=tag_bytes)
    scoreboard.start(IV, text)
    with pytest.raises(Mismatch) as raised:
        give(scoreboard, sealed, tag)
    return raised.value.stage


@pytest.mark.parametrize(
    ("taken", "stage"),
    [
        ([0, 2, 3, 6, 8, 9], "did not take text block 1, text block 4, text block 5 and text block 7"),
        ([0, 1, 2, 3, 4, 9], "did not take text block 5, text block 6, text block 7 and text block 8"),
        ([], "did not take (or took zeros for) text block 0, text block 1"),
        ([0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9], "took twice text block 1, text block 4 and text block 7"),
        ([block for block in range(10) for _ in range(3)], "each block 3 times"),
        ([0, 1, 6, 3, 4, 5, 2, 7, 8, 9], "blocks 2 and 6 of its input are exchanged"),
        (range(9, -1, -1), "reverse order"),
    ],
)
def test_blocks_that_ghash_took_in_another_number_or_order_are_found(taken, stage):
    assert stage in blamed(b"".join(SEALED[16 * at : 16 * at + 16] for at in taken))


def test_any_blocks_that_were_dropped_are_found_and_so_are_zeros_in_the_place_of_any():
    for _ in range(10):
        kept = sorted(DRAW.sample(range(10), DRAW.randint(3, 9)))
        stage = blamed(b"".join(SEALED[16 * at : 16 * at + 16] for at in kept))
        assert "did not take" in stage and all(f"text block {at}" in stage for at in set(range(10)) - set(kept))
        zeroed = b"".join(SEALED[16 * at : 16 * at + 16] if at in kept else bytes(16) for at in range(10))
        stage = blamed(zeroed)
        assert "took zeros for" in stage and all(f"text block {at}" in stage for at in set(range(10)) - set(kept))


def test_shifts_of_what_ghash_takes_are_found():
    assert "everything 3 bytes late" in blamed((bytes(3) + SEALED)[:160])
    assert "everything 5 bytes early" in blamed(SEALED[5:] + bytes(5))


def test_bytes_behind_a_short_last_block_are_named():
    text = TEXT[:153]
    sealed, _ = SOFTWARE.seal(IV, text)
    behind = keystream(SOFTWARE, 9)[9:]
    assert "keystream behind the short last block, of which 9 bytes" in blamed(sealed + behind, text=text)


def test_a_tag_of_twelve_bytes_passes_and_is_searched_too():
    scoreboard = Scoreboard(KEY, tag_bytes=12)
    scoreboard.start(IV, TEN)
    give(scoreboard, SEALED, TEN_TAG[:12])
    assert "did not take text block 3 and text block 4" in blamed(SEALED[:48] + SEALED[80:], tag_bytes=12)
    assert "took zeros for text block 3" in blamed(SEALED[:48] + bytes(16) + SEALED[64:], tag_bytes=12)
    with pytest.raises(sealsim.UsageError, match="13, 12, 8 or 4 bytes, not 3"):
        Scoreboard(KEY, tag_bytes=3)


def test_what_no_search_explains_is_said_so_within_a_bound():
    assert "none" in blamed(DRAW.randbytes(160)) or "no choice" in blamed(DRAW.randbytes(160))


def test_pins_without_a_value_are_a_difference():
    scoreboard = Scoreboard(KEY)
    assert scoreboard.idle and scoreboard.due == 0
    scoreboard.start(IV, TEXT[:20])
    assert not scoreboard.idle and scoreboard.due == 16
    scoreboard.text(RIGHT[:16])
    assert scoreboard.due == 4
    with pytest.raises(Mismatch, match="out_valid is X, which is no value"):
        scoreboard.unknown("text", "out_valid is X")


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
