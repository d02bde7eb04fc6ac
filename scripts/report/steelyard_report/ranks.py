"""Rows of single ranks, out of the files that the ranks wrote."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

import h5py
import numpy

from .notes import Notes
from .runs import Run, Trial, Unusable, check_format, one_line, plain

MOST_ROWS = 2_000_000  # Of one rank and trial that are read at once, so that a run of any size is reported.
MOST_KEPT = 400_000  # Rows of a table that is read whole.


@dataclass
class Clock:
    """Brings a rank's time to that of rank 0, with the drift between start and end."""

    offset_ns: float
    offset_at_end_ns: float
    error_ns: float
    end_ns: float

    def on_rank_0(self, times_ns: numpy.ndarray) -> numpy.ndarray:
        """[rows] ns since rank 0's epoch."""
        share = numpy.clip(times_ns / self.end_ns, 0, 1) if self.end_ns > 0 else 0
        return times_ns + self.offset_ns + share * (self.offset_at_end_ns - self.offset_ns)


def rank_paths(run: Run) -> list[pathlib.Path]:
    return sorted((run.path / "ranks").glob("part-*/rank-*.h5"))


def trial_bounds(table: h5py.Dataset, trial: int) -> tuple[int, int]:
    """First and one past the last row of a trial: trials are run one after the other, so the rows are sorted by it."""

    def first_at_least(wanted: int) -> int:
        low, high = 0, len(table)
        while low < high:
            middle = (low + high) // 2
            if int(table[middle]["trial"]) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    return first_at_least(trial), first_at_least(trial + 1)


class RankFiles:
    """The rank files of one run. What cannot be read has a note, once, and no rows."""

    def __init__(self, run: Run, notes: Notes):
        self.phases: dict[str, int] = {}
        self.lost: set[int] = set()
        self._files: dict[int, h5py.File] = {}
        self._tables: dict[tuple[int, str], numpy.ndarray] = {}
        self._notes = notes
        paths = rank_paths(run)
        for path in paths:
            self._open(path)
        if paths:
            for rank in sorted(set(range(int(run.attributes.get("ranks", 0)))) - set(self._files)):
                self.lost.add(rank)
                if not any(path.name == f"rank-{rank:05d}.h5" for path in paths):
                    notes.add(run.path, f"the file of rank {rank} is missing: figures per rank are without it")

    def _open(self, path: pathlib.Path) -> None:
        try:
            # As a reader beside a writer: so that files of a killed run open too.
            file = h5py.File(path, "r", swmr=True)
            check_format({key: plain(value) for key, value in file.attrs.items()}, "steelyard-rank")
            self._files[int(file.attrs["rank"])] = file
            self.phases = self.phases or dict(h5py.check_enum_dtype(file["events"].dtype["phase"]))
        except (OSError, KeyError, ValueError, RuntimeError) as error:
            self._notes.add(path, f"cannot be read, figures per rank are without it: {one_line(error)}")
        except Unusable as error:
            self._notes.add(path, f"left out: {error}")

    def __enter__(self) -> RankFiles:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def __bool__(self) -> bool:
        return bool(self._files)

    def rows(self, rank: int, name: str, trial: Trial) -> numpy.ndarray | None:
        """Rows of a dataset that belong to the trial; None where there is no file, no dataset, or damage."""
        file = self._files.get(rank)
        if file is None or name not in file:
            return None
        try:
            if len(file[name]) <= MOST_KEPT:
                if (rank, name) not in self._tables:
                    self._tables[rank, name] = file[name][:]
                table = self._tables[rank, name]
                return table[table["trial"] == trial.id]
            begin, end = trial_bounds(file[name], trial.id)
            if end - begin > MOST_ROWS:
                begin += (end - begin - MOST_ROWS) // 2
                end = begin + MOST_ROWS
            return file[name][begin:end]
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            self._notes.add(file.filename, f"/{name} cannot be read, figures per rank are without it: {one_line(error)}")
            del self._files[rank]
            self.lost.add(rank)
            return None

    def clock(self, rank: int) -> Clock:
        attributes = self._files[rank].attrs
        begin, error = float(attributes["clock_offset_ns"]), float(attributes["clock_error_ns"])
        events = self._files[rank]["events"]
        end_ns = float(events[len(events) - 1]["end_ns"]) if len(events) else 0.0
        return Clock(begin, float(attributes.get("clock_offset_at_end_ns", begin)), error, end_ns)
