"""The program that the package is held against: ``SEALSIM``, or what cargo built last."""

import json
import os
import pathlib
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def program():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = os.environ.get("SEALSIM", target / "release" / "sealsim")

    def run(*arguments, stdin=None, status=0):
        done = subprocess.run(
            [path, *map(str, arguments)], input=stdin, capture_output=True, text=True, cwd=ROOT
        )
        assert done.returncode == status, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def document(program):
    return lambda *arguments, **more: json.loads(program(*arguments, "--format", "json", **more))


@pytest.fixture(autouse=True)
def interruptible():
    """Ctrl-C interrupts, also where the tests run in the background of a shell, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def root():
    return ROOT
