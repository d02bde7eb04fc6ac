"""A run directory as Python sees it; docs/trace_format.md has the layout."""

from __future__ import annotations

import csv
import json
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy

from .notes import Notes

VERSION = 1


class Unusable(Exception):
    """Why a file cannot be used, in words."""


@dataclass
class Figure:
    """A row of /summary."""

    value: float
    low: float
    high: float
    unit: str


@dataclass
class Trial:
    """One trial with what the program computed of it."""

    run: Run
    row: dict[str, Any]  # /trials
    summary: dict[tuple[str, str], Figure] = field(default_factory=dict)  # (metric, role)
    final: dict[str, Any] = field(default_factory=dict)
    evaluation: numpy.ndarray | None = None
    roles: dict[int, tuple[str, int]] = field(default_factory=dict)  # rank: (role, index)
    csv: dict[str, str] = field(default_factory=dict)  # summary.csv
    cut_short: bool = False  # Recovered from a run that did not end.

    @property
    def id(self) -> int:
        return int(self.row["id"])

    @property
    def done(self) -> bool:
        return self.row["status"] == "done"

    def value(self, metric: str, role: str = "all") -> float:
        """NaN where the run has none."""
        figure = self.summary.get((metric, role))
        return figure.value if figure else float("nan")

    def ranks(self, role: str) -> list[int]:
        """World ranks of a role, by index."""
        return [rank for rank, (name, _) in sorted(self.roles.items(), key=lambda one: one[1][1]) if name == role]


@dataclass
class Run:
    path: pathlib.Path
    attributes: dict[str, Any]
    manifest: dict[str, Any]
    comparison: dict[str, Any] | None
    complete: bool
    trials: list[Trial] = field(default_factory=list)
    inventory: numpy.ndarray | None = None
    placement: numpy.ndarray | None = None

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def model(self) -> str:
        return str(self.attributes["model"])

    @property
    def validity(self) -> list[str]:
        return [word for word in str(self.attributes.get("validity", "")).split(",") if word]


def plain(value: Any) -> Any:
    """Bytes as text, numpy's numbers as Python's."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.item() if isinstance(value, numpy.generic) else value


def rows_of(file: h5py.File, name: str) -> list[dict[str, Any]]:
    table = file[name][:]
    return [{key: plain(row[key]) for key in table.dtype.names} for row in table]


def check_format(attributes: Mapping[str, Any], wanted: str) -> None:
    """Raises Unusable for files that are not Steelyard's, or are of a newer one."""
    said = attributes.get("format")
    if said != wanted:
        raise Unusable(
            f"an HDF5 file, but not Steelyard's: its attribute 'format' is {said!r}, not {wanted!r}"
            if said is not None
            else "an HDF5 file, but not Steelyard's: no attribute 'format'"
        )
    version = attributes.get("version")
    if version != VERSION:
        raise Unusable(
            f"format version {version}; this report reads version {VERSION}: use the report of the program that wrote it"
        )


def read_json(path: pathlib.Path, notes: Notes) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        notes.add(path, f"cannot be read: {error}")
        return None
    if not isinstance(value, dict):
        notes.add(path, "cannot be read: not a JSON object")
        return None
    return value


def fill_trials(run: Run, file: h5py.File) -> None:
    run.trials = [Trial(run, row) for row in rows_of(file, "trials")]
    by_id = {trial.id: trial for trial in run.trials}
    for row in rows_of(file, "roles"):
        by_id[row["trial"]].roles[row["rank"]] = (row["role"], row["role_index"])
    for row in rows_of(file, "summary"):
        by_id[row["trial"]].summary[row["metric"], row["role"]] = Figure(row["value"], row["low"], row["high"], row["unit"])
    for row in rows_of(file, "final"):
        by_id[row["trial"]].final = row
    evaluation = file["evaluation"][:]
    for trial in run.trials:
        trial.evaluation = evaluation[evaluation["trial"] == trial.id]
    run.inventory, run.placement = file["inventory"][:], file["placement"][:]


def fill_from_csv(run: Run, notes: Notes) -> None:
    path = run.path / "summary.csv"
    if not path.is_file():
        return
    by_id = {str(trial.id): trial for trial in run.trials}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row.get("trial") in by_id:
                    by_id[row["trial"]].csv = row
    except (OSError, ValueError, csv.Error) as error:
        notes.add(path, f"cannot be read, stragglers are not named: {error}")


def load_run(path: pathlib.Path, notes: Notes) -> Run:
    """Raises Unusable where nothing can be said of it."""
    if not (path / "run.h5").is_file():
        raise Unusable("no run.h5 in it: the run ended before it began, or the file was lost")
    try:
        with h5py.File(path / "run.h5", "r") as file:
            attributes = {key: plain(value) for key, value in file.attrs.items()}
            check_format(attributes, "steelyard-run")
            manifest = read_json(path / "manifest.json", notes) or json.loads(str(attributes.get("manifest", "{}")))
            run = Run(path, attributes, manifest, read_json(path / "comparison.json", notes), (path / "done").is_file())
            fill_trials(run, file)
            fill_from_csv(run, notes)
    except (OSError, KeyError, ValueError, IndexError, RuntimeError) as error:
        raise Unusable(f"run.h5 cannot be read: {one_line(error)}") from error
    return run


def one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
