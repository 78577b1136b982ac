"""pyca's cryptography (Apache-2.0 or BSD-3-Clause, OpenSSL below) against `sealsim verify vectors`: random messages that it sealed, and forgeries of them."""

import json
import pathlib
import random
import tempfile

from count import Count, sealsim
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESGCMSIV, ChaCha20Poly1305

CASES = 200
chance = random.Random(21)
# Wycheproof's name, the judge's cipher, sizes of keys, engines.
AEADS = [
    ("AES-GCM", AESGCM, [16, 24, 32], ["h100-nvl-tdx", "folded-8", "unrolled-1"]),
    ("AES-GCM-SIV", AESGCMSIV, [16, 32], ["gcm-siv"]),
    ("CHACHA20-POLY1305", ChaCha20Poly1305, [32], ["chacha20-poly1305"]),
]


def case(number, cipher, key_bytes):
    """A sealed message; one of four is then forged in one bit of ciphertext or tag."""
    key, nonce = chance.randbytes(key_bytes), chance.randbytes(12)
    text, aad = chance.randbytes(chance.randrange(1, 700)), chance.randbytes(chance.randrange(80))
    sealed = bytearray(cipher(key).encrypt(nonce, text, aad))
    valid = chance.random() < 0.75
    if not valid:
        place = chance.randrange(8 * len(sealed))
        sealed[place // 8] ^= 1 << place % 8
        try:
            cipher(key).decrypt(nonce, bytes(sealed), aad)
            raise AssertionError("the judge took a forgery")
        except InvalidTag:
            pass
    ct, tag = sealed[:-16], sealed[-16:]
    fields = {"key": key, "iv": nonce, "aad": aad, "msg": text if valid else b"", "ct": ct, "tag": tag}
    texts = {name: bytes(value).hex() for name, value in fields.items()}
    return {"tcId": number, "comment": "", "flags": [], "result": "valid" if valid else "invalid", **texts}


def judge(count, name, cipher, sizes, engines):
    """One file for all engines of an AEAD."""
    groups = []
    for size in sizes:
        tests = [case(len(groups) * CASES + number + 1, cipher, size) for number in range(CASES)]
        groups.append({"type": "AeadTest", "keySize": 8 * size, "ivSize": 96, "tagSize": 128, "tests": tests})
    total = CASES * len(sizes)
    document = {"algorithm": name, "schema": "aead_test_schema_v1.json", "numberOfTests": total, "testGroups": groups}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "pyca.json"
        path.write_text(json.dumps(document))
        for engine in engines:
            found = json.loads(sealsim("verify", "vectors", str(path), "--engine", engine, "--format", "json"))
            verdict = found["files"][0]
            count.same(f"{name} on {engine}: cases", verdict["passed"] + verdict["failed"] + verdict["skipped"], total)
            count.passed += verdict["passed"]
            count.failed += total - verdict["passed"]


if __name__ == "__main__":
    count = Count()
    for aead in AEADS:
        judge(count, *aead)
    count.close()
