"""The folder of a sweep: its grid, a run directory for each point, and who is at work on which."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sys
import time
from pathlib import Path

from . import grid
from .grid import BadInput, Grid, Point

GRID_FILE = "grid.toml"
LOCKS = ".locks"


class Folder:
    """`results/<sweep name>/`. Nothing in it is ever overwritten."""

    def __init__(self, results: Path, name: str) -> None:
        if not name or "/" in name or name in (".", ".."):
            raise BadInput(f"'{name}' is no name for a sweep; give the name of a folder in {results}")
        self.path = results / name
        self.held: tuple[int, ...] = ()  # Locks, for processes that are started.

    def is_done(self, point: Point) -> bool:
        return (self.path / point.name / "done").exists()

    def refuse_other_ranks(self, point: Point, ranks: int) -> None:
        """Runs of other sizes would be compared as if they were alike. @param ranks what the point would have now."""
        file = self.path / point.name / "manifest.json"
        try:
            had = len(json.loads(file.read_text(encoding="utf-8"))["hosts"])
        except (OSError, ValueError, KeyError, TypeError):
            raise BadInput(f"{file} cannot be read, so nobody can say that {point.name} is of this sweep; move it away") from None
        if had != ranks:
            raise BadInput(f"{self.path / point.name} was made with {had} ranks and this would have {ranks}; give the same, or "
                           "another --name")

    def log(self, point: Point) -> Path:
        return self.path / f"{point.name}.log"

    def refuse_other_grid(self, mine: Grid) -> bool:
        """A sweep may grow by points; those that it had must stay. @return whether grid.toml is missing or older."""
        there = self.path / GRID_FILE
        if not there.exists():
            return True
        old, new = grid.read(there).as_dict(), mine.as_dict()
        if changed := sorted(name for name in old if old[name] != new.get(name)):
            raise BadInput(f"{there} is of another grid: {changed[0]} is not the same there; give this one another --name, "
                           "or put new points at the end")
        return old != new

    def open(self, file: Path, mine: Grid) -> None:
        """Makes the folder and keeps the grid in it, whole at any moment."""
        try:
            (self.path / LOCKS).mkdir(parents=True, exist_ok=True)
            if self.refuse_other_grid(mine):
                fresh = self.path / f"{LOCKS}/{GRID_FILE}.{os.uname().nodename}.{os.getpid()}"
                fresh.write_bytes(file.read_bytes())
                fresh.rename(self.path / GRID_FILE)
        except OSError as error:
            raise BadInput(f"'{self.path}' cannot be written: {error.strerror}") from None

    def claim(self, point: Point, wait_s: float) -> bool:
        """Takes the point for this process and what it starts, until all of them have ended.

        @param wait_s how long another may take to let go. @return whether it is ours.
        """
        handle = os.open(self.path / LOCKS / f"{point.index:03d}", os.O_RDWR | os.O_CREAT, 0o666)
        deadline = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    print(f"sweep: {self.path}: no file locks here ({error.strerror}): two sweeps at once into it would "
                          "disturb each other", file=sys.stderr)
                    break
                if time.monotonic() >= deadline:
                    os.close(handle)
                    return False
            time.sleep(0.1)  # Only spares the core; the lock decides.
        os.set_inheritable(handle, True)
        self.held = (handle,)
        return True

    def release(self) -> None:
        """What was started and is still there keeps the claim."""
        for handle in self.held:
            os.close(handle)
        self.held = ()

    def set_aside(self, point: Point) -> Path | None:
        """Makes room where a try was not completed; call it under the claim. @return where the old try is now."""
        directory = self.path / point.name
        if not os.path.lexists(directory):
            return None
        number = 1
        while os.path.lexists(aside := self.path / f"{point.name}.partial-{number}"):
            number += 1
        directory.rename(aside)
        return aside
