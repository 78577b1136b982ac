"""AES-GCM in software, with the stages that hardware passes through."""

from __future__ import annotations

import hmac

from . import _native
from .errors import UsageError, VerificationError

BLOCK = 16
"""Bytes of a block."""


class AesGcm:
    """AES-GCM under a key of 16, 24 or 32 bytes, with tags of 16 bytes."""

    def __init__(self, key: bytes) -> None:
        self.key = bytes(key)
        self._key = _native.AesGcm(key)

    def seal(self, iv: bytes, text: bytes, aad: bytes = b"") -> tuple[bytes, bytes]:
        """Ciphertext and tag."""
        return self._key.seal(iv, aad, text)

    def open(self, iv: bytes, text: bytes, tag: bytes, aad: bytes = b"") -> bytes:
        """The plaintext.

        Errors: VerificationError, if the tag is wrong.
        """
        plain, _ = self._key.seal(iv, aad, text)
        cipher, right = self._key.seal(iv, aad, plain)
        assert cipher == text
        if not hmac.compare_digest(right, tag):
            raise VerificationError(f"the tag is wrong: given {tag.hex()}, computed {right.hex()}")
        return plain

    @property
    def h(self) -> bytes:
        """The hash key, E(K, 0)."""
        return self._key.h()

    def counter_block(self, iv: bytes, block: int) -> bytes:
        """The counter block that text block ``block``, from 0, is sealed with; of -1, J0, which makes the mask of the tag."""
        return self._key.counter_block(iv, (block + 1) % (1 << 32))

    def encrypt(self, block: bytes) -> bytes:
        """AES of one block."""
        return self._key.encrypt(_whole(block))

    def rounds(self, block: bytes) -> list[bytes]:
        """The state of AES after each round; round 0 is the first key addition."""
        return self._key.rounds(_whole(block))

    def ghash(self, blocks: bytes) -> bytes:
        """GHASH, with zeros behind a last block that is short; the length block is up to the caller."""
        return self._key.ghash(blocks)


def _whole(block: bytes) -> bytes:
    if len(block) != BLOCK:
        raise UsageError(f"a block has {BLOCK} bytes, not {len(block)}")
    return block


def padded(data: bytes) -> bytes:
    """With zeros up to the end of the last block."""
    return data + bytes(-len(data) % BLOCK)


def length_block(aad_bytes: int, text_bytes: int) -> bytes:
    """The block that ends GHASH: both lengths in bits."""
    return (8 * aad_bytes).to_bytes(8, "big") + (8 * text_bytes).to_bytes(8, "big")


def xor(one: bytes, other: bytes) -> bytes:
    """Bit by bit, as long as the shorter."""
    return bytes(a ^ b for a, b in zip(one, other, strict=False))
