"""Starts scripts/lab as a user would, and looks for what it leaves behind."""
from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAB = str(ROOT / "scripts" / "lab")
NAME = f"test-{os.getpid()}"
CGROUPS = Path("/sys/fs/cgroup")


def lab(*words: str, name: str | None = NAME) -> subprocess.CompletedProcess[str]:
    """@param name of the lab for commands that take one; None for the one-shot form."""
    naming = ["--name", name] if name else []
    command = [LAB, words[0], *naming, *words[1:]] if name else [LAB, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)


def must(*words: str, name: str | None = NAME) -> subprocess.CompletedProcess[str]:
    done = lab(*words, name=name)
    assert done.returncode == 0, (words, done)
    return done


def groups() -> set[str]:
    found = set()
    for parent in [CGROUPS, *CGROUPS.iterdir()]:
        if parent.is_dir():
            found |= {str(p) for p in parent.iterdir() if p.name.startswith("steelyard-lab-")}
    return found


def namespaces() -> set[str]:
    """Network namespaces that some process is in."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.add(os.readlink(process / "ns" / "net"))
        except OSError:
            pass  # It has ended.
    return found


def processes() -> list[str]:
    """Command lines that name the lab's own programs or its state."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if int(process.name) != os.getpid() and ("steelyard-lab" in words or "steelyard_lab" in words):
            found.append(f"{process.name}: {words}")
    return found


def interfaces() -> str:
    return subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout


def wait_until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 100
    while not holds():
        assert time.monotonic() < deadline, f"still waiting until {what}"
        time.sleep(0.02)  # Only spares the core; the condition decides.


class Before:
    """What there was before, to be compared with what is left."""

    def __init__(self) -> None:
        self.groups, self.namespaces, self.interfaces = groups(), namespaces(), interfaces()

    def check(self, where: str) -> None:
        try:
            wait_until(lambda: namespaces() <= self.namespaces, "the namespaces are gone")
        finally:
            print(f"{where}: {len(groups() - self.groups)} groups, {len(namespaces() - self.namespaces)} namespaces left",
                  file=sys.stderr)
        assert groups() == self.groups, (where, groups())
        assert not processes(), (where, processes())
        assert interfaces() == self.interfaces, where
        assert not (Path("/run/steelyard-lab") / NAME).exists(), where
