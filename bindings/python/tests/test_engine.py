"""An engine, stepped, is AES-GCM."""

import random

import pytest
import sealsim
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ENGINES = ["folded-8", "serial-aes128", "streaming", "iterative-masked", "unrolled-all", "mask-last", "h100-nvl-tdx"]


def messages(engine, count=12):
    draw = random.Random(engine)
    for _ in range(count):
        key_bytes = draw.choice([16, 32]) if engine != "serial-aes128" else 16
        yield tuple(draw.randbytes(n) for n in (key_bytes, 12, draw.randrange(80), draw.randrange(700)))


@pytest.mark.parametrize("name", ENGINES)
def test_what_an_engine_seals_software_opens_and_the_other_way(name):
    for key, iv, aad, text in messages(name):
        engine = sealsim.Engine(name, key)
        sealed = engine.seal(iv, text, aad)
        assert sealed.text + sealed.tag == AESGCM(key).encrypt(iv, text, aad)
        opened = engine.open(iv, sealed.text, sealed.tag, aad)
        assert opened.text == text and opened.cycles > 0
        with pytest.raises(sealsim.VerificationError, match="tag is wrong"):
            engine.open(iv, sealed.text, bytes(byte ^ 1 for byte in sealed.tag), aad)


def test_what_is_offered_block_by_block_comes_out_in_order():
    key, iv, aad, text = bytes(range(16)), bytes(12), b"header", bytes(100)
    engine = sealsim.Engine("folded-8", key)
    engine.start(iv, aad, text_bytes=len(text))
    blocks = [text[at : at + 16] for at in range(0, len(text), 16)]
    events, last = [], -1
    while not engine.idle:
        # A block every seventh cycle.
        if blocks and engine.cycle % 7 == 0:
            engine.offer(blocks.pop(0))
        new = engine.step()
        assert all(event.cycle in (engine.cycle - 1, engine.cycle) for event in new)
        events += new
        last = engine.cycle
    assert last > 7 * 7
    output = b"".join(event.value for event in events if event.kind == "text")
    (tag,) = [event.value for event in events if event.kind == "tag"]
    assert output + tag == AESGCM(key).encrypt(iv, text, aad)
    assert [event.kind for event in events].count("aad") == 1


def test_cycles_are_those_of_the_program(document):
    shown = document("engine", "folded-8", "--key-bits", "256", "--aad-blocks", "2", "--blocks", "16", "--messages", "2")
    engine = sealsim.Engine("folded-8", bytes.fromhex(shown["key"]))
    for message in shown["messages"]:
        iv, aad, text = (bytes.fromhex(message[name]) for name in ("iv", "aad", "input"))
        sealed = engine.seal(iv, text, aad)
        assert (sealed.text.hex(), sealed.tag.hex()) == (message["output"], message["tag"])
        assert sealed.cycles == message["total_cycles"]


def test_registers_show_the_accumulator_of_ghash():
    engine = sealsim.Engine("serial-aes128", bytes(16))
    h = int.from_bytes(AESGCM_block(bytes(16), bytes(16)), "big")
    engine.start(bytes(12), text_bytes=64)
    engine.offer(bytes(64))
    seen = {}
    while not engine.idle:
        engine.step()
        for name, value in engine.registers().items():
            seen.setdefault(name, set()).add(value)
    assert any(name.startswith("aes.lane0.") for name in seen) and any(name.startswith("ghash0.") for name in seen)
    assert h in set().union(*(values for name, values in seen.items() if name.startswith("ghash0.")))


def AESGCM_block(key, block):
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def test_what_an_engine_cannot_do_is_said():
    with pytest.raises(sealsim.ConfigError, match="no-such-engine"):
        sealsim.Engine("no-such-engine", bytes(16))
    with pytest.raises(sealsim.ConfigError):
        sealsim.Engine("folded-8", bytes(5))
    with pytest.raises(sealsim.ConfigError, match="another AEAD"):
        sealsim.Engine("gcm-siv", bytes(32))
    engine = sealsim.Engine("folded-8", bytes(16))
    with pytest.raises(sealsim.UsageError, match="empty IV"):
        engine.start(b"", text_bytes=1)
    engine.start(bytes(12), text_bytes=16)
    with pytest.raises(sealsim.UsageError):
        engine.load_key(bytes(16))
    with pytest.raises(sealsim.UsageError, match="a message is in the engine"):
        engine.seal(bytes(12), b"")
    with pytest.raises(sealsim.UsageError, match="key"):
        sealsim.Engine("folded-8").start(bytes(12), text_bytes=1)
