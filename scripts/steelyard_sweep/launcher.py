"""How a run of a sweep is started."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from .folder import Folder
from .grid import BadInput, Grid, Point

ROOT = Path(__file__).resolve().parents[2]
ROOT_VARIABLES = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


def mpirun(ranks: int) -> list[str]:
    """The launcher of a workstation; says what it adds, as scripts/quickstart does."""
    if shutil.which("mpirun") is None:
        raise BadInput("there is no mpirun; scripts/install_packages installs it")
    words = ["mpirun"]
    cores = len(os.sched_getaffinity(0))
    if ranks > cores:
        print(f"{ranks} ranks on {cores} cores: adding --oversubscribe")
        words.append("--oversubscribe")
    if os.geteuid() == 0 and not all(os.environ.get(name) for name in ROOT_VARIABLES):
        print(f"running as root: setting {' and '.join(ROOT_VARIABLES)} for this command")
        os.environ.update(dict.fromkeys(ROOT_VARIABLES, "1"))
    return words


def ranks_of(point: Point, most: int) -> int:
    if point.ranks is not None and point.ranks > most:
        raise BadInput(f"point {point.index} asks for ranks = {point.ranks}, but there are {most}")
    return point.ranks or most


def command_line(launcher: list[str], ranks: int, program: Path, words: list[str]) -> list[str]:
    return [*launcher, "-n", str(ranks), str(program), *words]


def point_line(grid: Grid, folder: Folder, point: Point) -> list[str]:
    """Options of the program for a run of this point."""
    return [grid.command, *point.arguments, f"--results={folder.path}", f"--name={point.name}"]


def refuse_unknown_options(grid: Grid, points: list[Point], program: Path) -> None:
    """The program itself says which options and numbers it does not take; nothing is run."""
    if not os.access(program, os.X_OK) or program.is_dir():
        raise BadInput(f"there is no program '{program}'; build it, or name it with --program")
    for point in points:
        command = [str(program), grid.command, *point.arguments, "--print-config"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BadInput(f"point {point.index} ({point.slug}): {reason(done)}")


def refuse_what_cannot_run(line: list[str], point: Point) -> None:
    """A dry run: models, data, numbers of servers and ranks. @param line without --dry-run."""
    done = subprocess.run([*line, "--dry-run"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BadInput(f"point {point.index} ({point.slug}): {reason(done)}\nsweep: it was: {shlex.join(line)} --dry-run")


def reason(done: subprocess.CompletedProcess[str]) -> str:
    """What the program said, or else all that was said."""
    own = [line.partition("steelyard: ")[2] for line in done.stderr.splitlines() if "steelyard: " in line]
    return own[0] if own else f"exit code {done.returncode}: {done.stderr.strip() or 'without a message'}"
