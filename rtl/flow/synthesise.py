"""Synthesises the blocks of `BLOCKS` and writes area and delay of each to results.toml."""

import argparse
import json
import random
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import liberty
import sta

HERE = Path(__file__).resolve().parent.parent
SOURCES = [HERE / "src" / name for name in ("gf.sv", "ghash.sv", "aes.sv", "engine.sv", "wide.sv", "tag_queue.sv")]

# A cell set: what tells it by its files, their digest, its gate equivalent, the cells that an AND, an XOR and a select of one bit take, the flip-flops that it leaves, what is taken to drive a path, the
# period that mapping aims at, the slew of the clock and the wire that a pin adds: assumed 0.6 fF in ASAP7, and as much of an inverter's input in OSU018.
LIBRARIES = {
    "asap7": dict(
        title="ASAP7, RVT, typical, 0.7 V", holds="asap7", digest="b26f96353c3af8aa2543f2e53939631ff93af57aa9060a94e0d24e2887bca68f", gate="NAND2xp33_ASAP7_75t_R",
        conjunction=["AND2x2_ASAP7_75t_R"], sum=["XOR2xp5_ASAP7_75t_R"], select=3 * ["NAND2xp33_ASAP7_75t_R"],
        leave=["DFFHQx4_ASAP7_75t_R"], driver="BUFx2_ASAP7_75t_R", clock_slew=10.0, wire=0.6, target=250,
    ),
    "osu018": dict(
        title="OSU018, typical, 1.8 V", holds="osu018", digest="86f79b2000f1ac46715a9f6dfd5f5a596906418e9ee8a8611077bbaaad3de4e9", gate="NAND2X1",
        conjunction=["AND2X2"], sum=["XOR2X1"], select=["MUX2X1"],
        leave=[], driver="BUFX2", clock_slew=100.0, wire=9.0, target=2000,
    ),
}

# By what part two runs of a block may differ.
REPEATS = 0.005

FAMILIES = {
    "serial": ("ghash_serial", "LEVELS PRODUCT REDUCTION"),
    "aggregated": ("ghash_aggregated", "W G LEVELS PRODUCT REDUCTION"),
    "digit": ("gf_digit_serial", "D"),
    "lane": ("aes_lane", "ROUNDS REGISTERS COMPACT"),
    "iterative": ("aes_iterative", "ROUNDS COMPACT"),
    "tag-queue": ("tag_queue", "DEPTH SKID"),
    "engine": ("engine", "ROUNDS REGISTERS COMPACT FIFO LEVELS PRODUCT REDUCTION"),
    "wide": ("engine_wide", "LANES ROUNDS REGISTERS COMPACT FIFO W G COLLECT LEVELS PRODUCT REDUCTION"),
}

def drawn(seed, count):
    """So many engines of several lanes, at random, of at most about 350 kGE; the smallest first."""
    draw, found = random.Random(seed), {}
    while len(found) < count:
        lanes, rounds, registers, compact = draw.choice((1, 2, 4)), draw.choice((10, 12, 14)), draw.choice((0, 0, 1, 2)), draw.randrange(2)
        collect = draw.randrange(2)
        w, g = (draw.choice((1, 2, 4)), draw.randrange(1, 5)) if collect else (1, 1)
        fifo, levels, product, reduction = draw.randrange(4, 49), draw.choice((0, 2)), draw.randrange(1, 4), draw.randrange(1, 3)
        kge = lanes * (rounds if registers else 1) * (12 - 4 * compact) + w * (70 - 15 * levels + 2 * g) + 1.3 * fifo + 40
        if kge <= 350:
            found[lanes, rounds, registers, compact, fifo, w, g, collect, levels, product, reduction] = kge
    return [("wide", *block) for block in sorted(found, key=found.get)]


