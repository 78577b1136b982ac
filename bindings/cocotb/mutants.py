"""Bugs in the core, planted and drawn, and which stage the scoreboard blames for each.

    python mutants.py planted              the forty of planted.py
    python mutants.py drawn 1 100          a mutation for each seed
    python mutants.py drawn 1 100 --show   what they change, without running them

Prints a line for each, and how many stages were named, named among others (ambiguous), named wrongly, and not known. Needs Icarus Verilog and sealsim.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from planted import BUGS, FILES, RTL, changed
from sealsim.scoreboard import Mismatch, Scoreboard

HERE = pathlib.Path(__file__).resolve().parent

# Which stages a line of the core belongs to: the first row that it contains. A line that serves several names them all.
STAGES = {
    "aes.v": [
        (r"first_key = ", {"AES", "key"}),
        (r"if \(start\)|done|round |round\b.*<=|is_last = ", {"AES", "control"}),
        (r"", {"AES"}),
    ],
    "aes_gcm.v": [
        (r"assign idle|assign in_ready", {"control"}),
        (r"cut = ", {"text", "GHASH"}),
        (r"wire .*(left|left_behind) = ", {"control", "text", "GHASH"}),
        (r"wire .*given = ", {"GHASH"}),
        (r"wire .*made = ", {"text", "GHASH"}),
        (r"counter_next = ", {"counter"}),
        (r"lengths = ", {"length block"}),
        (r"hashed = ", {"GHASH", "length block"}),
        (r"counter +<= counter_next|iv_now, counter_next", {"counter"}),
        (r"key_now +<=", {"key", "AES"}),
        (r"opens_now +<=|y +<= ", {"GHASH"}),
        (r"iv_now +<=", {"counter"}),
        (r"(aad|text)_now +<=", {"length block"}),
        (r"(aad|text)_left +<=", {"control", "text", "GHASH"}),
        (r"counter +<= 1", {"counter", "mask"}),
        (r"aes_block <= 0", {"H"}),
        (r"\bh +<=", {"H", "GHASH"}),
        (r"aes_block <= \{iv_now, counter\}", {"mask"}),
        (r"mask <=", {"mask"}),
        (r"keystream <=", {"counter", "text"}),
        (r"out_data ", {"text"}),
        (r"tag  ", {"mask", "tag"}),
        (r"product|a\[at\]|v\[0\]|\bv = |at = 127", {"GHASH"}),
        (r"MAKE_H: if", {"control", "H"}),
        (r"MAKE_MASK: if", {"control", "mask"}),
        (r"MAKE_KEYSTREAM: if", {"control", "counter"}),
        (r"aes_start", {"control", "AES"}),
        (r"", {"control"}),
    ],
}
# These lines declare names, and are left alone.
LEFT = re.compile(r"^\s*(//|`|\)|module|parameter|input|output|localparam|reg |integer|function|wire [^=]*;|task|end|begin|else begin|aes #|\.clock)|^\s*$")
TOKEN = re.compile(r"(\d*'[hdb][0-9a-f]+|\b\d+\b|[a-z_][a-z_0-9]*|<<|>>|<=|>=|==|!=|&&|\|\||[-+^&|~!<>?])")
OTHERS = {
    "+": "-^|", "-": "+^", "^": "&|", "&": "|^", "|": "&^", "<<": [">>"], ">>": ["<<"], "==": ["!=", "<", ">"], "!=": ["=="],
    ">=": [">", "<", "=="], "<": ["<=", ">"], ">": [">=", "<", "=="], "&&": ["||"], "||": ["&&"], "~": [""], "!": [""],
}  # fmt: skip
# Names that may stand for each other: buses of 128 bits, of 32 bits, of 8 bits, single bits.
ALIKE = [
    ["h", "mask", "keystream", "y", "aes_out", "given", "made", "in_data", "lengths", "hashed"],
    ["counter", "counter_next", "aad_now", "text_now", "aad_left", "text_left", "left", "left_behind", "aad_bytes", "text_bytes"],
    ["a", "b", "c", "d"],
    ["state", "round_key", "key_before", "first_key", "rows", "substituted"],
    ["is_last", "rotates", "start", "in_valid", "aes_done", "opens_now", "opens"],
]


def places():
    """What can be mutated: file, line, and the token with its place in the line."""
    for name in FILES:
        begun = False
        for number, line in enumerate((RTL / name).read_text().splitlines()):
            begun = begun or line.startswith(");")
            if not begun or LEFT.match(line):
                continue
            code = line.split("//")[0]
            for token in TOKEN.finditer(code):
                others = replacements(token.group(), code, token.start())
                if others:
                    yield name, number, token, others


def replacements(token, code, at):
    """What may stand in place of a token."""
    if token == "<=" and re.match(r"^\s*(if \(\w+\) )?[\w{}, ]+$", code[:at]):
        return []
    if token in OTHERS:
        return list(OTHERS[token])
    sized = re.fullmatch(r"(\d*'[hdb])([0-9a-f]+)", token)
    if sized:
        base = {"h": 16, "d": 10, "b": 2}[sized.group(1)[-1]]
        value = int(sized.group(2), base)
        form = {16: "x", 10: "d", 2: "b"}[base]
        bits = int(sized.group(1)[:-2] or 32)
        around = {value + 1, value - 1, value ^ 1 << (bits // 2), 0}
        return [sized.group(1) + format(one, form) for one in sorted(around) if one != value and 0 <= one < 1 << bits]
    if token.isdigit():
        return [str(one) for one in sorted({int(token) + 1, int(token) - 1, 2 * int(token), 0}) if one >= 0 and one != int(token)]
    for alike in ALIKE:
        if token in alike:
            return [one for one in alike if one != token]
    return []


def drawn(seed, attempt=0):
    """A mutation: where, what it changes, the files with it, and the stages to which the line belongs."""
    draw = random.Random(f"{seed}.{attempt}")
    every = list(places())
    # Each file as often as its lines have it; each line as often as any other.
    name, number = draw.choice(sorted({(name, number) for name, number, _, _ in every}))
    _, _, token, others = draw.choice([one for one in every if one[:2] == (name, number)])
    other = draw.choice(others)
    files = {one: (RTL / one).read_text() for one in FILES}
    lines = files[name].splitlines(keepends=True)
    line = lines[number]
    lines[number] = line[: token.start()] + other + line[token.end() :]
    files[name] = "".join(lines)
    stages = stages_of(name, line)
    if re.fullmatch(r"\s*", line[: token.start()]):
        # Another register is written: those stages are hit too from which it comes.
        stages = stages.union(*(stages_of(name, one) for one in lines if re.match(rf"\s*{other}\s*<=", one)))
    return f"{name}:{number + 1}: {line.strip()} -> {lines[number].strip()}", files, stages


# Bytes of AAD and text, and whether it is opened, of messages from which stages are told apart; a line has a key.
TELLING = [
    (0, [(0, 0, 0), (0, 16, 0), (16, 0, 0), (0, 48, 0), (32, 0, 0), (20, 60, 0), (33, 300, 0), (0, 5, 0)]),
    (1, [(0, 0, 0), (0, 16, 1), (16, 0, 0), (16, 32, 1), (13, 100, 1), (48, 0, 1), (5, 0, 0)]),
    (0, [(0, 0, 0), (16, 0, 0), (0, 40, 0), (20, 61, 1)]),
    (2, [(0, 0, 0), (16, 0, 1), (0, 16, 0), (31, 130, 0), (7, 9, 1), (0, 80, 1), (0, 0, 1)]),
]


def messages():
    """Those of TELLING, with random bytes also where they do not count: key, IV, AAD, text, whether it is opened, blocks."""
    draw = random.Random(46)
    keys = [draw.randbytes(16) for _ in range(3)]
    for key, several in TELLING:
        for aad_bytes, text_bytes, opens in several:
            aad, text = draw.randbytes(aad_bytes), draw.randbytes(text_bytes)
            blocks = b"".join(part + draw.randbytes(-len(part) % 16) for part in (aad, text))
            yield keys[key], draw.randbytes(12), aad, text, bool(opens), blocks


def stages_of(name, line):
    """The stages that a line belongs to."""
    return next(stages for pattern, stages in STAGES[name] if re.search(pattern, line))


def outputs(files, folder):
    """What a core gives, as replay.v prints it: None where it does not compile or loops for ever."""
    for name, text in files.items():
        (folder / name).write_text(text)
    built = subprocess.run(["iverilog", "-g2005", "-s", "replay", "-o", "replay.vvp", HERE / "replay.v", *files], cwd=folder, capture_output=True, check=False)
    if built.returncode:
        return None
    lines = []
    for key, iv, aad, text, opens, blocks in messages():
        lines.append(f"{key.hex()} {iv.hex()} {len(aad)} {len(text)} {int(opens)} {len(blocks) // 16}")
        lines += [blocks[at : at + 16].hex() for at in range(0, len(blocks), 16)]
    (folder / "stimulus").write_text("\n".join(lines) + "\n")
    try:
        return subprocess.run(["vvp", "-n", "replay.vvp"], cwd=folder, capture_output=True, text=True, check=True, timeout=60).stdout
    except subprocess.TimeoutExpired:
        # A loop without an end, in no time of the clock: a right core takes a second.
        return None


def verdict(printed):
    """What the scoreboard says of a core that gives this: the difference, or "" where there is none."""
    every = list(messages())
    scoreboard = Scoreboard(every[0][0], gather=len(every))
    coming = iter(every)
    try:
        for line in printed.splitlines():
            told(scoreboard, coming, *line.split())
        scoreboard.finish()
    except Mismatch as wrong:
        return wrong
    return ""


def told(scoreboard, coming, what, value=""):
    """A line that replay.v prints."""
    if what == "message":
        key, iv, aad, text, opens, _ = next(coming)
        scoreboard.start(iv, text, aad, open=opens, key=key)
    elif what == "hang":
        if scoreboard.idle:
            scoreboard.misplaced("the core takes no block, or does not come to rest")
        scoreboard.finish()
    elif what == "unknown":
        scoreboard.unknown("text", f"{value} is X")
    elif what in ("text", "tag"):
        counts = scoreboard.due if what == "text" else 16
        if not re.fullmatch("[0-9a-f]+", value[: 2 * counts]):
            scoreboard.unknown(what, f"{what} is {value}")
        (scoreboard.text if what == "text" else scoreboard.tag)(bytes.fromhex(re.sub("[^0-9a-f]", "0", value)))


def judged(found, stages):
    """Of a verdict: named, wrong, ambiguous where a right stage is among several, unknown, or alive where nothing differs."""
    if not found:
        return "alive"
    if found.among:
        return "ambiguous" if stages.intersection(found.among) else "wrong"
    if found.part is None:
        return "unknown"
    return "named" if found.part in stages else "wrong"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("which", choices=["planted", "drawn"])
    arguments.add_argument("first", type=int, nargs="?", default=1)
    arguments.add_argument("last", type=int, nargs="?", default=100)
    arguments.add_argument("--show", action="store_true")
    given = arguments.parse_args()
    counts = dict.fromkeys(["named", "ambiguous", "wrong", "unknown", "alive"], 0)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        cases = [(name, *[changed(bug), {bug.part}]) for name, bug in BUGS.items()] if given.which == "planted" else range(given.first, given.last + 1)
        for case in cases:
            if given.which == "planted":
                name, files, stages = case
                printed = outputs(files, work)
            else:
                for attempt in range(50):
                    name, files, stages = drawn(case, attempt)
                    printed = "" if given.show else outputs(files, work)
                    if printed is not None:
                        break
                name = f"seed {case}: {name}"
            found = "" if given.show else verdict(printed)
            how = judged(found, stages)
            counts[how] += 1
            said = found and f"{'/'.join(found.among) or found.part}: {found.stage}"
            print(f"{how:10}{name}\n          {'/'.join(sorted(stages))}; said: {said}", flush=True)
    killed = sum(counts.values()) - counts["alive"]
    told = f"{counts['ambiguous']} ambiguous, {counts['wrong']} wrong, {counts['unknown']} not known"
    print(f"{counts['named']} of {killed} named, {told}; {counts['alive']} changed nothing that was seen")
    return 0 if given.show or (10 * counts["named"] >= 9 * killed and counts["wrong"] == 0) else 1


if __name__ == "__main__":
    sys.exit(main())
