"""From paths to a page and files."""

from __future__ import annotations

import argparse
import pathlib
import re

from . import draw_matplotlib, page
from .chart import Chart
from .command import ALL_SPANS, MOST_SPANS, refuse
from .contestants import Section, sections_of
from .figures.all import charts_of
from .figures.common import Raws
from .find import find_runs
from .notes import Notes
from .partial import find_program, recover
from .ranks import RankFiles
from .raw import read
from .runs import Run, Unusable, load_run

Drawn = list[tuple[Section, list[Chart], Raws]]


def load(options: argparse.Namespace, notes: Notes) -> list[Run]:
    """Runs of which there is something to show."""
    runs = []
    for path in find_runs(options.results, notes):
        try:
            run = load_run(path, notes)
        except Unusable as error:
            notes.add(path, f"left out: {error}")
            continue
        if not run.complete:
            recover(run, find_program(options.program), notes)
        if any(trial.done for trial in run.trials):
            runs.append(run)
        elif run.complete:
            notes.add(path, "left out: every trial of it diverged")
    return runs


def read_ranks(section: Section, most_spans: int, notes: Notes) -> Raws:
    """Files of one run after the other, since thousands may not be open at once."""
    raws: Raws = {}
    typical = {(str(one.typical.run.path), one.typical.id) for one in section.contestants}
    for run in section.runs:
        with RankFiles(run, notes) as files:
            if not files:
                notes.add(run.path, "has no rank files that can be read (--trace off?): no figures per rank of it")
                continue
            for one in section.contestants:
                for trial in one.trials:
                    key = (str(run.path), trial.id)
                    if trial.run is run:
                        raws[key] = read(files, trial, key in typical, most_spans)
    return raws


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40]


def draw_files(drawn: Drawn, folder: pathlib.Path) -> int:
    count = 0
    for number, (section, charts, _) in enumerate(drawn, 1):
        for chart in charts:
            prefix = f"{number:02d}-{slug(section.title)}-" if len(drawn) > 1 else ""
            count += len(draw_matplotlib.write(chart, folder, prefix + chart.slug))
    return count


def report(options: argparse.Namespace) -> int:
    notes = Notes()
    runs = load(options, notes)
    sections = [section for section in sections_of(runs, notes) if section.contestants]
    if not sections:
        return refuse("no run that can be shown; nothing was written")
    timelines = sum(len(section.contestants) for section in sections)
    most_spans = min(MOST_SPANS, ALL_SPANS // timelines)
    drawn: Drawn = []
    for section in sections:
        raws = read_ranks(section, most_spans, notes)
        drawn.append((section, charts_of(section, raws), raws))
    options.output.write_text(page.render(drawn, runs, notes), encoding="utf-8")
    figures = sum(len(charts) for _, charts, _ in drawn)
    print(f"{options.output}: {len(runs)} runs, {figures} figures, {options.output.stat().st_size / 1e6:.1f} MB")
    if options.figures:
        print(f"{options.figures}: {draw_files(drawn, options.figures)} files")
    return 0
