"""The command line of scripts/report/report."""

from __future__ import annotations

import argparse
import pathlib
import sys

MISSING = 2
MOST_SPANS = 1500  # Of one timeline,
ALL_SPANS = 20_000  # and of all: about 3 MB.


def parser_of(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="report", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "results",
        metavar="RESULTS",
        nargs="+",
        type=pathlib.Path,
        help="run directories, or folders that hold some at any depth",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=pathlib.Path,
        default=pathlib.Path("report.html"),
        help="the page [report.html]",
    )
    parser.add_argument("--figures", metavar="DIR", type=pathlib.Path, help="every figure as PNG and SVG too")
    parser.add_argument(
        "--program",
        metavar="FILE",
        type=pathlib.Path,
        help="steelyard, for runs that did not end [build/steelyard, or the one on PATH]",
    )
    return parser


def refuse(text: str) -> int:
    print(f"report: {text}", file=sys.stderr)
    return MISSING


def bad_place(output: pathlib.Path, figures: pathlib.Path | None) -> str:
    """Tried before the work, not asked for: permissions do not tell of read-only or special file systems."""
    if output.is_dir():
        return f"-o '{output}' is a folder; give a file"
    trial = output.with_name(output.name + ".new")
    try:
        trial.touch()
        trial.unlink()
    except OSError as error:
        return f"-o '{output}' cannot be written: {error.strerror}"
    try:
        if figures is not None:
            figures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"--figures '{figures}' cannot be written: {error.strerror}"
    return ""


def main(description: str | None) -> int:
    options = parser_of(description).parse_args()
    if wrong := bad_place(options.output, options.figures):
        return refuse(wrong)
    try:
        from . import make  # After --help and the checks: plotly and matplotlib take a second.
    except ImportError as error:
        return refuse(f"Python's {error.name} is missing; scripts/packages.txt lists what is needed")
    return make.report(options)
