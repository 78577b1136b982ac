"""Makes flits.hex: flits whose CRC and ECC are computed bit by bit from their formulas, with no table and none of sealsim's code."""

import random


def product(a, b, polynomial):
    """The product in GF(2^8)."""
    result = 0
    while b:
        result ^= a if b & 1 else 0
        a <<= 1
        a ^= polynomial if a & 0x100 else 0
        b >>= 1
    return result


def power(exponent, polynomial):
    """alpha = 2 to the power of `exponent`."""
    result = 1
    for _ in range(exponent):
        result = product(result, 2, polynomial)
    return result


def crc(data):
    """Remainder of data * x^8 by (x + alpha) ... (x + alpha^8) over x^8+x^5+x^3+x+1, lowest coefficient first."""
    field, generator = 0x12B, [1]
    for exponent in range(1, 9):
        shifted = generator + [0]
        scaled = [0] + [product(c, power(exponent, field), field) for c in generator]
        generator = [a ^ b for a, b in zip(shifted, scaled)]
    rest = list(data) + [0] * 8
    for place in range(len(data)):
        lead = rest[place]
        for step, coefficient in enumerate(generator):
            rest[place + step] ^= product(coefficient, lead, field)
    return bytes(reversed(rest[-8:]))


def ecc(data):
    """Per group g of bytes 3k + g: the sum of alpha^(84-k) times each byte, and of the bytes, over x^8+x^4+x^3+x^2+1."""
    field, check, parity = 0x11D, [0] * 3, [0] * 3
    for place, byte in enumerate(data):
        check[place % 3] ^= product(byte, power(84 - place // 3, field), field)
        parity[place % 3] ^= byte
    return bytes([check[1], check[2], check[0], parity[1], parity[2], parity[0]])


def flit(data):
    """242 bytes of TLPs and DLP, with CRC and ECC."""
    protected = bytes(data) + crc(data)
    return protected + ecc(protected)


if __name__ == "__main__":
    chance = random.Random(1)
    single = [bytes(i == place for i in range(242)) for place in (0, 1, 2, 3, 240, 241)]
    for data in [*single, bytes(range(242)), *(chance.randbytes(242) for _ in range(5))]:
        print(flit(data).hex())
