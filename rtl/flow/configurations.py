"""Random engines as `sealsim rtl` writes them: Verilator's lint says nothing, its bench finds every byte, stage and cycle, in Icarus too where there is one, and `cryptography` agrees with the vectors.

configurations.py SEALSIM [COUNT [SEED]]
"""

import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM


def settings(draw):
    product, reduction = draw.randrange(5), draw.randrange(4)
    cycles = f'multiplier={{product="{max(product, int(reduction == 0))} cycles",reduction="{reduction} cycles",digit_bits=128}}'
    groups = f'design="aggregated",width={draw.choice((1, 2, 4, 8))},groups={draw.randrange(1, 6)},'
    bits = draw.choice((128, 192, 256))
    yield "engine.ghash={" + draw.choice((groups, 'design="serial",')) + cycles + "}"
    yield f"engine.key_bits={bits}"
    yield f"engine.aes.lanes={draw.choice((1, 2, 4))}"
    if draw.random() < 0.4:
        yield "engine.aes.rounds_in_hardware=1"
    else:
        yield f"engine.aes.rounds_in_hardware={bits // 32 + 6}"
        yield f"engine.aes.registers_per_round={draw.randrange(1, 4)}"
    yield f"engine.aes.keystream_blocks={draw.randrange(1, 60)}"
    yield "engine.check=warn"


def words(path):
    return [int(line, 16).to_bytes(16, "big") for line in path.read_text().split()]


def agree(vectors):
    """Holds the vectors against AES-GCM of another library; how many messages there were."""
    heads, keys, streams = words(vectors / "messages.hex"), words(vectors / "keys.hex"), [words(vectors / f"{name}.hex") for name in ("aad", "text", "out")]
    count = len(heads) // 6
    rounds = len(keys) // count - 1
    at = [0, 0]
    for number in range(count):
        flags, iv, tag = heads[6 * number], heads[6 * number + 1][4:], heads[6 * number + 5]
        lengths = [int.from_bytes(flags[8:12], "big"), int.from_bytes(flags[12:], "big")]
        key = b"".join(keys[(rounds + 1) * number :][:2])[: 4 * (rounds - 6)]
        part = lambda stream, of: b"".join(streams[stream][at[of] :][: -(-lengths[of] // 16)])[: lengths[of]]
        given, made = (part(2, 1), part(1, 1)) if flags[7] & 1 else (part(1, 1), part(2, 1))
        assert AESGCM(key).encrypt(iv, given, part(0, 0)) == made + tag, f"message {number}"
        at = [place + -(-length // 16) for place, length in zip(at, lengths)]
    return count


def main():
    program, count, seed = sys.argv[1], *map(int, (*sys.argv[2:], 3, 1)[:2] if len(sys.argv) < 4 else sys.argv[2:4])
    for number in range(count):
        chosen = list(settings(random.Random(seed * 1000 + number)))
        with tempfile.TemporaryDirectory() as folder:
            sets = [word for value in chosen for word in ("--set", value)]
            subprocess.run([program, "rtl", "h100-nvl-tdx", *sets, "--seed", str(number), "--out", f"{folder}/engine"], check=True, stdout=subprocess.DEVNULL)
            messages = agree(Path(folder) / "engine/vectors")
            ran = subprocess.run(["make", "-C", f"{folder}/engine", "lint", "verilator", *["icarus"] * (shutil.which("iverilog") is not None)], capture_output=True, text=True)
            found = [line for line in ran.stdout.splitlines() if "messages, " in line and "wrong" in line]
            said = found[0] if len(set(found)) == 1 else "simulators differ"
            if ran.returncode or "%Warning" in ran.stderr or f"{messages} messages" not in said or not said.endswith(" 0 wrong"):
                sys.exit(f"{chosen}:\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}")
            print(f"{chosen}: {said}", flush=True)


main()
