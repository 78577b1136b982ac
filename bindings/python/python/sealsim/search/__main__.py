"""``python -m sealsim.search``, which is also ``sealsim search``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ..errors import Error, VerificationError
from .optimiser import SAMPLERS
from .searching import run

_SAYS = """Searches a study for its front with a part of its points: an optimiser (Optuna) proposes them. `sealsim search --help` says more of it."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sealsim search", description=_SAYS)
    parser.add_argument("study", metavar="STUDY", help="the study: a TOML file")
    parser.add_argument("--budget", metavar="N", type=int, required=True, help="points to run at most; those of an earlier part count")
    parser.add_argument("--out", metavar="FOLDER", required=True, help="the folder of results; made if it is not there")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="what chance depends on (default: 0)")
    parser.add_argument("--sampler", choices=SAMPLERS, default="nsga2", help="who proposes points (default: nsga2)")
    says = "a column to be small; may be given several times. Without --min and --max: the study's objectives"
    parser.add_argument("--min", metavar="COLUMN", action="append", default=[], help=says)
    parser.add_argument("--max", metavar="COLUMN", action="append", default=[], help="a column to be large; may be given several times")
    parser.add_argument("--threads", metavar="N", type=int, help="points at work at once; as many as this computer has cores, if not said")
    parser.add_argument("--format", choices=("text", "json", "csv"), default="text", help="how to print the front, as `sealsim pareto` does")
    over = parser.add_argument_group("over the study's own machine and copy, as `sealsim sweep` takes them")
    for option, metavar in _OVER.items():
        over.add_argument(option, metavar=metavar, action="append", default=[])
    cheap = parser.add_argument_group("a first search at less cost, whose best points are the first to run in full")
    cheap.add_argument("--cheap-copy", metavar="COPY", help="with a smaller copy")
    cheap.add_argument("--cheap-sample", metavar="auto|N", help="with a part of each point simulated")
    cheap.add_argument("--cheap-budget", metavar="N", type=int, help="its points (default: twice the budget)")
    several = parser.add_argument_group("several processes, on one search")
    says = "a database of Optuna's, as sqlite:///search.db, or the path of a journal; a journal in the folder, if not said"
    several.add_argument("--storage", metavar="URL", help=says)
    several.add_argument("--worker", metavar="N", type=int, default=0, help="which of them this is: each needs a number of its own")
    parser.add_argument("--program", metavar="PATH", help="the program `sealsim`, if it is not on the path")
    return parser


_OVER = {
    "--design": "DESIGN[+DESIGN]",
    "--set": "PATH=VALUE",
    "--cc": "on|off",
    "--copy": "DIR:SIZE[:MEM]",
    "--workload": "FILE|NAME",
    "--param": "NAME=VALUE",
    "--sample": "auto|N",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the search that the arguments ask for, and gives the program's exit status."""
    given = _parser().parse_args(arguments)
    over = [word for option in _OVER for value in getattr(given, option[2:]) for word in (option, value)]
    cheap = [word for word in (("--copy", given.cheap_copy), ("--sample", given.cheap_sample)) if word[1]]
    try:
        found = run(
            given.study,
            given.out,
            budget=given.budget,
            seed=given.seed,
            sampler=given.sampler,
            minimise=given.min,
            maximise=given.max,
            over=over,
            cheap=[part for word in cheap for part in word],
            cheap_budget=given.cheap_budget,
            threads=given.threads,
            storage=given.storage,
            worker=given.worker,
            program=given.program,
            progress=sys.stderr.isatty(),
        )
        found.show(given.format)
    except KeyboardInterrupt:
        return _said(VerificationError("interrupted: what has run is kept; run the same command again to go on"))
    except Error as error:
        return _said(error)
    return 0


def _said(error: Error) -> int:
    print(error, file=sys.stderr)
    return error.status


if __name__ == "__main__":
    sys.exit(main())
