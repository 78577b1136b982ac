"""AES backwards: which block it must have been given for what came out."""

from __future__ import annotations

from .software import BLOCK, AesGcm, xor


def _times2(x: int) -> int:
    return (x << 1) ^ (0x11B if x & 0x80 else 0)


def _byte_times(x: int, y: int) -> int:
    product = 0
    while y:
        product, x, y = product ^ (x if y & 1 else 0), _times2(x), y >> 1
    return product


def _boxes() -> tuple[bytes, bytes]:
    forward, back = bytearray(256), bytearray(256)
    for x in range(256):
        power = 1
        for _ in range(254):
            power = _byte_times(power, x)
        value = 0x63
        for turn in range(5):
            value ^= (power << turn | power >> (8 - turn)) & 0xFF
        forward[x], back[value] = value, x
    return bytes(forward), bytes(back)


class Decipher:
    """AES backwards. Round keys are those with which ``rounds`` of the software goes from state to state."""

    _tables: tuple[bytes, bytes, list[bytes]] | None = None

    def __init__(self, software: AesGcm) -> None:
        if Decipher._tables is None:
            unmixed = [bytes(_byte_times(x, factor) for x in range(256)) for factor in (14, 11, 13, 9)]
            Decipher._tables = (*_boxes(), unmixed)
        self._forward, self._back, self._unmixed = Decipher._tables
        states = software.rounds(bytes(BLOCK))
        last = len(states) - 1
        self._keys = [states[0]]
        for round_, (before, after) in enumerate(zip(states, states[1:], strict=False), 1):
            rows = bytes(self._forward[before[(place + 4 * (place % 4)) % BLOCK]] for place in range(BLOCK))
            self._keys.append(xor(after, rows if round_ == last else self._mixed(rows)))

    @staticmethod
    def _mixed(rows: bytes) -> bytes:
        mixed = bytearray()
        for at in range(0, BLOCK, 4):
            column = rows[at : at + 4]
            for row in range(4):
                here, below = column[row], column[(row + 1) % 4]
                mixed.append(_times2(here) ^ _times2(below) ^ below ^ column[(row + 2) % 4] ^ column[(row + 3) % 4])
        return bytes(mixed)

    def __call__(self, block: bytes) -> bytes:
        """The block whose AES this is."""
        state = xor(block, self._keys[-1])
        for round_ in range(len(self._keys) - 2, -1, -1):
            rows = bytearray(BLOCK)
            for place in range(BLOCK):
                rows[(place + 4 * (place % 4)) % BLOCK] = self._back[state[place]]
            state = xor(bytes(rows), self._keys[round_])
            if round_:
                state = self._unmix(state)
        return state

    def _unmix(self, state: bytes) -> bytes:
        mixed = bytearray()
        for at in range(0, BLOCK, 4):
            for row in range(4):
                byte = 0
                for other in range(4):
                    byte ^= self._unmixed[(other - row) % 4][state[at + other]]
                mixed.append(byte)
        return bytes(mixed)
