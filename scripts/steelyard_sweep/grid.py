"""A grid of options in a TOML file: which runs a sweep has."""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

if sys.version_info < (3, 11):
    sys.exit(f"sweep: Python {sys.version.split()[0]} cannot read TOML; use 3.11 or later (PYTHON in scripts/slurm/env.sh)")
import tomllib

COMMANDS = ("train", "compare")
# What the sweep says itself, or what would make a point no run.
RESERVED = {"results", "name", "config", "json", "dry-run", "print-config"}
MOST_POINTS = 1000  # Three digits.
LONGEST_SLUG = 80

Value = str | int | float | bool | list  # A list is one value with commas; of `trial`, the option several times.


class BadInput(Exception):
    """Something the user can mend; the text says the value, the reason and what is allowed."""


@dataclass(frozen=True)
class Point:
    """One run of a sweep."""

    index: int
    slug: str
    options: dict[str, Value]  # Without `ranks`, which is the launcher's.
    ranks: int | None  # Of the launch; None: all there are.

    @property
    def name(self) -> str:
        """Of its run directory."""
        return f"{self.index:03d}-{self.slug}"

    @property
    def arguments(self) -> list[str]:
        """On the command line, where no STEELYARD_* variable wins over them."""
        words = []
        for key, value in self.options.items():
            repeated = value if key == "trial" and isinstance(value, list) else [value]
            words += [f"--{key}={text_of(one)}" for one in repeated]
        return words


@dataclass(frozen=True)
class Grid:
    command: str
    points: list[Point]

    def as_dict(self) -> dict[str, tuple]:
        """What each run directory stands for."""
        return {point.name: (self.command, point.options, point.ranks) for point in self.points}


def text_of(value: Value) -> str:
    if isinstance(value, list):
        return ",".join(text_of(one) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def checked(where: str, key: str, value: object) -> Value:
    """One value of an option, or one that a list has."""
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, list) and value and all(isinstance(one, (str, int, float)) for one in value):
        return value
    raise BadInput(f"{where}: {key} = {value!r} is no value; give a text, a number, true, false, or a list of these")


def choices(where: str, table: dict[str, object]) -> dict[str, list[Value]]:
    """The values of each option; one that is no list has itself alone."""
    found = {}
    for key, value in table.items():
        if key in RESERVED:
            raise BadInput(f"{where}: {key} is the sweep's own; take it out")
        if isinstance(value, dict):
            raise BadInput(f"{where}: [{key}] is a table; options stand at the top, or in [[points]]")
        if value == []:
            raise BadInput(f"{where}: {key} = [] has no value, so there would be no run; give at least one")
        found[key] = [checked(where, key, one) for one in (value if isinstance(value, list) else [value])]
    return found


def ranks_of(where: str, options: dict[str, Value]) -> int | None:
    ranks = options.pop("ranks", None)
    if ranks is not None and (not isinstance(ranks, int) or isinstance(ranks, bool) or ranks < 1):
        raise BadInput(f"{where}: ranks = {ranks!r} is no number of ranks; give 1 or more")
    return ranks


def cross(where: str, table: dict[str, object]) -> list[dict[str, Value]]:
    """Every choice with every other; the option that stands last changes fastest."""
    values = choices(where, table)
    return [dict(zip(values, chosen)) for chosen in itertools.product(*values.values())]


def slug_of(options: dict[str, Value], varied: list[str]) -> str:
    """What sets a point apart, as a part of a file name."""
    words = (f"{key}-{text_of(options[key])}" for key in varied if key in options)
    slug = re.sub(r"[^A-Za-z0-9.+-]+", "_", "-".join(words)).strip("-_.")
    return slug[:LONGEST_SLUG] or "run"


def refuse_duplicates(where: str, crossed: list[dict[str, Value]]) -> None:
    seen: dict[tuple, int] = {}
    for index, options in enumerate(crossed):
        key = tuple(sorted((name, text_of(value)) for name, value in options.items()))
        if key in seen:
            said = " ".join(f"{name}={text_of(value)}" for name, value in options.items())
            raise BadInput(f"{where}: points {seen[key]} and {index} are the same run ({said}); take one out")
        seen[key] = index


def expand(where: str, data: dict[str, object]) -> Grid:
    """@param where a name for messages. @return the points, numbered from 0 in the order in which the file has them."""
    shared = dict(data)
    command = shared.pop("command", "train")
    if command not in COMMANDS:
        raise BadInput(f"{where}: command = {command!r} is unknown; choose {' or '.join(COMMANDS)}")
    tables = shared.pop("points", [{}])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BadInput(f"{where}: points is no list of tables; write [[points]] above the options of each")
    if not tables:
        raise BadInput(f"{where}: points = [] is empty, so there is no point; leave it out, or write [[points]]")
    crossed = [options for table in tables for options in cross(where, {**shared, **table})]
    if not shared and not any(tables):
        raise BadInput(f"{where}: has no option, so there is nothing to sweep; give some, lists are crossed")
    if len(crossed) > MOST_POINTS:
        raise BadInput(f"{where}: {len(crossed)} points; at most {MOST_POINTS}")
    refuse_duplicates(where, crossed)
    keys = dict.fromkeys(key for options in crossed for key in options)
    varied = [key for key in keys if len({text_of(o[key]) if key in o else None for o in crossed}) > 1]
    slugs = [slug_of(options, varied) for options in crossed]
    return Grid(command, [Point(i, slug, options, ranks_of(where, options))
                          for i, (slug, options) in enumerate(zip(slugs, crossed))])


def read(file: Path) -> Grid:
    try:
        return expand(str(file), tomllib.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise BadInput(f"'{file}' cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: is no TOML: {error}") from None
