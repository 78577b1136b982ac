"""Draws, quantiles and indices of `sensitivity` and `sweep --uncertainty`, against SciPy, NumPy and SALib."""

import csv
import json
import math
import pathlib
import tempfile

import numpy as np
from SALib.analyze import sobol
from scipy.stats import qmc

from count import Count, sealsim

HYPERCUBES = 200
count = Count()
folder = pathlib.Path(tempfile.mkdtemp())


def close(what, found, expected):
    """One case: equal to nine digits."""
    count.same(what, bool(np.allclose(found, expected, rtol=1e-9, atol=1e-12)), True)


def asked(*more):
    """What `sensitivity` says of a copy, and every point that it drew."""
    path = folder / "points.csv"
    text = sealsim("sensitivity", "h100-nvl-tdx", "--copy", "h2d:4KiB", "--format", "json", "--draws", str(path), *more)
    with path.open(newline="") as file:
        return json.loads(text), list(csv.DictReader(file))


def numbers(rows, column):
    return np.array([float(row[column]) for row in rows])


def parts(rows):
    """By point and parameter: the part of its probability."""
    return np.array([[float(row[name]) for name in rows[0] if name.endswith(" part") and row[name]] for row in rows])


def hypercube(answer, rows):
    """Each part of each parameter once; as even and as little correlated as SciPy's hypercubes are."""
    drawn = [row for row in rows if row["set"] == "draw"]
    own = parts(drawn)
    points, columns = own.shape
    for column in own.T:
        count.same("strata", sorted(np.floor(column * points).astype(int).tolist()), list(range(points)))
    others = [qmc.LatinHypercube(columns, scramble=False, rng=seed).random(points) for seed in range(HYPERCUBES)]
    for name, of in [
        ("discrepancy", qmc.discrepancy),
        ("correlation", lambda cube: np.abs(np.corrcoef(cube.T) - np.eye(columns)).max()),
    ]:
        known = [of(cube) for cube in others]
        # One column for paths that two machines share would correlate with itself: this is asked without designs.
        count.same(f"{name} {of(own)} beyond {min(known)}..{max(known)}", min(known) <= of(own) <= max(known), True)
    quantiles = np.quantile(numbers(drawn, "rate"), [0.05, 0.5, 0.95], method="hazen")
    close("percentiles", answer["together"]["rate_percentiles"], quantiles)


def sets(rows, of):
    """A, A with each column of B in the order of the answer, and B, as SALib takes them: point by point."""
    return {name: of([row for row in rows if row["set"] == name]) for name in dict.fromkeys(row["set"] for row in rows)}


def analysed(answers, paths):
    """What SALib finds in answers by set."""
    order = [answers["a"], *[answers[f"a with {path} of b"] for path in paths], answers["b"]]
    problem = {"num_vars": len(paths), "names": list(paths), "bounds": [[0, 1]] * len(paths)}
    return sobol.analyze(problem, np.stack(order, axis=1).ravel(), calc_second_order=False, seed=1)


def indices(answer, rows):
    """The indices of every answer are SALib's of the same runs."""
    rows = [row for row in rows if row["set"] != "draw"]
    parameters = answer["indices"]["parameters"]
    paths = [one["path"] for one in parameters]
    gains = [name for name in rows[0] if name.startswith("gain of ")]
    for place, column in enumerate(["rate", *gains]):
        own = [one["rate"] if column == "rate" else one["gains"][place - 1] for one in parameters]
        judged = analysed(sets(rows, lambda of, column=column: numbers(of, column)), paths)
        close(f"first order of {column}", [one["first_order"]["value"] for one in own], judged["S1"])
        close(f"total of {column}", [one["total"]["value"] for one in own], judged["ST"])
    return paths, rows


def ishigami(paths, rows):
    """At the same points, the function of Ishigami has the indices of its closed form."""
    names = paths[:3]

    def answers(of):
        x, y, z = (math.pi * (2 * numbers(of, f"{name} part") - 1) for name in names)
        return np.sin(x) + 7 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x)

    found = analysed(sets([row for row in rows if row["set"] in {"a", "b", *(f"a with {name} of b" for name in names)}], answers), names)
    alone = [(1 + 0.1 * math.pi**4 / 5) ** 2 / 2, 49 / 8, 0]
    both = 0.01 * math.pi**8 * (1 / 18 - 1 / 50)
    whole = sum(alone) + both
    closed = {"S1": np.array(alone) / whole, "ST": (np.array(alone) + [both, 0, both]) / whole}
    for name, values in closed.items():
        for value, own, half in zip(values, found[name], found[f"{name}_conf"], strict=True):
            # Twice the half of a 95 % interval.
            count.same(f"Ishigami, {name}: {own} for {value}", bool(abs(own - value) <= 2 * half), True)


def sweep():
    """Ends of intervals are quantiles of what `points.jsonl` says was drawn, of copies with the residual that `study.json` says, as docs/studies.md adds it."""
    axis = '[[axis]]\npath = "tag_queue.depth"\nvalues = [2, 8]\n'
    head = 'name = "s"\nsummary = "s"\nmachine = "h100-nvl-tdx"\ncopy = "d2h:4KiB"\nuncertainty = { draws = 30 }\n'
    study = folder / "study.toml"
    study.write_text(head + axis)
    sealsim("sweep", str(study), "--out", str(folder / "out"))
    residuals = json.loads((folder / "out" / "study.json").read_text())["residuals"]
    left = {name: one["root_mean_square"] for one in residuals for name in one["figures"]}
    for line in (folder / "out" / "points.jsonl").read_text().splitlines():
        row = json.loads(line)
        for name, drawn in row["draws"].items():
            known = [number for number in drawn if number is not None]
            if known:
                ends = np.quantile(known, [0.05, 0.95], method="hazen")
                stated = row["figures"][name]
                if name in left:
                    far = np.hypot(np.log([min(ends[0], stated) / stated, max(ends[1], stated) / stated]), 1.645 * left[name])
                    # As the program, which gives six digits of what it widens.
                    ends = [float(f"{end:.6g}") for end in stated * np.exp(far * [-1, 1])]
                close(f"ends of {name}", [row["figures"][f"{name}_{end}"] for end in ("low", "high")], ends)


answer, rows = asked("--samples", "100", "--indices", "512")
hypercube(answer, rows)
ishigami(*indices(answer, rows))
indices(*asked("--samples", "0", "--indices", "64", "--design", "direct", "--seed", "3"))
sweep()
count.close()