# By set, what is synthesised in one go: the family and its parameters.
CUTS = ((1, 0), (2, 0), (1, 1), (2, 1), (3, 1))
BLOCKS = {
    "tag-queue": [("tag-queue", depth, skid) for depth, skid in ((4, 0), (8, 0), (8, 4))],
    "digit": [("digit", bits) for bits in (1, 4, 8, 16, 32, 64)],
    "aes": [("lane", 2, registers, compact) for compact in (0, 1) for registers in (1, 2)],
    "aes-more": [("lane", 4, registers, compact) for compact in (0, 1) for registers in (0, 1)]
    + [("lane", 2, 0, compact) for compact in (0, 1)]
    + [("iterative", 14, compact) for compact in (0, 1)],
    "more": [("tag-queue", 16, 0), ("aggregated", 4, 8, 0, 2, 2)],
    # Blocks that the cost model is held against and does not read.
    "held-aes": [("lane", 14, 1, 0), ("lane", 14, 0, 0), ("lane", 10, 1, 1), ("lane", 14, 2, 0), ("lane", 8, 0, 1), ("iterative", 10, 0)],
    "held": [("tag-queue", depth, skid) for depth, skid in ((2, 0), (6, 0), (12, 0), (16, 4))] + [("digit", bits) for bits in (2, 12, 24, 48)],
    "held-aggregated": [("aggregated", *block) for block in ((2, 4, 0, 2, 2), (4, 2, 0, 2, 2), (4, 4, 2, 2, 2), (2, 2, 1, 1, 1), (2, 4, 0, 1, 0))],
    # Whole engines, which the cost model is held against and was not made from; without registers a lane has one round.
    "held-engines-small": [("engine", *block) for block in ((14, 0, 0, 4, 0, 1, 1), (14, 0, 1, 4, 0, 2, 1), (10, 0, 1, 2, 2, 1, 0), (12, 0, 0, 8, 2, 2, 0), (10, 0, 0, 4, 0, 3, 1))],
    "held-engines": [("engine", *block) for block in ((14, 1, 0, 32, 0, 1, 1), (14, 1, 1, 32, 0, 1, 1), (10, 1, 0, 16, 0, 1, 0), (12, 1, 0, 24, 2, 2, 1))],
    "held-engines-cut": [("engine", *block) for block in ((14, 2, 1, 32, 0, 2, 1), (10, 2, 0, 32, 2, 1, 1), (12, 2, 1, 16, 0, 2, 0))],
    # Chosen before any of them was synthesised. OSU018 has no serial rows of 1, 3 and 4 levels, so the second set is for ASAP7 alone.
    "held-engines-new": [("engine", *block) for block in ((10, 1, 1, 8, 2, 2, 1), (14, 1, 0, 12, 0, 2, 1), (12, 0, 1, 6, 2, 3, 1), (14, 2, 0, 48, 2, 2, 0))],
    "held-engines-levels": [("engine", *block) for block in ((10, 2, 1, 20, 4, 2, 1), (12, 1, 1, 16, 1, 1, 1), (10, 1, 0, 40, 3, 2, 1))],
    # Engines of several lanes and messages, chosen before any of them was synthesised.
    "held-wide": [("wide", *block) for block in (
        (1, 10, 0, 0, 4, 1, 1, 0, 0, 2, 1), (2, 14, 0, 1, 8, 1, 1, 0, 2, 2, 1), (4, 10, 0, 0, 8, 2, 2, 1, 0, 1, 1), (4, 12, 0, 1, 16, 4, 2, 1, 2, 2, 1),
        (2, 12, 1, 1, 32, 1, 1, 0, 0, 3, 1), (1, 14, 1, 1, 20, 1, 4, 1, 0, 2, 2), (2, 10, 1, 0, 24, 2, 4, 1, 0, 2, 2), (1, 12, 1, 0, 16, 2, 3, 1, 2, 3, 1),
        (4, 10, 2, 1, 96, 1, 1, 0, 2, 2, 2), (2, 14, 2, 0, 64, 4, 4, 1, 0, 2, 1), (4, 14, 1, 1, 64, 4, 4, 1, 0, 2, 2), (4, 14, 1, 0, 128, 4, 4, 1, 0, 2, 2),
    )],
    # Likewise, drawn after control had been taken out of their longest paths.
    "held-wide-drawn": drawn(67, 12),
    **{f"serial-{levels}": [("serial", levels, *cut) for cut in CUTS] for levels in range(5)},
}


def chosen(name):
    """The block of a name such as digit:8; none if there is no such family or it has other parameters."""
    family, *values = name.split(":")
    wanted = len(FAMILIES.get(family, ("", ""))[1].split())
    return [(family, *map(int, values))] if wanted == len(values) > 0 and all(map(str.isdigit, values)) else []


def instance(number, block):
    module, names = FAMILIES[block[0]]
    values = ", ".join(f".{name}({value})" for name, value in zip(names.split(), block[1:]))
    return f"(* keep *) {module} #({values}) u{number} ();"


