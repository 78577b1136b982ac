"""Random messages that a judge sealed, and forgeries of them, as a Wycheproof file for `sealsim verify vectors`."""

import json
import pathlib
import random
import tempfile

from count import sealsim

CASES = 200
chance = random.Random(21)


def case(number, seal, opens, key_bytes, nonce_bytes):
    """A sealed message; one of four is then forged in one bit of ciphertext or tag."""
    key, nonce = chance.randbytes(key_bytes), chance.randbytes(nonce_bytes)
    text, aad = chance.randbytes(chance.randrange(1, 700)), chance.randbytes(chance.randrange(80))
    sealed = bytearray(seal(key, nonce, text, aad))
    valid = chance.random() < 0.75
    if not valid:
        place = chance.randrange(8 * len(sealed))
        sealed[place // 8] ^= 1 << place % 8
        assert not opens(key, nonce, bytes(sealed), aad), "the judge took a forgery"
    ct, tag = sealed[:-16], sealed[-16:]
    fields = {"key": key, "iv": nonce, "aad": aad, "msg": text if valid else b"", "ct": ct, "tag": tag}
    texts = {name: bytes(value).hex() for name, value in fields.items()}
    return {"tcId": number, "comment": "", "flags": [], "result": "valid" if valid else "invalid", **texts}


def judge(count, name, seal, opens, sizes, nonce_bytes, engines):
    """One file for all engines of an AEAD. `seal` and `opens` take key, nonce, text or sealed text, AAD; `opens` says whether the tag is right."""
    groups = []
    for size in sizes:
        tests = [case(len(groups) * CASES + one + 1, seal, opens, size, nonce_bytes) for one in range(CASES)]
        group = {"type": "AeadTest", "keySize": 8 * size, "ivSize": 8 * nonce_bytes, "tagSize": 128}
        groups.append({**group, "tests": tests})
    total = CASES * len(sizes)
    document = {"algorithm": name, "schema": "aead_test_schema_v1.json", "numberOfTests": total, "testGroups": groups}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "sealed.json"
        path.write_text(json.dumps(document))
        for engine in engines:
            found = json.loads(sealsim("verify", "vectors", str(path), "--engine", engine, "--format", "json"))
            verdict = found["files"][0]
            count.same(f"{name} on {engine}: cases", verdict["passed"] + verdict["failed"] + verdict["skipped"], total)
            count.passed += verdict["passed"]
            count.failed += total - verdict["passed"]
