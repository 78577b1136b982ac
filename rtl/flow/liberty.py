"""Liberty files: the cells' areas, pins and delay tables, in ps and fF."""

import gzip
import hashlib
import re
from bisect import bisect_right
from pathlib import Path

TOKEN = re.compile(r'/\*.*?\*/|"(?:[^"\\]|\\.)*"|[{}();:,]|[^\s{}();:,"]+', re.S)


def read(path):
    """The text of a file, compressed or not."""
    data = Path(path).read_bytes()
    return (gzip.decompress(data) if str(path).endswith(".gz") else data).decode("latin-1")


def digest(paths):
    """SHA-256 of the files' texts, one after another in the order of their names."""
    whole = hashlib.sha256()
    for path in sorted(paths, key=lambda path: path.name):
        whole.update(read(path).encode("latin-1"))
    return whole.hexdigest()


def together(paths):
    """One library of several files."""
    texts = [read(path).rstrip() for path in sorted(paths)]
    bodies = [text[text.index("{") + 1:text.rindex("}")] for text in texts[1:]]
    return texts[0][:texts[0].rindex("}")] + "".join(bodies) + "}\n"


def groups(text):
    """The tree of a file: (kind, arguments, attributes, groups within)."""
    tokens = [token for token in TOKEN.findall(text.replace("\\\n", " ")) if not token.startswith("/*")]
    root = ("file", [], {}, [])
    stack, at = [root], 0
    while at < len(tokens):
        name = tokens[at]
        if name == "}":
            stack.pop()
            at += 1
        elif at + 1 < len(tokens) and tokens[at + 1] == ":":
            stack[-1][2][name] = tokens[at + 2].strip('"')
            at += 3
        elif at + 1 < len(tokens) and tokens[at + 1] == "(":
            end = tokens.index(")", at)
            arguments = [token.strip('"') for token in tokens[at + 2:end] if token != ","]
            at = end + 1
            if at < len(tokens) and tokens[at] == "{":
                group = (name, arguments, {}, [])
                stack[-1][3].append(group)
                stack.append(group)
                at += 1
            else:
                stack[-1][2][name] = arguments
        else:
            at += 1
    return root[3][0]


class Table:
    """Values over input slew and load, interpolated and, beyond the corners, extrapolated."""

    def __init__(self, group, variables, time, load):
        axes = [numbers(group[2].get(f"index_{axis}")) for axis in (1, 2)]
        rows = [numbers([row]) for row in group[2]["values"]]
        if not axes[1]:
            axes[1], rows = [0.0], [[value] for row in rows for value in row]
        if variables[0].startswith("total_output"):
            axes, rows = axes[::-1], [list(row) for row in zip(*rows)]
        self.slews = [value * time for value in axes[0]]
        self.loads = [value * (load if "total_output_net_capacitance" in variables else time) for value in axes[1]]
        self.rows = [[value * time for value in row] for row in rows]

    def at(self, slew, load):
        i, part = place(self.slews, slew)
        j, other = place(self.loads, load)
        rows = self.rows
        if len(self.loads) == 1:
            return rows[i][0] + (rows[i + 1][0] - rows[i][0]) * part if len(rows) > 1 else rows[0][0]
        low = rows[i][j] + (rows[i][j + 1] - rows[i][j]) * other
        if len(rows) == 1:
            return low
        high = rows[i + 1][j] + (rows[i + 1][j + 1] - rows[i + 1][j]) * other
        return low + (high - low) * part


def numbers(texts):
    return [float(number) for text in texts or [] for number in re.split(r"[\s,]+", text.strip()) if number]


def place(axis, value):
    """The interval of an axis that a value lies in, and how far into it."""
    if len(axis) == 1:
        return 0, 0.0
    at = min(max(bisect_right(axis, value) - 1, 0), len(axis) - 2)
    return at, (value - axis[at]) / (axis[at + 1] - axis[at])


class Cell:
    """A cell: `arcs` by output pin are (input pin, sense, delays and slews of the rising and the falling output)."""

    def __init__(self, name):
        self.name, self.area, self.load, self.outputs = name, 0.0, {}, {}
        self.clock, self.setup = None, {}


class Library:
    def __init__(self, paths):
        self.cells = {}
        for path in paths:
            self.add(groups(read(path)))

    def add(self, library):
        time = 1000.0 if library[2].get("time_unit", "1ns").endswith("ns") else 1.0
        load = 1000.0 if "pf" in [unit.lower() for unit in library[2].get("capacitive_load_unit", [])] else 1.0
        templates = {
            group[1][0]: [group[2].get(f"variable_{axis}", "") for axis in (1, 2)]
            for group in library[3] if group[0] == "lu_table_template"
        }
        for kind, arguments, attributes, within in library[3]:
            if kind == "cell":
                cell = Cell(arguments[0])
                cell.area = float(attributes["area"])
                for pin in within:
                    if pin[0] == "pin":
                        self.pin(cell, pin, templates, time, load)
                self.cells[cell.name] = cell

    def pin(self, cell, pin, templates, time, load):
        name, attributes = pin[1][0], pin[2]
        cell.load[name] = float(attributes.get("capacitance", 0.0)) * load
        if attributes.get("clock") == "true":
            cell.clock = name
        if attributes.get("direction") == "output":
            cell.outputs.setdefault(name, [])
        for kind, _, timing, tables in pin[3]:
            if kind != "timing":
                continue
            table = {
                group[0]: Table(group, templates.get(group[1][0], ["", ""]), time, load)
                for group in tables if group[2].get("values")
            }
            if timing.get("timing_type", "").startswith("setup"):
                cell.setup.setdefault(name, []).extend(table.values())
            elif attributes.get("direction") == "output" and {"cell_rise", "cell_fall"} <= table.keys():
                sense = timing.get("timing_sense", "non_unate")
                if timing.get("timing_type") in ("rising_edge", "falling_edge"):
                    sense = "edge"
                edges = [(table["cell_rise"], table["rise_transition"]), (table["cell_fall"], table["fall_transition"])]
                cell.outputs[name].append((timing["related_pin"], sense, edges))