def mapped(blocks, whole, library, folder):
    """The netlist of each block, in gates of the library."""
    from pyosys import libyosys as ys

    design = ys.Design()

    def run(command):
        begin = time.monotonic()
        ys.run_pass(f"tee -q -a {folder / 'log'} {command}", design)
        print(f"{time.monotonic() - begin:6.1f} s {command[:100]}", flush=True, file=sys.stderr)

    top = folder / "all.sv"
    top.write_text("module all ();\n" + "\n".join(instance(*each) for each in enumerate(blocks)) + "\nendmodule\n")
    constraint = folder / "constraint"
    constraint.write_text(f"set_driving_cell {library['driver']}\nset_load 2.0\n")
    script = folder / "script"
    script.write_text(
        "strash\nmap -B 0.9 {D}\ntopo\nbuffer -p -N 12\nupsize {D}\ndnsize {D}\n"
    )
    run("read_verilog -defer -sv " + " ".join(map(str, [*SOURCES, top])))
    run("hierarchy -top all")
    for module, _ in FAMILIES.values():
        run(f"setattr -mod -set keep_hierarchy 1 *{module}*")
    run("proc")
    run("flatten")
    run("opt -fast")
    run("memory -nomap")
    run("memory_map")
    run("opt -fast")
    run("techmap")
    run("opt -fast")
    run("dfflegalize -cell $_DFF_P_ x")
    run("opt -fast")
    run(f"dfflibmap -liberty {whole} " + " ".join(f"-dont_use {cell}" for cell in library["leave"]) + f"")
    # AES and control first, with a search for other structures: there it takes seconds, on products hours.
    deep = folder / "deep"
    deep.write_text("strash\n&get -n\n&st\n&dch -f\n&nf\n&put\nbuffer -c -N 12\ntopo\nstime -p\nupsize -c\ndnsize -c\n")
    for chosen, which in ((deep, "*sbox_* *aes_* *engine_wide"), (script, "")):
        run(f"abc -liberty {whole} -constr {constraint} -script {chosen} -D {library['target']} {which}")
    run("setundef -zero")
    run("opt_clean -purge")
    names = folder / "names.json"
    run(f"write_json {names}")
    cells = json.loads(names.read_text())["modules"]["all"]["cells"]
    run("setattr -mod -unset keep_hierarchy")
    for number, block in enumerate(blocks):
        module = cells[f"u{number}"]["type"]
        netlist = folder / f"u{number}.json"
        run("design -push-copy")
        run(f"hierarchy -top {module}")
        run("flatten")
        run("opt_clean -purge")
        run(f"write_json {netlist}")
        run("design -pop")
        found = json.loads(netlist.read_text())["modules"]
        yield block, found[module]


def measure(block, netlist, cells, library):
    """A row of results.toml."""
    gate = cells.cells[library["gate"]].area
    kinds = [cells.cells[cell["type"]] for cell in netlist["cells"].values() if not cell["type"].startswith("$")]
    netlist = {"cells": {name: cell for name, cell in netlist["cells"].items() if not cell["type"].startswith("$")}}
    flip_flops = [cell for cell in kinds if cell.clock is not None]
    bare, path = sta.longest(netlist, cells, library["clock_slew"], 0.0)
    wired, _ = sta.longest(netlist, cells, library["clock_slew"], library["wire"])
    names = FAMILIES[block[0]][1].lower().split()
    row = {"family": block[0], **dict(zip(names, block[1:]))}
    row["logic_kge"] = round(sum(cell.area for cell in kinds if cell.clock is None) / gate / 1000, 3)
    row["flip_flops"] = len(flip_flops)
    row["kge"] = round(sum(cell.area for cell in kinds) / gate / 1000, 3)
    row["ps"], row["ps_wired"] = round(bare), round(wired)
    print(row, " ".join(path), flush=True, file=sys.stderr)
    return row


def compare(row, known):
    """What of a row is not the file's: a flip-flop, or more than REPEATS of area or delay beyond rounding."""
    name = ":".join(map(str, key(row)))
    if known is None:
        return [f"{name}: the file has no such row"]
    rounding = {"flip_flops": 0, "logic_kge": 0.0005, "kge": 0.0005, "ps": 0.5, "ps_wired": 0.5}
    parts = {of: 0.0 if of == "flip_flops" else REPEATS for of in rounding}
    far = [of for of, less in rounding.items() if abs(row[of] - known[of]) > parts[of] * known[of] + 2 * less]
    print(f"{name}: {'differs' if far else 'as in the file'}: " + ", ".join(f"{of} {known[of]} {row[of]}" for of in rounding), flush=True)
    return [f"{name}: {of} {known[of]}, now {row[of]}" for of in far]


def promise(row, promised):
    """What of a row is not what was promised of it, as kGE and ps: by more than a tenth of area, or by more than 15 % of delay."""
    off = {of: said / row[of] - 1 for of, said in zip(("kge", "ps"), promised)}
    name = ":".join(map(str, key(row)))
    print(f"{name}: " + ", ".join(f"{of} {row[of]}, promised {said:g} ({off[of]:+.1%})" for of, said in zip(off, promised)), flush=True)
    return [f"{name}: {of} {part:+.1%}" for of, part in off.items() if abs(part) > {"kge": 0.1, "ps": 0.15}[of]]


