"""Starts the program under test as a user would, and reads what it says."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

# CTest gives the program and the launcher, for example: build/steelyard mpirun --oversubscribe -n
PROGRAM = sys.argv[1]
LAUNCHER = sys.argv[2:]


@dataclass
class Result:
    code: int
    out: str
    err: str
    seconds: float

    def own_lines(self) -> list[str]:
        """Lines on standard error that are the program's, not the launcher's."""
        return [line for line in self.err.splitlines() if line.startswith("steelyard:") or "] steelyard:" in line]


def run(ranks: int, *arguments: str, launcher: bool = True, cwd: str | None = None, **variables: str) -> Result:
    """Runs to the end; the limit is only there so that a hang is a failure and not a silent night."""
    command = [*LAUNCHER, str(ranks), PROGRAM] if launcher else [PROGRAM]
    begin = time.monotonic()
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=100, cwd=cwd,
                          env={**os.environ, **variables}, check=False)
    return Result(done.returncode, done.stdout, done.stderr, time.monotonic() - begin)


def run_json(ranks: int, *arguments: str, launcher: bool = True) -> dict:
    """Runs with `--json -`; the run must succeed."""
    result = run(ranks, *arguments, "--json", "-", launcher=launcher)
    assert result.code == 0, (arguments, result)
    return json.loads(result.out)


class Workplace:
    """A folder for results that is gone afterwards."""

    def __enter__(self) -> Path:
        self._folder = tempfile.TemporaryDirectory(prefix="steelyard-test-")
        return Path(self._folder.name)

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()
