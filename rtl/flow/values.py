"""A verilated GHASH unit against GHASH by its definition: random keys, messages and stalls. values.py TWIN WIDTH GROUPS LATENCY."""

import random
import struct
import subprocess
import sys

LOAD, START, VALID = 2, 4, 8


def times(a, b):
    """The product in GF(2^128), bit i the coefficient of x^i."""
    product = 0
    for i in range(128):
        if b >> i & 1:
            product ^= a << i
    for i in range(254, 127, -1):
        if product >> i & 1:
            product ^= (1 << 128 | 0x87) << (i - 128)
    return product


def main():
    twin, (width, groups, latency) = sys.argv[1], map(int, sys.argv[2:5])
    draw = random.Random(1)
    given, values, cycles = bytearray(), [], 0

    def cycle(flags, index=0, count=0, power=0, blocks=(0,) * width):
        nonlocal cycles
        given.extend(struct.pack("<BBI", flags, index, count))
        for value in (power, *reversed(blocks)):
            given.extend(value.to_bytes(16, "little"))
        cycles += 1

    cycle(1)
    for _ in range(3):
        h = power = draw.getrandbits(128)
        for index in range(width * groups):
            cycle(LOAD, index, power=power)
            power = times(power, h)
        for _ in range(6):
            blocks = [draw.getrandbits(128) for _ in range(draw.randint(1, 40))]
            value = 0
            for block in blocks:
                value = times(value ^ block, h)
            cycle(START, count=-(-len(blocks) // width))
            free, group = [cycles] * groups, 0
            while blocks:
                if cycles >= free[group % groups] and draw.random() < 0.7:
                    size = (len(blocks) - 1) % width + 1
                    free[group % groups] = cycles + latency
                    cycle(VALID, blocks=[0] * (width - size) + blocks[:size])
                    blocks, group = blocks[size:], group + 1
                else:
                    cycle(0)
            # The value is there so many cycles after the last group entered, and this one shows it.
            for _ in range(latency):
                cycle(0)
            values.append((cycles - 1, value))
    shown = subprocess.run([twin], input=bytes(given), stdout=subprocess.PIPE, check=True).stdout
    wrong = [at for at, value in values if int.from_bytes(shown[17 * at + 1:17 * at + 17], "little") != value]
    print(f"{' '.join(sys.argv[2:])}: {len(values)} messages in {cycles} cycles, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
