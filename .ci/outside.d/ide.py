"""IDE a second time, as docs/ide.md says it, on AES-GCM of pyca (OpenSSL): random streams, sealed and opened by both, whole and with a bit flipped.

SEALSIM_IDE_STREAMS says how many (1,000); SEALSIM_IDE names the example crates/pcie/examples/ide_streams.rs where it is built already.
"""

import itertools
import os
import random
import subprocess
import zlib

from count import Count
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

EXAMPLE = "cargo run -q --release --manifest-path crates/pcie/Cargo.toml --features ide --example ide_streams".split()
PREFIX, MAC, PCRC = 4, 12, 4
MOST = 8


def nonce(sub_stream, counter):
    """The sub-stream in the top four of 32 bits, then the counter."""
    return (sub_stream << 28).to_bytes(4, "big") + (counter % (1 << 64)).to_bytes(8, "big")


def sealed(key, stream, sub_stream, with_pcrc, counter, tlps):
    """Protected TLPs of (head, data, posted_sent, last)."""
    given, message = [], []
    for head, data, sent, last in tlps:
        message.append((head, data, sent))
        if last or len(message) == MOST:
            given += aggregate(key, stream, sub_stream, with_pcrc, counter, message)
            counter, message = counter + 1, []
    # What has no MAC yet goes all the same: the keystream does not depend on it.
    return given + aggregate(key, stream, sub_stream, with_pcrc, counter, message, False)


def aggregate(key, stream, sub_stream, with_pcrc, counter, message, closed=True):
    """The TLPs under one MAC, the last of which has it."""
    text = b"".join(data for _, data, _ in message)
    checked = with_pcrc and closed and text != b""
    heads = []
    for place, (head, _, sent) in enumerate(message):
        ends = closed and place == len(message) - 1
        flags = sub_stream << 4 | (checked and ends) << 3 | ends << 2 | 1
        heads.append(bytes([0x92, sent, stream, flags]) + head)
    if checked:
        text += zlib.crc32(text).to_bytes(PCRC, "little")
    both = AESGCM(key).encrypt(nonce(sub_stream, counter), text, b"".join(heads))
    cipher, tag = both[: len(text)], both[len(text) :]
    given = []
    for head, (_, data, _) in zip(heads, message, strict=True):
        given.append(head + cipher[: len(data)])
        cipher = cipher[len(data) :]
    if closed:
        given[-1] += cipher + tag[:MAC]
    return given


def parts(tlp, stream, sub_stream):
    """Flags, bytes before the data, and bytes of data; None where prefix and header do not describe a TLP of this stream."""
    if len(tlp) < 16 or tlp[0] != 0x92 or tlp[2] != stream or tlp[3] >> 4 & 7 != sub_stream or tlp[3] & 2:
        return None
    at = PREFIX
    while at + 4 <= len(tlp) and tlp[at] >> 5 == 4:
        at += 4
    if at + 12 > len(tlp) or tlp[at + 2] & 0x80 or tlp[at] >> 5 > 4:
        return None
    four, has_data = tlp[at] & 0x20, tlp[at] & 0x40
    data = 4 * ((tlp[at + 2] & 3) << 8 | tlp[at + 3] or 1024) if has_data else 0
    return tlp[3], at + (16 if four else 12), data


def opened(key, stream, sub_stream, with_pcrc, counter, tlps):
    """The TLPs that come out, and whether the stream is still secure."""
    came, message, cipher = [], [], b""
    for tlp in tlps:
        found = parts(tlp, stream, sub_stream)
        if found is None:
            return came, False
        flags, start, data = found
        mac, checked = bool(flags & 4), bool(flags & 8)
        if len(tlp) != start + data + MAC * mac + PCRC * checked:
            return came, False
        message.append((tlp[:start], data))
        cipher += tlp[start : start + data + PCRC * checked]
        if checked != (with_pcrc and mac and any(data for _, data in message)) or (len(message) == MOST and not mac):
            return came, False
        if not mac:
            continue
        gcm = modes.GCM(nonce(sub_stream, counter), tlp[-MAC:], min_tag_length=MAC)
        reader = Cipher(algorithms.AES(key), gcm).decryptor()
        reader.authenticate_additional_data(b"".join(head for head, _ in message))
        text = reader.update(cipher)
        try:
            text += reader.finalize()
        except InvalidTag:
            return came, False
        if checked and zlib.crc32(text[:-PCRC]).to_bytes(PCRC, "little") != text[-PCRC:]:
            return came, False
        for head, data in message:
            came.append(head[PREFIX:] + text[:data])
            text = text[data:]
        counter, message, cipher = counter + 1, [], b""
    return came, True


