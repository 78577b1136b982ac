"""Forty bugs, by name: the stage that has it, and what changes in the Verilog. Each part of text that changes stands there once."""

import pathlib
from typing import NamedTuple

RTL = pathlib.Path(__file__).resolve().parent / "rtl"
FILES = ("aes.v", "aes_gcm.v")


class Bug(NamedTuple):
    """part: as ``sealsim.diagnosis.Stage`` names it."""

    part: str
    changes: list[tuple[str, str]]


TEXT_Y = "y         <= product(y ^ (opens_now ? given : made), h);"
TAKEN = "(opens_now ? given : made)"
OUT = "out_data  <= made;"
NEXT = "aes_block <= {iv_now, counter_next};"
REG = "    reg                aes_start;\n"
LENGTHS = "{29'h0, aad_now, 3'h0, 29'h0, text_now, 3'h0}"
J0 = "aes_block <= {iv_now, counter};"


def turned(name, bits, size):
    """A bus with its parts of so many bits in reverse order."""
    return "{" + ", ".join(f"{name}[{at + size - 1}:{at}]" for at in range(0, bits, size)) + "}"


BUGS = {
    # The order and number of what comes out.
    "block dropped": Bug("control", [("out_valid <= 1;", "out_valid <= counter != 5;")]),
    "block repeated": Bug("control", [("        out_valid <= 0;\n", "        out_valid <= phase == MAKE_KEYSTREAM && counter == 4 && aes_start;\n")]),
    "blocks swapped": Bug(
        "control",
        [
            (REG, REG + "    reg [127:0] held;\n    reg pending = 0;\n"),
            ("        out_valid <= 0;\n", "        out_valid <= pending;\n        if (pending) out_data <= held;\n        pending <= 0;\n"),
            ("out_valid <= 1;", "out_valid <= !(counter == 4 && text_left > 16);\n                pending <= counter == 5;\n                if (counter == 4) held <= made;"),
        ],
    ),
    # The key.
    "key of another message": Bug(
        "key", [(REG, REG + "    reg [KEY_BITS-1:0] key_late = 0;\n"), ("key_now   <= key;", "key_now   <= key_late;\n                key_late  <= key;")]
    ),
    "key in reverse order": Bug("key", [("key_now   <= key;", f"key_now   <= {turned('key', 128, 8)};")]),
    "bit of the key": Bug("key", [("key_now   <= key;", "key_now   <= key ^ 128'h40;")]),
    # AES.
    "S-box": Bug("AES", [("        done = 0;\n", "        sbox[8'h3a] = sbox[8'h3a] ^ 8'h01;\n        done = 0;\n")]),
    "last round mixes": Bug("AES", [("(is_last ? rows : mixed(rows))", "mixed(rows)")]),
    "a round less": Bug("AES", [("KEY_BITS == 128 ? 4'd10 : 4'd14", "KEY_BITS == 128 ? 4'd9 : 4'd13")]),
    "round constant": Bug("AES", [("constant   <= rotates ? times2(constant) : constant;", "constant   <= rotates ? {constant[6:0], 1'b0} : constant;")]),
    "rows shifted back": Bug("AES", [("4 * ((c + r) % 4) + r", "4 * ((c + 4 - r) % 4) + r")]),
    # Counters.
    "carry of the counter": Bug("counter", [("counter + 32'd1;", "{counter[31:4], counter[3:0] + 4'd1};")]),
    "counter begins at J0": Bug("counter", [(J0, "aes_block <= {iv_now, 32'd1};"), ("counter   <= 1;", "counter   <= 0;")]),
    "counter by two": Bug("counter", [("counter + 32'd1;", "counter + 32'd2;")]),
    "byte order of the counter": Bug("counter", [(NEXT, f"aes_block <= {{iv_now, {turned('counter_next', 32, 8)}}};")]),
    "counter stands": Bug("counter", [("counter + 32'd1;", "32'd2;")]),
    "IV in reverse order": Bug("counter", [("iv_now    <= iv;", f"iv_now    <= {turned('iv', 96, 8)};")]),
    "IV of another message": Bug("counter", [(REG, REG + "    reg [95:0] iv_late = 0;\n"), ("iv_now    <= iv;", "iv_now    <= iv_late;\n                iv_late   <= iv;")]),
    # Text.
    "byte order of text": Bug("text", [(OUT, f"out_data  <= {turned('made', 128, 8)};")]),
    "word order of text": Bug("text", [(OUT, f"out_data  <= {turned('made', 128, 32)};")]),
    "shifted text": Bug("text", [(OUT, "out_data  <= {8'h0, made[127:8]};")]),
    "bit that sticks": Bug("text", [(OUT, "out_data  <= made | 128'h1 << 100;")]),
    "no keystream": Bug("text", [(OUT, "out_data  <= given;")]),
    # GHASH and what it takes.
    "GHASH drops a block": Bug("GHASH", [(TEXT_Y, f"if (counter != 7) {TEXT_Y}")]),
    "GHASH repeats a block": Bug("GHASH", [(TEXT_Y, f"y <= counter == 4 ? product(product(y ^ {TAKEN}, h) ^ {TAKEN}, h) : product(y ^ {TAKEN}, h);")]),
    "GHASH swaps blocks": Bug(
        "GHASH",
        [
            (REG, REG + "    reg [127:0] held;\n"),
            (TEXT_Y, f"if (counter == 3 && text_left > 16) held <= {TAKEN};\n                else y <= counter == 4 ? product(product(y ^ {TAKEN}, h) ^ held, h) : product(y ^ {TAKEN}, h);"),
        ],
    ),
    "GHASH shifts blocks": Bug("GHASH", [(TEXT_Y, f"y <= product(y ^ ({TAKEN} >> 8), h);")]),
    "GHASH takes plaintext": Bug("GHASH", [(TAKEN, "(opens_now ? made : given)")]),
    "polynomial": Bug("GHASH", [("{8'he1, 120'h0}", "{8'h87, 120'h0}")]),
    "short block of text": Bug("GHASH", [(TAKEN, "(opens_now ? given : in_data ^ keystream)")]),
    "short block of AAD": Bug("GHASH", [("y        <= product(y ^ given, h);", "y        <= product(y ^ in_data, h);")]),
    # H.
    "stale H": Bug("H", [(REG, REG + "    reg have = 0;\n"), ("h         <= aes_out;", "if (!have) h <= aes_out;\n                have <= 1;")]),
    "H of ones": Bug("H", [("aes_block <= 0;", "aes_block <= ~128'h0;")]),
    # The length block.
    "lengths in bytes": Bug("length block", [(LENGTHS, "{32'h0, aad_now, 32'h0, text_now}")]),
    "lengths exchanged": Bug("length block", [(LENGTHS, "{29'h0, text_now, 3'h0, 29'h0, aad_now, 3'h0}")]),
    "no length of AAD": Bug("length block", [(LENGTHS, "{64'h0, 29'h0, text_now, 3'h0}")]),
    # The mask and the tag.
    "no mask": Bug("mask", [("tag       <= hashed ^ mask;", "tag       <= hashed;")]),
    "mask of another message": Bug("mask", [(REG, REG + "    reg [127:0] late = 0;\n"), ("mask <= aes_out;", "mask <= late;\n                late <= aes_out;")]),
    "mask of the next counter": Bug("mask", [(J0, "aes_block <= {iv_now, counter_next};")]),
    "byte order of the tag": Bug("tag", [("tag       <= hashed ^ mask;", f"tag       <= {turned('(hashed ^ mask)', 128, 8)};".replace("(hashed ^ mask)", "masked")), (REG, REG + "    wire [127:0] masked = hashed ^ mask;\n")]),
}
assert len(BUGS) == 40


def changed(bug):
    """The files with a bug in them."""
    files = {name: (RTL / name).read_text() for name in FILES}
    for old, new in bug.changes:
        (name,) = [name for name in FILES if files[name].count(old)]
        assert files[name].count(old) == 1, old
        files[name] = files[name].replace(old, new)
    return files
