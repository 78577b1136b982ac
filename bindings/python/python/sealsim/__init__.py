"""sealsim: what sealed copies between a CPU TEE and a GPU TEE cost, cycle by cycle and byte by byte.

>>> import sealsim
>>> report = sealsim.run("h100-nvl-tdx", copies=["h2d:1MiB"])
>>> print(f"{report.copies[0].gb_per_s:.2f} GB/s", report.copies[0].limited_by_parts.best[0].parameter)
2.66 GB/s cipher.seal_rate

The fields are those of ``sealsim run --format json``; docs/results.md describes them.
"""

from . import scoreboard, search, software, tlp
from ._native import VERSION as __version__
from .comparison import Comparison, compare
from .engine import Engine, Event, Opened, Sealed
from .errors import (
    ConfigError,
    Error,
    FileError,
    SimulationError,
    UsageError,
    VerificationError,
)
from .record import Record
from .running import Report, run
from .sweeping import Sweep, sweep

__all__ = [
    "Comparison",
    "ConfigError",
    "Engine",
    "Error",
    "Event",
    "FileError",
    "Opened",
    "Record",
    "Report",
    "Sealed",
    "SimulationError",
    "Sweep",
    "UsageError",
    "VerificationError",
    "__version__",
    "compare",
    "run",
    "scoreboard",
    "search",
    "software",
    "sweep",
    "tlp",
]
