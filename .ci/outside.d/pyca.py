"""pyca's cryptography (Apache-2.0 or BSD-3-Clause, OpenSSL below): random messages that it sealed, and forgeries of them, for `sealsim verify vectors`;
sets of `sealsim vectors generate`, opened;
and the messages on the links of runs, opened with the key and the IVs that the report gives."""

import csv
import json
import os
import pathlib
import random
import struct
import tempfile

from count import Count, sealsim
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESGCMSIV, ChaCha20Poly1305
from sealed import judge


class AESGCMSST:
    """GCM-SST by its definition (draft-mattsson-cfrg-aes-gcm-sst) over the judge's AES in ECB and POLYVAL in integers; whole tags."""

    def __init__(self, key):
        self.key = key

    def passed(self, nonce, text, aad, sealing):
        """Text enciphered or deciphered, and the tag."""
        block = Cipher(algorithms.AES(self.key), modes.ECB()).encryptor()
        stream = b"".join(block.update(nonce + struct.pack(">I", number)) for number in range(3 + -(-len(text) // 16)))
        h, h2, mask = (int.from_bytes(stream[at : at + 16], "little") for at in (0, 16, 32))
        output = bytes(one ^ other for one, other in zip(text, stream[48:]))
        value = 0
        for data in (aad, output if sealing else text):
            for at in range(0, len(data), 16):
                value = self.dot(value ^ int.from_bytes(data[at : at + 16], "little"), h)
        value ^= 8 * len(text) | 8 * len(aad) << 64
        return output, (self.dot(value, h2) ^ mask).to_bytes(16, "little")

    @staticmethod
    def dot(one, other):
        """one * other / x^128 modulo x^128 + x^127 + x^126 + x^121 + 1 (RFC 8452, section 3)."""
        product = 0
        for bit in range(128):
            product ^= (one << bit) * (other >> bit & 1)
        for _ in range(128):
            product = (product ^ (0b111000010 << 120 | 1) * (product & 1)) >> 1
        return product

    def encrypt(self, nonce, text, aad):
        return b"".join(self.passed(nonce, text, aad, True))

    def decrypt(self, nonce, sealed, aad):
        text, tag = self.passed(nonce, sealed[:-16], aad, False)
        if tag != sealed[-16:]:
            raise InvalidTag
        return text


# Wycheproof's name, the judge's cipher, sizes of keys, engines.
AEADS = [
    ("AES-GCM", AESGCM, [16, 24, 32], ["h100-nvl-tdx", "folded-8", "unrolled-1"]),
    ("AES-GCM-SIV", AESGCMSIV, [16, 32], ["gcm-siv"]),
    ("AES-GCM-SST", AESGCMSST, [16, 32], ["gcm-sst"]),
    ("CHACHA20-POLY1305", ChaCha20Poly1305, [32], ["chacha20-poly1305"]),
]
# With bytes of a tag.
DESIGNS = [
    ("h100-cc", AESGCM, 16),
    ("hold", AESGCM, 16),
    ("inline-tags", AESGCM, 16),
    ("gcm-siv", AESGCMSIV, 16),
    ("gcm-sst", AESGCMSST, 12),
    ("chacha20-poly1305", ChaCha20Poly1305, 16),
]
MESSAGE = 4096


def opens(cipher, key, nonce, sealed, aad):
    """Whether the judge takes a sealed text."""
    try:
        cipher(key).decrypt(nonce, sealed, aad)
    except InvalidTag:
        return False
    return True


def packets(capture):
    """TLPs of a pcapng capture: the packet between the symbols of 8b/10b and behind the sequence number, without LCRC."""
    place = 0
    while place < len(capture):
        kind, length = struct.unpack_from("<II", capture, place)
        if kind == 6:
            (captured,) = struct.unpack_from("<I", capture, place + 20)
            record = capture[place + 28 : place + 28 + captured]
            if record[20] == 0xFB:
                yield record[23:-5]
        place += length


def moved(capture):
    """Host memory as the link shows it: bytes by address, of completions and of writes."""
    reads, memory = {}, {}
    for tlp in packets(capture):
        words = (int.from_bytes(tlp[2:4], "big") & 0x3FF) or 1024
        form, tag = tlp[0], tlp[10]
        wide = form & 0x20
        address = int.from_bytes(tlp[8 : 16 if wide else 12], "big") & ~3
        long_tag = ((tlp[1] >> 7 & 1) << 9) | ((tlp[1] >> 3 & 1) << 8)
        if form in (0x00, 0x20):
            reads[long_tag | tlp[6]] = address
        elif form in (0x40, 0x60):
            memory[address] = bytes(tlp[16 if wide else 12 :][: 4 * words])
        elif form == 0x4A and (long_tag | tag) in reads:
            where = reads[long_tag | tag]
            memory[where] = bytes(tlp[12 : 12 + 4 * words])
            reads[long_tag | tag] = where + 4 * words
    return memory


def whole(memory):
    """Runs of bytes without a gap."""
    runs = []
    for address in sorted(memory):
        if runs and runs[-1][0] + len(runs[-1][1]) == address:
            runs[-1][1] += memory[address]
        else:
            runs.append([address, bytearray(memory[address])])
    return [bytes(run) for _, run in runs]


def messages(count, design, cipher, tag_bytes, direction):
    """Finds the messages of a copy on its link, in order, each with a tag that the judge takes."""
    chance = random.Random(7)
    number = 3
    with tempfile.TemporaryDirectory() as folder:
        payload, capture = pathlib.Path(folder) / "payload", pathlib.Path(folder) / "link.pcapng"
        payload.write_bytes(chance.randbytes(number * MESSAGE))
        report = json.loads(
            sealsim(
                *f"run h100-nvl-tdx --design {design} --copy {direction}:{number * MESSAGE} --payload {payload} --capture {capture} --format json".split(),
                *f"--set driver.pinned.message={MESSAGE}B --set driver.pinned.push={MESSAGE}B".split(),
            )
        )
        runs, text = whole(moved(capture.read_bytes())), payload.read_bytes()
    used = report["keys"][direction]
    key, mask, first = (bytes.fromhex(used[name]) for name in ("key", "iv_mask", "first_iv"))
    places = [(run, at) for run in runs for at in range(0, len(run) - tag_bytes + 1, 16)]
    tags = {run[at : at + tag_bytes] for run, at in places}
    for message in range(number):
        plain = bytearray(one ^ other for one, other in zip(first, mask))
        plain[:4] = (message + 1).to_bytes(4, "little")
        nonce = bytes(one ^ other for one, other in zip(plain, mask))
        expected = text[message * MESSAGE : (message + 1) * MESSAGE]
        sealed = cipher(key).encrypt(nonce, expected, b"")
        there = any(run[at : at + MESSAGE] == sealed[:-16] for run, at in places)
        count.same(f"{design} {direction}: ciphertext and tag of message {message + 1}", (there, sealed[MESSAGE:][:tag_bytes] in tags), (True, True))


def generated(count, name, cipher, seed, messages):
    """Every message of a set that `sealsim vectors generate` made: the judge opens what is valid to its plaintext, and refuses what is forged."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "set.csv"
        sealsim(*f"vectors generate {name} --count {messages} --seed {seed} --out {path}".split())
        with path.open() as rows:
            for row in csv.DictReader(rows):
                key, iv, aad, plain, text, tag = (bytes.fromhex(row[column]) for column in ("key", "iv", "aad", "plaintext", "ciphertext", "tag"))
                count.same(f"{name} seed {seed}, message {row['tc_id']}", cipher(key, iv, aad, text, tag), plain if row["result"] == "valid" else None)


def gcm(key, iv, aad, text, tag):
    """AES-GCM with IVs and tags of any length. The judge takes no IV of less than 8 bytes and no tag of less than 4."""
    if len(iv) < 8:
        return wide_iv(key, iv, aad, text, tag)
    cipher = Cipher(algorithms.AES(key), modes.GCM(iv, tag, min_tag_length=4)).decryptor()
    cipher.authenticate_additional_data(aad)
    plain = cipher.update(text)
    try:
        return plain + cipher.finalize()
    except InvalidTag:
        return None


def wide_iv(key, iv, aad, text, tag):
    """AES-GCM by its definition (NIST SP 800-38D) over the judge's AES in ECB, for IVs that the judge does not take."""
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    h = int.from_bytes(block.update(bytes(16)), "big")

    def times(x):
        product, v = 0, h
        for bit in range(127, -1, -1):
            if x >> bit & 1:
                product ^= v
            v = v >> 1 ^ (0xE1 << 120 if v & 1 else 0)
        return product

    def ghash(data):
        y = 0
        for at in range(0, len(data), 16):
            y = times(y ^ int.from_bytes(data[at : at + 16], "big"))
        return y

    def padded(data):
        return data + bytes(-len(data) % 16)

    j0 = ghash(padded(iv) + bytes(8) + struct.pack(">Q", 8 * len(iv)))
    whole = ghash(padded(aad) + padded(text) + struct.pack(">QQ", 8 * len(aad), 8 * len(text)))
    mask = int.from_bytes(block.update(j0.to_bytes(16, "big")), "big")
    if (whole ^ mask).to_bytes(16, "big")[: len(tag)] != tag:
        return None
    plain = bytearray()
    for at in range(0, len(text), 16):
        counter = j0 & ~0xFFFFFFFF | (j0 + at // 16 + 1) & 0xFFFFFFFF
        stream = block.update(counter.to_bytes(16, "big"))
        plain += bytes(one ^ other for one, other in zip(text[at : at + 16], stream))
    return bytes(plain)


def detached(kind):
    """A cipher whose tag stands behind the text."""

    def opened(key, iv, aad, text, tag):
        try:
            return kind(key).decrypt(iv, text + tag, aad)
        except InvalidTag:
            return None

    return opened


GENERATED = [("aes-gcm", gcm), ("aes-gmac", gcm), ("aes-gcm-siv", detached(AESGCMSIV)), ("aes-gcm-sst", detached(AESGCMSST)), ("chacha20-poly1305", detached(ChaCha20Poly1305))]


if __name__ == "__main__":
    count = Count()
    messages_of_a_set = int(os.environ.get("SEALSIM_GENERATED", "500"))
    for name, cipher in GENERATED:
        generated(count, name, cipher, 20261121, messages_of_a_set)
    for name, cipher, sizes, engines in AEADS:
        judge(count, name, lambda key, *rest, c=cipher: c(key).encrypt(*rest), lambda *rest, c=cipher: opens(c, *rest), sizes, 12, engines)
    for design, cipher, tag_bytes in DESIGNS:
        for direction in ("h2d", "d2h"):
            messages(count, design, cipher, tag_bytes, direction)
    count.close()
