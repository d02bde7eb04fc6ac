"""Slices of CPU, and the list of every process of a lab, by control groups of version 1 or 2."""

from __future__ import annotations

import os
import pathlib
import signal
import time

PERIOD_US = 10_000  # Short, so that a host that used up its slice waits for milliseconds, not for 100.


class Unavailable(Exception):
    """The machine lacks what a lab needs."""


def mounts() -> dict[str, pathlib.Path]:
    """Where controllers are mounted: {"cpu": ..., "cpuacct": ...} in version 1, {"unified": ...} in version 2."""
    found: dict[str, pathlib.Path] = {}
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup":
            for controller in {"cpu", "cpuacct"} & set(options.split(",")):
                found.setdefault(controller, pathlib.Path(where))
        elif kind == "cgroup2":
            found.setdefault("unified", pathlib.Path(where))
    if "cpu" in found and "cpuacct" in found:
        return {name: found[name] for name in ("cpu", "cpuacct")}
    if "unified" in found and "cpu" in (found["unified"] / "cgroup.controllers").read_text().split():
        return {"unified": found["unified"]}
    raise Unavailable("no cpu controller of cgroups is mounted here (neither version 1 nor 2); a lab needs it "
                      "for slices of CPU and to find its processes again")


class Groups:
    """The groups of one lab: a root and below it one group per host and one, `head`, for what serves them all."""

    def __init__(self, roots: dict[str, str]):
        self.roots = {kind: pathlib.Path(path) for kind, path in roots.items()}

    @staticmethod
    def named(name: str) -> Groups:
        return Groups({kind: str(mount / name) for kind, mount in mounts().items()})

    def as_dict(self) -> dict[str, str]:
        return {kind: str(path) for kind, path in self.roots.items()}

    def make(self, members: list[str]) -> None:
        for kind, root in self.roots.items():
            if kind == "unified":
                enable_cpu(root.parent)
            root.mkdir()
            if kind == "unified":
                enable_cpu(root)
            for member in members:
                (root / member).mkdir()

    def limit(self, member: str, cores: float) -> None:
        quota = max(round(cores * PERIOD_US), 1000)  # The kernel allows no less than 1 ms.
        period = round(quota / cores)
        if "unified" in self.roots:
            (self.roots["unified"] / member / "cpu.max").write_text(f"{quota} {period}")
            return
        group = self.roots["cpu"] / member
        (group / "cpu.cfs_period_us").write_text(str(period))
        (group / "cpu.cfs_quota_us").write_text(str(quota))

    def favour(self, member: str) -> None:
        """Gives the group the cores first: links must not idle because their switch waits for a core."""
        if "unified" in self.roots:
            (self.roots["unified"] / member / "cpu.weight").write_text("10000")
        else:
            (self.roots["cpu"] / member / "cpu.shares").write_text("262144")

    def joins(self, member: str) -> list[str]:
        """Files into which a process writes its number to join."""
        return [str(root / member / "cgroup.procs") for root in self.roots.values()]

    def usage_ns(self, member: str) -> int:
        """CPU time used by the group so far."""
        if "cpuacct" in self.roots:
            return int((self.roots["cpuacct"] / member / "cpuacct.usage").read_text())
        return 1000 * self._stat("unified", member).get("usage_usec", 0)

    def throttled_ns(self, member: str) -> int:
        """Time that the group was held back because its slice was used up."""
        if "cpu" in self.roots:
            return self._stat("cpu", member).get("throttled_time", 0)
        return 1000 * self._stat("unified", member).get("throttled_usec", 0)

    def _stat(self, kind: str, member: str) -> dict[str, int]:
        lines = (self.roots[kind] / member / "cpu.stat").read_text().splitlines()
        return {key: int(value) for key, value in (line.split() for line in lines)}

    def directories(self) -> list[pathlib.Path]:
        """Deepest first."""
        found: list[pathlib.Path] = []
        for root in self.roots.values():
            if root.is_dir():
                found += [pathlib.Path(path) for path, _, _ in os.walk(root, topdown=False)]
        return found

    def processes(self) -> set[int]:
        found: set[int] = set()
        for directory in self.directories():
            found |= {int(text) for text in (directory / "cgroup.procs").read_text().split()}
        return found

    def destroy(self, patience_s: float = 30.0) -> None:
        """Ends every process and removes the groups."""
        deadline = time.monotonic() + patience_s
        while left := self.processes():
            for process in left:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if time.monotonic() > deadline:
                raise Unavailable(f"processes {sorted(left)} of the lab do not end; try `lab down` again")
            time.sleep(0.01)
        for directory in self.directories():
            remove(directory, deadline)


def enable_cpu(group: pathlib.Path) -> None:
    control = group / "cgroup.subtree_control"
    if "cpu" not in control.read_text().split():
        control.write_text("+cpu")


def remove(directory: pathlib.Path, deadline: float) -> None:
    """An ended process may stay listed for a moment."""
    while True:
        try:
            directory.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
