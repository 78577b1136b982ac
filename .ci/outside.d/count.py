"""Counts what agrees, shows the first few that do not, and closes a judge with its line."""

import os
import subprocess
import sys

SHOWN = 10


class Count:
    """Cases that agreed and that did not."""

    def __init__(self):
        self.passed = self.failed = 0

    def same(self, what, found, expected):
        """One case: `found` is sealsim's, `expected` the judge's."""
        if found == expected:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= SHOWN:
            print(f"{what}: sealsim has {found!r}, the judge {expected!r}", file=sys.stderr)

    def close(self):
        """The last line of a judge."""
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(self.failed > 0)


def sealsim(*arguments, text=""):
    """Standard output of sealsim, whatever its status."""
    done = subprocess.run([os.environ["SEALSIM"], *arguments], input=text, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"sealsim {' '.join(arguments)}: {done.stderr}")
    return done.stdout