def tlp_of(draw, sub_stream):
    """Prefixes and header, and data, of a TLP of this sub-stream."""
    dw = draw.choice([1, 2, 3, 4, 5, 8, 16, 31, 64])
    low = draw.randrange(1 << 14)
    tail = draw.randbytes(2) + bytes([draw.randrange(256), 0xFF if dw > 1 else 0x0F])
    if sub_stream == 2:
        has_data = draw.random() < 0.9
        dw = dw if has_data else 0
        head = bytes([0x4A if has_data else 0x0A, 0, dw >> 8, dw & 0xFF, 1, 0, (4 * dw or 4) >> 8, (4 * dw or 4) & 0xFF]) + tail[:3] + b"\0"
    else:
        four = draw.random() < 0.7
        first = (0x40 if sub_stream == 0 else 0) | (0x20 if four else 0)
        address = bytes([0, 0, 1, draw.randrange(256)]) if four else b""
        head = bytes([first, draw.randrange(8) << 4, dw >> 8, dw & 0xFF]) + tail + address + (0x40000000 + 1024 * 4 * low).to_bytes(4, "big")
    # A PASID stands in a prefix of its own.
    prefix = bytes([0x91, 0]) + draw.randbytes(2) if draw.random() < 0.1 else b""
    return prefix + head, draw.randbytes(4 * dw if sub_stream != 1 else 0)


def streams(draw, count):
    """What both ends of sub-streams agree on, and TLPs."""
    for _ in range(count):
        sub_stream = draw.randrange(3)
        counter = draw.choice([1, 1, draw.randrange(1, 1 << 64), (1 << 64) - 2])
        several = []
        for _ in range(draw.randint(1, 20)):
            head, data = tlp_of(draw, sub_stream)
            several.append((head, data, draw.randrange(256) if sub_stream else 0, draw.random() < 0.3))
        several[-1] = (*several[-1][:3], draw.random() < 0.9)
        yield (draw.randbytes(32), draw.randrange(256), sub_stream, draw.random() < 0.5, counter), several


def line(verb, agreed, words):
    key, *numbers = agreed
    return " ".join([verb, key.hex(), *(str(int(number)) for number in numbers), *words])


def flipped(draw, tlps):
    """The same with one bit flipped somewhere."""
    place = draw.randrange(len(tlps))
    bit = draw.randrange(8 * len(tlps[place]))
    other = bytearray(tlps[place])
    other[bit // 8] ^= 1 << bit % 8
    return [*tlps[:place], bytes(other), *tlps[place + 1 :]]


def asked(draw, count):
    """Lines of the example, with what has to come of each."""
    for agreed, several in streams(draw, count):
        protected = sealed(*agreed, several)
        words = [f"{head.hex()}:{data.hex()}:{sent}:{int(last)}" for head, data, sent, last in several]
        yield line("seal", agreed, words), " ".join(tlp.hex() for tlp in protected)
        # What a MAC does not cover yet nobody has to refuse.
        covered = several[-1][3]
        for tlps in [protected, *([flipped(draw, protected)] if covered else [])]:
            came, secure = opened(*agreed, tlps)
            told = [*(tlp.hex() for tlp in came), "secure" if secure else "insecure"]
            yield line("open", agreed, [tlp.hex() for tlp in tlps]), " ".join(told)


def main():
    count, every = Count(), asked(random.Random(46), int(os.environ.get("SEALSIM_IDE_STREAMS", "1000")))
    example = [os.environ["SEALSIM_IDE"]] if "SEALSIM_IDE" in os.environ else EXAMPLE
    while batch := list(itertools.islice(every, 3000)):
        given = "\n".join(question for question, _ in batch) + "\n"
        answers = subprocess.run(example, input=given, capture_output=True, text=True, check=True).stdout.splitlines()
        for (question, answer), came in zip(batch, answers, strict=True):
            count.same(question, came, answer)
    count.close()


if __name__ == "__main__":
    main()
