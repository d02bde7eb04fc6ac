"""Which of the paths given are runs."""

from __future__ import annotations

import os
import pathlib

from .notes import Notes

OF_A_RUN = ("run.h5", "run.toml", "manifest.json")


def is_run(folder: pathlib.Path) -> bool:
    return any((folder / name).is_file() for name in OF_A_RUN)


def runs_below(folder: pathlib.Path, notes: Notes) -> list[pathlib.Path]:
    """Run directories at any depth, in the order of their paths. HDF5 files outside them are noted."""
    found: list[pathlib.Path] = []

    def refuse(error: OSError) -> None:
        notes.add(error.filename, f"cannot be read: {error.strerror}")

    for name, folders, files in os.walk(folder, onerror=refuse):
        here = pathlib.Path(name)
        if is_run(here):
            found.append(here)
            folders.clear()
            continue
        folders.sort()
        for file in sorted(files):
            if file.endswith((".h5", ".hdf5")):
                notes.add(here / file, "left out: an HDF5 file outside a run directory")
    return found


def find_runs(paths: list[pathlib.Path], notes: Notes) -> list[pathlib.Path]:
    """Each run once. What is none has a note."""
    found: dict[pathlib.Path, pathlib.Path] = {}
    for path in paths:
        if path.name == "run.h5" and path.is_file():
            path = path.parent
        if not path.exists():
            notes.add(path, "no such file or folder")
        elif not path.is_dir():
            notes.add(path, "not a run: give a run directory, or a folder that holds some")
        else:
            below = runs_below(path, notes)
            if not below:
                notes.add(path, "no run in it: a run directory has run.h5, run.toml and manifest.json")
            for run in below:
                found.setdefault(run.resolve(), run)
    return list(found.values())
