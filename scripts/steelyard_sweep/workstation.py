"""All points of a sweep, one after the other, on this machine."""

from __future__ import annotations

import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import launcher
from .folder import Folder
from .grid import Grid, Point

LAST_LINES = 5  # Of a failed run's log.
STOPPED = 85


@dataclass
class Sweep:
    grid: Grid
    folder: Folder
    program: Path
    launch: list[str]
    ranks: int
    seconds: list[float] = field(default_factory=list)  # Of runs that were completed.
    failed: list[Point] = field(default_factory=list)
    child: subprocess.Popen | None = None
    stop: int = 0  # Signal that ends the sweep.

    def line(self, point: Point) -> list[str]:
        words = launcher.point_line(self.grid, self.folder, point)
        return launcher.command_line(self.launch, launcher.ranks_of(point, self.ranks), self.program, words)

    def missing(self) -> list[Point]:
        return [point for point in self.grid.points if not self.folder.is_done(point)]

    def estimate(self, left: int) -> str:
        if not self.seconds or left == 0:
            return ""
        return f", about {duration(left * sum(self.seconds) / len(self.seconds))} to go"

    def interrupt(self, number: int, _: object) -> None:
        """The run under way is told, and none begins after it."""
        self.stop = number
        if self.child is not None:
            self.child.send_signal(number)

    def run(self, point: Point) -> int:
        """@return the launcher's exit code."""
        if aside := self.folder.set_aside(point):
            say(f"an incomplete try is now {aside}")
        # In a session of its own: a terminal's interrupt comes from us alone, and once.
        with self.folder.log(point).open("a", encoding="utf-8") as log:
            self.child = subprocess.Popen(self.line(point), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          start_new_session=True, pass_fds=self.folder.held)
            if self.stop:
                self.child.send_signal(self.stop)
            code = self.child.wait()
        self.child = None
        return code

    def one(self, point: Point, head: str, left: int) -> None:
        if not self.folder.claim(point, 0):
            say(f"{head} another sweep is at it: left out")
            return
        try:
            self.claimed(point, head, left)
        finally:
            self.folder.release()

    def claimed(self, point: Point, head: str, left: int) -> None:
        if self.folder.is_done(point):  # By another sweep, a moment ago.
            say(f"{head} is done")
            return
        say(f"{head} begins{self.estimate(left)}")
        begin = time.monotonic()
        code = self.run(point)
        took = time.monotonic() - begin
        if self.stop:
            say(f"{head} was stopped after {duration(took)}")
        elif code == 0 and self.folder.is_done(point):
            self.seconds.append(took)
            say(f"{head} done in {duration(took)}{self.estimate(left - 1)}")
        else:
            self.failed.append(point)
            say(f"{head} FAILED after {duration(took)} with exit code {code}; the end of {self.folder.log(point)}:")
            print("".join(f"    {line}\n" for line in last_lines(self.folder.log(point))), end="", flush=True)

    def all(self) -> int:
        """@return the exit code of the sweep: 1 if a run failed, 85 or 128 + signal if it was stopped."""
        todo = self.missing()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(number, self.interrupt)
        say(f"{len(self.grid.points)} runs in {self.folder.path}, {len(self.grid.points) - len(todo)} done, {len(todo)} to do")
        for number, point in enumerate(todo):
            self.one(point, f"[{number + 1}/{len(todo)}] {point.name}", len(todo) - number)
            if self.stop:
                say(f"stopped; the same command goes on with the {len(self.missing())} that are missing")
                return STOPPED if self.stop == signal.SIGUSR1 else 128 + self.stop
        if self.failed:
            say(f"{len(self.failed)} of {len(todo)} FAILED: {', '.join(point.name for point in self.failed)}")
            return 1
        missing = self.missing()  # Not empty where another sweep is at some.
        say(f"{len(self.grid.points) - len(missing)} of {len(self.grid.points)} done")
        return 0


def last_lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES:]


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)