def text(results):
    """results.toml."""
    lines = ["# Written by rtl/run: what the blocks of this directory take in gates and from flip-flop to flip-flop. Not to be edited.", ""]
    for name, library in sorted(results.items()):
        lines += [f"[{name}]"] + [f"{key} = {json.dumps(value)}" for key, value in library.items() if key != "block"] + [""]
        for row in sorted(library["block"], key=lambda row: str(key(row))):
            fields = ", ".join(f"{key} = {json.dumps(value)}" for key, value in row.items())
            lines += [f"[[{name}.block]]", *fields.split(", "), ""]
    return "\n".join(lines).rstrip() + "\n"


def key(row):
    """What tells a block from the others: its family and parameters."""
    return [row["family"]] + [row[name.lower()] for name in FAMILIES[row["family"]][1].split()]


def versions():
    from importlib.metadata import version

    return f"pyosys {version('pyosys')} with its own ABC; delays by rtl/flow/sta.py"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--liberty", required=True, type=Path, help="directory or file of a known cell set")
    arguments.add_argument("--sets", default=",".join(BLOCKS), help="which sets of blocks, by comma")
    arguments.add_argument("--blocks", help="blocks by comma instead, such as digit:8,tag-queue:4:0; each is mapped alone")
    arguments.add_argument("--check", action="store_true", help="write nothing, and fail where a row differs from the file's")
    arguments.add_argument("--promised", default="", help="LIBRARY:KGE:PS by comma: fails where a block is another")
    arguments.add_argument("--period", type=int, help="ps that mapping aims at, in place of the library's own")
    arguments.add_argument("--out", type=Path, default=HERE / "results.toml")
    given = arguments.parse_args()
    sets = {name: BLOCKS.get(name) for name in given.sets.split(",")}
    if given.blocks:
        sets = {name: chosen(name) for name in given.blocks.split(",")}
    if unknown := [name for name, blocks in sets.items() if not blocks]:
        arguments.error(f"no set or block is called {', '.join(unknown)}; there are {', '.join([*BLOCKS, *FAMILIES])}")
    if not given.liberty.exists():
        arguments.error(f"{given.liberty}: there is no such file or directory")
    found = sorted(path for path in ([given.liberty] if given.liberty.is_file() else given.liberty.iterdir()) if ".lib" in path.name)
    name = next((name for name, known in LIBRARIES.items() if any(known["holds"] in path.name for path in found)), None)
    if name is None:
        sys.exit(f"{given.liberty}: no cell set that is known: {', '.join(LIBRARIES)}")
    library = LIBRARIES[name]
    library["target"] = given.period or library["target"]
    promised = {of: tuple(map(float, figures)) for of, *figures in (each.split(":") for each in given.promised.split(",") if each)}
    if liberty.digest(found) != library["digest"]:
        sys.exit(f"{given.liberty}: SHA-256 {liberty.digest(found)}, and results rest on {library['digest']}")
    cells = liberty.Library(found)
    library["gate_um2"] = cells.cells[library["gate"]].area
    flip_flop = min((cell for cell in cells.cells.values() if cell.clock and cell.setup and "DFF" in cell.name), key=lambda cell: cell.area)
    library["flip_flop_ge"] = round(flip_flop.area / library["gate_um2"], 3)
    for name_of, taken in (("and_ge", "conjunction"), ("xor_ge", "sum"), ("select_ge", "select")):
        library[name_of] = round(sum(cells.cells[cell].area for cell in library[taken]) / library["gate_um2"], 3)
    results = tomllib.loads(given.out.read_text()) if given.out.exists() else {}
    kept = results.get(name, {}).get("block", [])
    differs = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        whole = folder / "cells.lib"
        whole.write_text(liberty.together(found), "latin-1")
        for blocks in sets.values():
            for block, netlist in mapped(blocks, whole, library, folder):
                row = measure(block, netlist, cells, library)
                if name in promised:
                    differs += promise(row, promised[name])
                if given.check:
                    differs += compare(row, next((other for other in kept if key(other) == key(row)), None))
                    continue
                kept = [other for other in kept if key(other) != key(row)] + [row]
            if given.check:
                continue
            head = {"title": library["title"], "sha256": library["digest"], "tools": versions()}
            head |= {"wire_ff_per_pin": library["wire"], "clock_slew_ps": library["clock_slew"]}
            head |= {key: library[key] for key in ("gate_um2", "flip_flop_ge", "and_ge", "xor_ge", "select_ge")}
            results[name] = {**head, "block": kept}
            given.out.write_text(text(results))
    if differs:
        sys.exit(("not as promised: " if promised else "rows that are not found again: ") + "; ".join(differs))


if __name__ == "__main__":
    main()
