"""Search of a study's space: the front of its objectives from a part of its points.

``sealsim sweep`` runs every point of a study; a search asks an optimiser (Optuna's NSGA-II or TPE) which ones to run. It reads the same file,
runs points by ``sealsim sweep run-point`` and keeps them in the same folder, so that ``sealsim pareto`` shows what was found, and ``sealsim
sweep`` runs the rest.

>>> found = sealsim.search.run("studies/search-engine.toml", "results/engine", budget=1000)  # doctest: +SKIP
>>> found.front[0]["gb_per_s"]  # doctest: +SKIP

On the command line it is ``python -m sealsim.search``, or ``sealsim search``. docs/studies.md describes it.
"""

from .optimiser import SAMPLERS
from .searching import Found, run

__all__ = ["SAMPLERS", "Found", "run"]
