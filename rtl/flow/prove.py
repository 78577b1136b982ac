"""Proofs about the RTL: the tag queue's release rules for all time by induction, S-boxes and Karatsuba by SAT, and that a planted fault is found."""

import sys
import tempfile
import time
from pathlib import Path

from pyosys import libyosys as ys

SOURCE = Path(__file__).resolve().parent.parent / "src"


def prove(what, commands, expect=True):
    """Runs commands, of which the last proves; a proof that fails raises in Yosys's own way, so that each runs in a process of its own."""
    import os

    begin = time.monotonic()
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        design = ys.Design()
        for command in commands:
            ys.run_pass(command, design)
        os._exit(0)
    proven = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    print(f"{what}: {'proven' if proven else 'not proven'} in {time.monotonic() - begin:.1f} s", flush=True)
    return proven == expect


def queue(depth, skid, source=SOURCE / "tag_queue.sv"):
    return [
        f"read_verilog -formal -sv {source}",
        f"chparam -set DEPTH {depth} -set SKID {skid} tag_queue",
        "prep -flatten -top tag_queue",
        "memory_map",
        "opt",
        "async2sync",
        "chformal -lower",
        "opt",
        f"sat -verify -tempinduct -prove-asserts -seq 1 -set-at 1 rst 1 -maxsteps 2 tag_queue",
    ]


def same(one, other, parameters=("", "")):
    """That two combinational modules agree on every input."""
    files = " ".join(str(SOURCE / name) for name in ("gf.sv", "aes.sv"))
    commands = []
    for name, (module, sets) in {"gold": (one, parameters[0]), "gate": (other, parameters[1])}.items():
        commands += [f"read_verilog -defer -sv {files}"]
        commands += [f"hierarchy -top {module} {sets}", "proc", "setattr -mod -unset keep_hierarchy", "flatten", "opt", "techmap", "opt"]
        commands += [f"rename -top {name}", f"design -stash {name}"]
    commands += ["design -copy-from gold gold", "design -copy-from gate gate"]
    return commands + ["miter -equiv -flatten -make_outputs gold gate m", "hierarchy -top m", "opt", "techmap", "opt", "sat -verify -prove trigger 0 m"]


def main():
    good = [prove(f"tag queue of {depth}, skid {skid}", queue(depth, skid)) for depth, skid in ((2, 0), (4, 0), (8, 0), (8, 3))]
    with tempfile.TemporaryDirectory() as folder:
        right, planted = "8'(ahead) + 8'd1 <= 8'(SKID)", Path(folder) / "planted.sv"
        text = (SOURCE / "tag_queue.sv").read_text()
        assert text.count(right) == 1
        planted.write_text(text.replace(right, f"(verdict || {right})"))
        good.append(prove("tag queue of 4 with a planted fault", queue(4, 0, planted), expect=False))
    good.append(prove("compact S-box, the table's values", same("sbox_table", "sbox_compact")))
    for levels in (1, 2):
        sizes = ("-chparam N 8 -chparam LEVELS 0", f"-chparam N 8 -chparam LEVELS {levels}")
        good.append(prove(f"{levels} levels of Karatsuba, the schoolbook's product, 8 bits", same("clmul", "clmul", sizes)))
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
