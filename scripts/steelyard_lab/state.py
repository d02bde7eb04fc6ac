"""What is on record about labs: one directory each under /run/steelyard-lab."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import secrets
import shutil
from collections.abc import Iterator

from .cgroups import Groups
from .specification import BadInput, Specification

BASE = pathlib.Path("/run/steelyard-lab")


@dataclasses.dataclass
class State:
    """Written before anything is made, so that `down` finds whatever a crash left."""

    name: str
    specification: Specification
    groups: Groups
    head: int = 0  # Process that holds the head's namespaces; 0: not yet.
    hosts: list[int] = dataclasses.field(default_factory=list)
    ready: bool = False

    @property
    def directory(self) -> pathlib.Path:
        return BASE / self.name

    @property
    def hosts_file(self) -> pathlib.Path:
        return self.directory / "hosts"

    @property
    def fidelity_file(self) -> pathlib.Path:
        return self.directory / "fidelity.json"

    def save(self) -> None:
        data = {"specification": self.specification.as_dict(), "groups": self.groups.as_dict(),
                "head": self.head, "hosts": self.hosts, "ready": self.ready}
        fresh = self.directory / "state.json.new"
        fresh.write_text(json.dumps(data, indent=1))
        os.replace(fresh, self.directory / "state.json")


def check_name(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,30}", name):
        raise BadInput(f"lab name '{name}': use up to 31 lower-case letters, digits and '-'")
    return name


def names() -> list[str]:
    return sorted(p.name for p in BASE.iterdir() if p.is_dir()) if BASE.is_dir() else []


def create(name: str, specification: Specification) -> State:
    groups = Groups.named(f"steelyard-lab-{name}-{secrets.token_hex(4)}")
    state = State(check_name(name), specification, groups)
    BASE.mkdir(mode=0o755, exist_ok=True)
    try:
        state.directory.mkdir()
    except FileExistsError:
        raise BadInput(f"a lab '{name}' is already up; `lab down --name {name}` ends it, or choose another "
                       "--name") from None
    state.save()
    return state


def load(name: str) -> State:
    path = BASE / check_name(name) / "state.json"
    if not path.exists():
        up = ", ".join(names()) or "none"
        raise BadInput(f"there is no lab '{name}' (up: {up}); `lab up HOSTS --name {name}` makes it")
    data = json.loads(path.read_text())
    return State(name, Specification.from_dict(data["specification"]), Groups(data["groups"]), data["head"],
                 data["hosts"], data["ready"])


def load_ready(name: str) -> State:
    state = load(name)
    if not state.ready or not all(os.path.exists(f"/proc/{p}") for p in [state.head, *state.hosts]):
        raise BadInput(f"lab '{name}' is not whole (its start was cut off, or a host has died); end it with "
                       f"`lab down --name {name}`")
    return state


def destroy(name: str) -> None:
    """Ends the lab of that name. A directory whose record was never written holds nothing but itself."""
    with locked(name):
        if (BASE / name / "state.json").exists():
            load(name).groups.destroy()
        shutil.rmtree(BASE / name, ignore_errors=True)


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """One `down` at a time."""
    lock = BASE / f".{check_name(name)}.lock"
    if not BASE.is_dir():
        yield
        return
    with open(lock, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # Other labs are up.
                BASE.rmdir()
